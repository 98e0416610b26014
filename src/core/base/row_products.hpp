// Sums over the columns of two tables, one for each pair of their rows: scalar products, squared
// and absolute differences.
//
// A library of linear algebra adds in an order that depends on the kernel that it picks for the
// processor. Here the order is fixed: four interleaved sums for each block of columns, and the
// blocks one after the other, whatever the instruction set and the number of threads.
#pragma once

#include <cstddef>

namespace committee {

enum class RowSum { kProduct, kSquaredDifference, kAbsoluteDifference };

// A matrix of doubles, row by row.
struct RowMatrix {
  const double* values = nullptr;
  std::size_t n_rows = 0;
};

// out[i * right.n_rows + j] becomes the sum over the columns of left row i and right row j. With
// `upper_only` pairs far below the diagonal are left out, and their sums are zero.
void sum_row_pairs(RowSum kind, RowMatrix left, RowMatrix right, std::size_t n_columns,
                   bool upper_only, std::size_t n_threads, double* out);

}  // namespace committee
