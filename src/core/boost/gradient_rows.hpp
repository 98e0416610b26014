// First and second derivatives of a loss, as integers.
//
// A row adds one 64-bit number to a histogram: its gradient in the upper bits, its hessian in the
// lower `shift` bits. One addition adds both, sums are exact and free of order, and subtracting
// a child from its parent leaves exactly the other child. Integers choose the split; the steps of
// leaves come from the doubles.
//
// The grids are powers of two. Hessians get a few bits each (one where all are one: then they count
// rows), gradients all the rest, measured by the sum of their magnitudes, so that a few giants do
// not blur the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"

namespace committee {

struct GradientRows {
  AlignedVector<std::int64_t> packed;  // one a row; 0 for rows that are left out
  int shift = 1;
  int gradient_exponent = 0;  // gradient = integer * 2^-gradient_exponent
  int hessian_exponent = 0;
  std::int64_t largest_hessian = 1;  // of one repetition of a row: how many rows a sum needs
  bool counts_rows = false;          // a hessian is the number of rows

  std::int64_t gradient(std::int64_t cell) const { return cell >> shift; }
  std::int64_t hessian(std::int64_t cell) const { return cell & ((std::int64_t{1} << shift) - 1); }
};

// What the rows of a fit weigh.
struct RowWeights {
  std::span<const double> weights;  // empty: one each
  bool are_repetitions = true;      // whole numbers: so many rows
};

// `hessians` may be empty: all one. `sample` may be empty: all rows; else rows with 0 are left out,
// as rows of weight zero are. Working on several threads changes nothing.
void fill_gradient_rows(std::span<const double> gradients, std::span<const double> hessians,
                        const RowWeights& weights, std::span<const std::uint8_t> sample,
                        std::size_t n_threads, GradientRows& rows);

}  // namespace committee
