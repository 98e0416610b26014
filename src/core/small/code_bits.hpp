// Sets of the rows of a small subtree, one bit a row, from their codes.
//
// A column is the codes of a feature for kSmallNodeRows rows, those of the subtree first; records
// are the codes of a row side by side.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/simd.hpp"
#include "score/record_columns.hpp"
#include "small/bit_rows.hpp"

namespace committee {

// Bit i: lane i is not zero, where lanes are zero or all ones.
COMMITTEE_INLINE RowBits bits_of(const TileRow& lanes) {
#if defined(__x86_64__)
  return static_cast<RowBits>(_mm_movemask_epi8(reinterpret_cast<__m128i>(lanes)));
#else
  using Words = std::uint64_t __attribute__((vector_size(kTile)));
  const auto words = reinterpret_cast<Words>(lanes & 1);
  // The product moves byte k, 0 or 1, to bit k of the top byte.
  constexpr std::uint64_t kGather = 0x0102040810204080ULL;
  return (words[0] * kGather) >> 56 | ((words[1] * kGather) >> 56) << 8;
#endif
}

// The rows whose code is at most `last`.
COMMITTEE_INLINE RowBits rows_up_to(const std::uint8_t* column, std::uint8_t last) {
  RowBits rows = 0;
  for (std::size_t i = 0; i < kSmallNodeRows; i += kTile) {
    TileRow codes;
    std::memcpy(&codes, column + i, kTile);
    const TileRow lasts = TileRow{} + last;
    const TileRow smaller = codes < lasts ? codes : lasts;
    rows |= bits_of(reinterpret_cast<TileRow>(smaller == codes)) << i;
  }
  return rows;
}

// The rows that have a code.
COMMITTEE_INLINE RowBits rows_with(const std::uint8_t* column, std::uint8_t code) {
  RowBits rows = 0;
  for (std::size_t i = 0; i < kSmallNodeRows; i += kTile) {
    TileRow codes;
    std::memcpy(&codes, column + i, kTile);
    rows |= bits_of(reinterpret_cast<TileRow>(codes == code)) << i;
  }
  return rows;
}

// The first four rows of a set, or the first one again where there are fewer. They are taken off:
// loops that go on for as many rounds as there are rows would be mispredicted in every node.
constexpr std::size_t kFewRows = 4;
using FewRows = std::array<std::size_t, kFewRows>;
COMMITTEE_INLINE FewRows take_rows(RowBits& rows) {
  FewRows taken;
  taken[0] = static_cast<std::size_t>(std::countr_zero(rows));
  rows &= rows - 1;
  for (std::size_t i = 1; i < kFewRows; ++i) {
    taken[i] = rows != 0 ? static_cast<std::size_t>(std::countr_zero(rows)) : taken[0];
    rows &= rows - 1;
  }
  return taken;
}

using WideRow = std::uint8_t __attribute__((vector_size(2 * kTile)));

// The smallest and the largest code of each of as many features as there are lanes.
template <typename Codes>
COMMITTEE_INLINE void add_ranges(const std::uint8_t* records, std::size_t stride, RowBits rows,
                                 std::uint8_t* smallest, std::uint8_t* largest) {
  Codes low;
  std::memcpy(&low, records + static_cast<std::size_t>(std::countr_zero(rows)) * stride,
              sizeof(Codes));
  Codes high = low;
  while (rows != 0) {
    for (const std::size_t row : take_rows(rows)) {
      Codes own;
      std::memcpy(&own, records + row * stride, sizeof(Codes));
      low = own < low ? own : low;
      high = own > high ? own : high;
    }
  }
  std::memcpy(smallest, &low, sizeof(Codes));
  std::memcpy(largest, &high, sizeof(Codes));
}

}  // namespace committee
