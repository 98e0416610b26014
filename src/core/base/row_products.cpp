#include "base/row_products.hpp"

#include <algorithm>
#include <cstring>

#include "base/simd.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 4;     // sums side by side, of every fourth column
constexpr std::size_t kBlock = 256;   // columns that are added up before the lanes become one
constexpr std::size_t kLeftTile = 4;  // rows whose sums are in registers together
constexpr std::size_t kRightTile = 2;
constexpr std::size_t kLeftPanel = 32;  // rows that stay in the cache, of a block of columns
constexpr std::size_t kRightPanel = 128;

// Four doubles, a vector register or two.
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

template <RowSum kKind>
COMMITTEE_INLINE void add_term(Lanes& sum, const Lanes& a, const Lanes& b) {
  if constexpr (kKind == RowSum::kProduct) {
    sum += a * b;
  } else {
    const Lanes gap = a - b;
    if constexpr (kKind == RowSum::kSquaredDifference) {
      sum += gap * gap;
    } else {
      sum += gap < 0.0 ? -gap : gap;
    }
  }
}

// What one call adds: `n_columns` columns from `begin` on of kLeft and kRight neighbouring rows.
struct Tile {
  const double* left = nullptr;
  const double* right = nullptr;
  std::size_t n_columns = 0;  // of the tables: from row to row
  std::size_t n_summed = 0;
  double* out = nullptr;
  std::size_t out_stride = 0;
};

template <RowSum kKind, std::size_t kLeft, std::size_t kRight>
COMMITTEE_INLINE void add_tile(const Tile& tile) {
  Lanes sums[kLeft][kRight] = {};
  const std::size_t n_whole = tile.n_summed / kLanes * kLanes;
  for (std::size_t k = 0; k < n_whole; k += kLanes) {
    Lanes b[kRight];
    for (std::size_t j = 0; j < kRight; ++j) {
      std::memcpy(&b[j], tile.right + j * tile.n_columns + k, sizeof(Lanes));
    }
    for (std::size_t i = 0; i < kLeft; ++i) {
      Lanes a;
      std::memcpy(&a, tile.left + i * tile.n_columns + k, sizeof(Lanes));
      for (std::size_t j = 0; j < kRight; ++j) add_term<kKind>(sums[i][j], a, b[j]);
    }
  }
  for (std::size_t i = 0; i < kLeft; ++i) {
    for (std::size_t j = 0; j < kRight; ++j) {
      Lanes lanes = sums[i][j];
      if (n_whole < tile.n_summed) {  // what is missing to four columns is zero in both rows
        const std::size_t size = (tile.n_summed - n_whole) * sizeof(double);
        Lanes a = {};
        Lanes b = {};
        std::memcpy(&a, tile.left + i * tile.n_columns + n_whole, size);
        std::memcpy(&b, tile.right + j * tile.n_columns + n_whole, size);
        add_term<kKind>(lanes, a, b);
      }
      tile.out[i * tile.out_stride + j] += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
  }
}

// All pairs of the rows of two panels, for one block of columns.
template <RowSum kKind>
COMMITTEE_INLINE void add_panels(const Tile& first, std::size_t n_left, std::size_t n_right) {
  for (std::size_t i = 0; i < n_left;) {
    const bool is_wide = n_left - i >= kLeftTile;
    for (std::size_t j = 0; j < n_right;) {
      Tile tile = first;
      tile.left += i * first.n_columns;
      tile.right += j * first.n_columns;
      tile.out += i * first.out_stride + j;
      const bool is_whole = is_wide && n_right - j >= kRightTile;
      if (is_whole) {
        add_tile<kKind, kLeftTile, kRightTile>(tile);
      } else if (is_wide) {
        add_tile<kKind, kLeftTile, 1>(tile);
      } else {
        add_tile<kKind, 1, 1>(tile);
      }
      j += is_whole ? kRightTile : 1;
    }
    i += is_wide ? kLeftTile : 1;
  }
}

COMMITTEE_INLINE void add_block_code(RowSum kind, const Tile& first, std::size_t n_left,
                                     std::size_t n_right) {
  if (kind == RowSum::kProduct) {
    add_panels<RowSum::kProduct>(first, n_left, n_right);
  } else if (kind == RowSum::kSquaredDifference) {
    add_panels<RowSum::kSquaredDifference>(first, n_left, n_right);
  } else {
    add_panels<RowSum::kAbsoluteDifference>(first, n_left, n_right);
  }
}
COMMITTEE_TWICE(void, add_block,
                (RowSum kind, const Tile& first, std::size_t n_left, std::size_t n_right),
                (kind, first, n_left, n_right))

}  // namespace

void sum_row_pairs(RowSum kind, RowMatrix left, RowMatrix right, std::size_t n_columns,
                   bool upper_only, std::size_t n_threads, double* out) {
  std::fill_n(out, left.n_rows * right.n_rows, 0.0);
  const std::size_t n_panels = (left.n_rows + kLeftPanel - 1) / kLeftPanel;
  parallel_for(n_panels, n_threads, [&](std::size_t panel) {
    const std::size_t begin = panel * kLeftPanel;
    const std::size_t n_left = std::min(kLeftPanel, left.n_rows - begin);
    const std::size_t first = upper_only ? begin / kRightPanel * kRightPanel : 0;
    for (std::size_t other = first; other < right.n_rows; other += kRightPanel) {
      const std::size_t n_right = std::min(kRightPanel, right.n_rows - other);
      for (std::size_t column = 0; column < n_columns; column += kBlock) {
        const Tile tile{.left = left.values + begin * n_columns + column,
                        .right = right.values + other * n_columns + column,
                        .n_columns = n_columns,
                        .n_summed = std::min(kBlock, n_columns - column),
                        .out = out + begin * right.n_rows + other,
                        .out_stride = right.n_rows};
        add_block(kind, tile, n_left, n_right);
      }
    }
  });
}

}  // namespace committee
