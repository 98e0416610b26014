// The search for the split of a small node whose thresholds are drawn at random.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "score/small_levels.hpp"
#include "small/bit_rows.hpp"
#include "small/code_bits.hpp"
#include "small/subtree_grower.hpp"
#include "split/drawn_cuts.hpp"
#include "split/splitter.hpp"

namespace committee {

struct OpenBits {
  RowBits rows = 0;
  std::uint64_t key = 0;
  std::uint32_t index = 0;  // in the piece
  std::uint32_t depth = 0;
};

// The rules of subtrees, and their working memory.
// Tables without categories are grown by code that knows nothing of them.
template <typename RowsOfNode, bool kCategories>
struct DrawnState : SubtreeRules {
  using Rows = RowsOfNode;
  static constexpr bool kHasCategories = kCategories;

  DrawnState(const FitData& fit_data, const GrowOptions& grow_options)
      : SubtreeRules(fit_data, grow_options),
        stride(fit_data.records->stride),
        cuts(make_drawn_cuts(*fit_data.dataset)) {
    columns.resize(stride * kSmallNodeRows);
    smallest.resize(stride);
    largest.resize(stride);
  }

  const std::size_t stride;  // of records
  const std::vector<DrawnCuts> cuts;
  FeatureDraw draw;
  Rows rows;
  const std::uint8_t* records = nullptr;  // of the subtree
  std::vector<std::uint8_t> columns;      // the same feature by feature, unless rows are few
  std::vector<std::uint8_t> smallest;     // code of the node, of each feature
  std::vector<std::uint8_t> largest;
  std::array<OpenBits, kSmallNodeRows> stack;

  COMMITTEE_INLINE bool splits_levels(std::uint32_t feature) const {
    return kHasCategories && is_category[feature] != 0;
  }
};

struct DrawnSplit {
  RowBits left = 0;  // none: no split
  Value threshold{.real = 0.0};
  double left_weight = 0.0;
  std::uint32_t cut = 0;  // see DrawnCuts
  std::uint32_t feature = 0;
};

template <typename State>
COMMITTEE_INLINE void find_ranges(State& state, RowBits rows) {
  std::size_t feature = 0;
  for (; feature + sizeof(WideRow) <= state.stride; feature += sizeof(WideRow)) {
    add_ranges<WideRow>(state.records + feature, state.stride, rows,
                        state.smallest.data() + feature, state.largest.data() + feature);
  }
  if (feature < state.stride) {
    add_ranges<TileRow>(state.records + feature, state.stride, rows,
                        state.smallest.data() + feature, state.largest.data() + feature);
  }
}

// A node of up to kFewRows rows: they are compared one by one, without columns.
template <typename State>
class FewRowsNode {
 public:
  COMMITTEE_INLINE FewRowsNode(const State& state, RowBits node)
      : state_(state), rows_(take_rows(node)) {}

  // The rows below a threshold; those of the largest code never are. `cut`: see DrawnCuts.
  COMMITTEE_INLINE RowBits below(std::uint32_t feature, std::uint8_t largest, Value threshold,
                                 std::uint32_t& cut) const {
    const DrawnCuts& cuts = state_.cuts[feature];
    RowBits left = 0;
    cut = 0;
    for (const std::size_t row : rows_) {
      const std::uint8_t code = state_.records[row * state_.stride + feature];
      const bool is_left = (code < largest) & cuts.begins_below(code, threshold);
      left |= static_cast<RowBits>(is_left) << row;
      cut = is_left && code > cut ? code : cut;
    }
    return left;
  }

  // Here the cut is the last code on the left.
  COMMITTEE_INLINE Value settle(const DrawnSplit& split) const {
    return state_.cuts[split.feature].settle(split.threshold, split.cut,
                                             state_.largest[split.feature]);
  }

 private:
  const State& state_;
  FewRows rows_;
};

// A node of more rows, by columns.
template <typename State>
class ColumnsNode {
 public:
  COMMITTEE_INLINE ColumnsNode(const State& state, RowBits node) : state_(state), node_(node) {}

  COMMITTEE_INLINE RowBits below(std::uint32_t feature, std::uint8_t largest, Value threshold,
                                 std::uint32_t& cut) const {
    cut = state_.cuts[feature].last_below(threshold, largest);
    return node_ & rows_up_to(column(feature), static_cast<std::uint8_t>(cut));
  }

  COMMITTEE_INLINE Value settle(const DrawnSplit& split) const {
    const std::uint8_t* const codes = column(split.feature);
    return state_.cuts[split.feature].settle(
        split.threshold, split.cut, state_.largest[split.feature],
        [&](std::uint32_t code) __attribute__((always_inline)) {
          return (node_ & rows_with(codes, static_cast<std::uint8_t>(code))) != 0;
        },
        [&](std::uint32_t) __attribute__((always_inline)) {
          std::uint8_t last = 0;
          for_each_bit(split.left, [&](std::size_t row) __attribute__((always_inline)) {
            last = std::max(last, codes[row]);
          });
          return last;
        });
  }

 private:
  const std::uint8_t* column(std::uint32_t feature) const {
    return state_.columns.data() + feature * kSmallNodeRows;
  }

  const State& state_;
  RowBits node_;
};

// The rows on the left of a random subset of the levels of a category.
template <typename State>
COMMITTEE_INLINE RowBits rows_of_levels(const State& state, RowBits node, std::uint32_t feature,
                                        std::uint64_t key) {
  const std::uint8_t* const column = state.records + feature;
  Random random(derive_key(key, std::uint64_t{feature} + 1));
  if (std::popcount(node) == 2) {  // as draw_subset does it, for half of all nodes
    const double first = random.uniform();
    const bool is_first_left = first <= random.uniform();
    const auto row = static_cast<std::size_t>(std::countr_zero(node));
    const bool has_first = column[row * state.stride] == state.smallest[feature];
    return has_first == is_first_left ? node & (0 - node) : node & (node - 1);
  }
  std::array<std::uint8_t, kSmallNodeRows> codes;
  std::array<std::uint8_t, kSmallNodeRows> sides;
  std::size_t n_rows = 0;
  for_each_bit(node, [&](std::size_t row) __attribute__((always_inline)) {
    codes[n_rows++] = column[row * state.stride];
  });
  const std::size_t n_codes = state.data.dataset->feature(feature).column.n_codes();
  draw_subset(codes.data(), n_rows, n_codes, random, sides.data());
  RowBits left = 0;
  n_rows = 0;
  for_each_bit(node, [&](std::size_t row) __attribute__((always_inline)) {
    left |= RowBits{sides[n_rows++] ^ 1U} << row;
  });
  return left;
}

template <typename State, typename Look>
COMMITTEE_INLINE DrawnSplit find_split(State& state, const Look& look, RowBits node,
                                       std::uint64_t key) {
  const bool is_pair = std::popcount(node) == 2;
  const auto total_weight = static_cast<double>(state.rows.weight());
  find_ranges(state, node);
  // The best and the one that is looked at, which change places: a branch would be mispredicted.
  std::array<DrawnSplit, 2> splits{};
  std::size_t best = 0;
  double best_score = -std::numeric_limits<double>::infinity();
  const auto try_feature = [&](std::uint32_t feature) __attribute__((always_inline)) {
    const std::uint8_t smallest = state.smallest[feature];
    const std::uint8_t largest = state.largest[feature];
    if (smallest == largest) return;
    DrawnSplit& split = splits[1 - best];
    split.feature = feature;
    if (state.splits_levels(feature)) {
      split.left = rows_of_levels(state, node, feature, key);
    } else {
      split.threshold = state.cuts[feature].draw(feature, smallest, largest, key);
      split.left = look.below(feature, largest, split.threshold, split.cut);
    }
    const BitCut cut = state.rows.cut(split.left, node & ~split.left);
    split.left_weight = cut.left_weight;
    const bool is_better = (cut.left_weight >= state.min_weight) &
                           (total_weight - cut.left_weight >= state.min_weight) &
                           (cut.score > best_score);
    best = is_better ? 1 - best : best;
    best_score = is_better ? cut.score : best_score;
  };
  const auto is_found = [&] { return best_score > -std::numeric_limits<double>::infinity(); };
  state.draw.draw(
      key, state.data.dataset->n_features(), state.options,
      [&](std::uint32_t feature)
          __attribute__((always_inline)) { return state.has_codes[feature] != 0; },
      [&](std::uint32_t feature) __attribute__((always_inline)) {
        return state.smallest[feature] != state.largest[feature];
      },
      [&](std::span<const std::uint32_t> features) __attribute__((always_inline)) {
        for (const std::uint32_t feature : features) {
          try_feature(feature);
          // Two rows can be divided in one way only: the first feature that does so is the best.
          if (is_pair && is_found()) break;
        }
        return is_found();
      });
  if (!is_found()) return {};
  DrawnSplit& found = splits[best];
  if (!state.splits_levels(found.feature)) found.threshold = look.settle(found);
  return found;
}

}  // namespace committee
