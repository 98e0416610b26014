// How many columns of codes are equal, for each pair of rows of two tables.
#pragma once

#include <cstddef>
#include <cstdint>

namespace committee {

// A matrix of one-byte codes, row by row.
struct CodeMatrix {
  const std::uint8_t* codes = nullptr;
  std::size_t n_rows = 0;
};

// out[i * right.n_rows + j] becomes the number of columns in which left row i equals right row j.
void count_row_matches(CodeMatrix left, CodeMatrix right, std::size_t n_columns,
                       std::size_t n_threads, std::uint32_t* out);

}  // namespace committee
