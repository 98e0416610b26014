// The codes of a few records, feature by feature.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"
#include "score/byte_cut.hpp"

namespace committee {

constexpr std::size_t kTile = 16;
using TileRow = std::uint8_t __attribute__((vector_size(kTile)));

// Turns 16 rows of 16 bytes into 16 columns: each round interleaves rows that are eight apart, and
// four rounds move every bit of the row number past every bit of the column number.
COMMITTEE_INLINE void transpose(std::array<TileRow, kTile>& tile) {
  const TileRow low{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  const TileRow high{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  for (int round = 0; round < 4; ++round) {
    std::array<TileRow, kTile> next;
    for (std::size_t i = 0; i < kTile / 2; ++i) {
      next[2 * i] = __builtin_shuffle(tile[i], tile[i + kTile / 2], low);
      next[2 * i + 1] = __builtin_shuffle(tile[i], tile[i + kTile / 2], high);
    }
    tile = next;
  }
}

// The records of up to kSmallNodeRows rows as columns, that many bytes apart.
COMMITTEE_INLINE void transpose_records(const std::uint8_t* records, std::size_t stride,
                                        std::size_t n_rows, std::uint8_t* columns) {
  std::array<TileRow, kTile> tile;
  for (std::size_t row = 0; row < n_rows; row += kTile) {
    for (std::size_t feature = 0; feature < stride; feature += kTile) {
      for (std::size_t i = 0; i < kTile; ++i) {
        const std::size_t source = row + i < n_rows ? row + i : n_rows - 1;
        std::memcpy(&tile[i], records + source * stride + feature, kTile);
      }
      transpose(tile);
      for (std::size_t i = 0; i < kTile; ++i) {
        std::memcpy(columns + (feature + i) * kSmallNodeRows + row, &tile[i], kTile);
      }
    }
  }
}

}  // namespace committee
