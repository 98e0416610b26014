// Products of small matrices of floats, with one order of additions.
//
// Vectors hold neighbouring columns of the result, and terms are added one after the other: what
// an entry is does not depend on the width of vectors nor on the tiles that are in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace committee {

using Floats4 = float __attribute__((vector_size(16)));
using Floats8 = float __attribute__((vector_size(32)));
using Floats16 = float __attribute__((vector_size(64)));

// As many whole numbers as a vector has floats.
template <typename Vector>
struct Words;
template <>
struct Words<Floats4> {
  using type = std::uint32_t __attribute__((vector_size(16)));
};
template <>
struct Words<Floats8> {
  using type = std::uint32_t __attribute__((vector_size(32)));
};
template <>
struct Words<Floats16> {
  using type = std::uint32_t __attribute__((vector_size(64)));
};

template <typename Vector>
inline constexpr std::size_t kWidthOf = sizeof(Vector) / sizeof(float);

template <typename Vector>
COMMITTEE_INLINE void read_floats(const float* from, Vector& values) {
  std::memcpy(&values, from, sizeof(values));
}

template <typename Vector>
COMMITTEE_INLINE void write_floats(const Vector& values, float* to) {
  std::memcpy(to, &values, sizeof(values));
}

// to += from * factor, where both are vectors or the factor is a number.
template <typename Vector, typename Factor>
COMMITTEE_INLINE void add_product(const Vector& from, const Factor& factor, float* to) {
  Vector sum;
  read_floats(to, sum);
  sum += from * factor;
  write_floats(sum, to);
}

// The left factor: entry (i, k) is at values[i * row_stride + k * column_stride].
struct LeftMatrix {
  const float* values = nullptr;
  std::size_t row_stride = 0;
  std::size_t column_stride = 0;
};

// Sizes of a product: n_rows x n_sum times n_sum x n_columns. The right factor and the result are
// stored row by row; n_columns is a multiple of 16.
struct ProductSize {
  std::size_t n_rows = 0;
  std::size_t n_sum = 0;
  std::size_t n_columns = 0;
};

template <typename Vector, std::size_t kRows, std::size_t kVectors>
COMMITTEE_INLINE void multiply_tile(const LeftMatrix& left, const float* right,
                                    const ProductSize& size, float* out) {
  constexpr std::size_t kWidth = sizeof(Vector) / sizeof(float);
  Vector sums[kRows][kVectors] = {};
  for (std::size_t k = 0; k < size.n_sum; ++k) {
    Vector terms[kVectors];
    for (std::size_t j = 0; j < kVectors; ++j) {
      std::memcpy(&terms[j], right + k * size.n_columns + j * kWidth, sizeof(Vector));
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      const float factor = left.values[i * left.row_stride + k * left.column_stride];
      for (std::size_t j = 0; j < kVectors; ++j) sums[i][j] += factor * terms[j];
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      std::memcpy(out + i * size.n_columns + j * kWidth, &sums[i][j], sizeof(Vector));
    }
  }
}

// All rows of the result for some neighbouring columns.
template <typename Vector, std::size_t kVectors>
COMMITTEE_INLINE void multiply_panel(const LeftMatrix& left, const float* right,
                                     const ProductSize& size, float* out) {
  constexpr std::size_t kRows = 4;
  std::size_t i = 0;
  for (; i + kRows <= size.n_rows; i += kRows) {
    const LeftMatrix own{left.values + i * left.row_stride, left.row_stride, left.column_stride};
    multiply_tile<Vector, kRows, kVectors>(own, right, size, out + i * size.n_columns);
  }
  for (; i < size.n_rows; ++i) {
    const LeftMatrix own{left.values + i * left.row_stride, left.row_stride, left.column_stride};
    multiply_tile<Vector, 1, kVectors>(own, right, size, out + i * size.n_columns);
  }
}

// out = left * right; `kVectors` vectors of sums of a row are in registers together.
template <typename Vector, std::size_t kVectors>
COMMITTEE_INLINE void multiply(const LeftMatrix& left, const float* right, const ProductSize& size,
                               float* out) {
  constexpr std::size_t kWidth = sizeof(Vector) / sizeof(float);
  constexpr std::size_t kPanel = kVectors * kWidth;
  constexpr std::size_t kNarrow = 16 / kWidth;
  std::size_t column = 0;
  for (; column + kPanel <= size.n_columns; column += kPanel) {
    multiply_panel<Vector, kVectors>(left, right + column, size, out + column);
  }
  for (; column < size.n_columns; column += 16) {
    multiply_panel<Vector, kNarrow>(left, right + column, size, out + column);
  }
}

}  // namespace committee
