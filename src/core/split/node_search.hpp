// The search of a node for its best split: what holds for all its features (NodeSearch), the
// search of one of them (FeatureSearch), and how a candidate is scored and becomes the best.
//
// The searches are free functions, a file for each kind of split:
//   histogram_search.hpp   adds the rows up by code, then calls one of
//   threshold_search.hpp   thresholds: all of them, or a random one
//   level_search.hpp       levels of a category: subsets, a random subset, a child for each
//   record_search.hpp      the same splits in a block of records, where kernels for bytes serve
// They are declared inline because that raises GCC's limits: without it, scores of single cuts are
// calls, and forests by entropy take 20 % longer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "score/byte_cut.hpp"
#include "split/cut_arrays.hpp"
#include "split/splitter.hpp"

namespace committee {

// One node. Searches of its features may run side by side.
template <typename ScoreType>
struct NodeSearch {
  using Score = ScoreType;
  using Adder = typename Score::Adder;
  using Cell = typename Adder::Cell;

  // `total` is the statistic of the node.
  NodeSearch(const FitData& data_of_fit, const GrowOptions& settings, const NodeView& node,
             const Adder& adder_of_rows, const Score& score_of_node, const Cell* total_of_node,
             Monitor& monitor_of_fit)
      : data(data_of_fit),
        options(settings),
        view(node),
        statistics(node.block->statistics),
        adder(adder_of_rows),
        score(score_of_node),
        monitor(monitor_of_fit),
        total(total_of_node),
        total_weight(adder.weight(total)),
        counts_rows(!statistics.repetitions.empty()),
        first_row(node.block->has_records() ? node.rows[0] : 0),
        min_weight(least_leaf_weight(data, options, node)) {
    if (options.level_penalty > 0.0 && node.block->has_categories) {
      impurity = score.impurity(statistics, node.rows, total);
    }
    if (counts_rows) {
      for (const std::uint32_t row : node.rows) total_rows += statistics.repetitions[row];
    }
  }

  const CodeColumn& column(std::uint32_t feature) const { return view.block->columns[feature]; }
  bool is_category(std::uint32_t feature) const {
    return data.dataset->feature(feature).kind == FeatureKind::kCategory;
  }
  SplitKind threshold_kind(std::uint32_t feature) const {
    return data.dataset->feature(feature).kind == FeatureKind::kInteger ? SplitKind::kInteger
                                                                        : SplitKind::kReal;
  }

  const FitData& data;
  const GrowOptions& options;
  const NodeView& view;
  const RowStatistics& statistics;
  const Adder& adder;
  const Score& score;
  Monitor& monitor;
  const Cell* total;
  std::int64_t total_weight;
  bool counts_rows;
  std::size_t first_row;  // of the node in a block of records; else 0
  double min_weight;
  double impurity = 0.0;
  std::int64_t total_rows = 0;
};

// The scores of both sides of the cuts of a feature, and the weight of the left one.
struct CutSides {
  std::vector<double> left;
  std::vector<double> right;
  std::vector<std::int64_t> left_weight;
};

// Working memory of one thread. Cells and counts are all zero between two features.
template <typename Score>
struct SearchScratch {
  using Cell = typename Score::Adder::Cell;
  std::vector<Cell> cells;
  std::vector<std::int64_t> counts;
  std::vector<std::uint32_t> example;  // a row of each code, for random thresholds
  std::vector<std::uint32_t> present;
  std::vector<std::uint32_t> begins;  // see class_search.hpp
  std::vector<std::uint32_t> sorted;
  std::array<CutSides, 2> sides;
  std::vector<Cell> left;
  std::vector<Cell> right;
  std::vector<Cell> lefts;  // of several cuts
  std::vector<std::pair<double, std::uint32_t>> ordered;
  std::array<std::uint8_t, kByteCodes> marks{};
  CutArrays<Score> cuts;
};

// One feature; `best` is the best split of the features before it.
template <typename ScoreType>
struct FeatureSearch {
  using Score = ScoreType;
  using Adder = typename Score::Adder;
  using Cell = typename Adder::Cell;

  const NodeSearch<Score>& node;
  std::uint32_t feature;
  const CodeColumn& column;
  SearchScratch<Score>& scratch;
  Split& best;

  // The statistic of a code.
  Cell* cell(std::uint32_t code) const {
    return scratch.cells.data() + code * node.adder.cell_size();
  }
  // Its rows with repetitions, where they are counted.
  std::int64_t count(std::uint32_t code) const {
    return node.counts_rows ? scratch.counts[code] : 0;
  }
  void clear(std::uint32_t code) const {
    std::fill_n(cell(code), node.adder.cell_size(), Cell{0});
    if (node.counts_rows) scratch.counts[code] = 0;
  }
};

// A left side of a node: its statistic, and its rows with repetitions where they are counted.
template <typename Cell>
struct LeftSide {
  const Cell* cell;
  std::int64_t n_rows = 0;
};

// Codes up to last_left against those from first_right on, which is kNoCode when nothing but
// missing values is on the right. The child of missing values; -1: there are none.
struct CodeCut {
  std::uint32_t last_left;
  std::uint32_t first_right;
  int missing_child = -1;
};

// What is not on the left side.
template <typename Score, typename Cell>
inline const Cell* rest_of(const FeatureSearch<Score>& search, const Cell* left) {
  Cell* const right = search.scratch.right.data();
  for (std::size_t i = 0; i < search.node.adder.cell_size(); ++i) {
    right[i] = search.node.total[i] - left[i];
  }
  return right;
}

// The score of the split (left, rest), or no score when it breaks a limit.
template <typename Score, typename Cell>
inline double evaluate(const FeatureSearch<Score>& search, const LeftSide<Cell>& left) {
  constexpr double kRefused = -std::numeric_limits<double>::infinity();
  const NodeSearch<Score>& node = search.node;
  const std::int64_t left_weight = node.adder.weight(left.cell);
  if (static_cast<double>(left_weight) < node.min_weight ||
      static_cast<double>(node.total_weight - left_weight) < node.min_weight) {
    return kRefused;
  }
  if (node.counts_rows && (left.n_rows < node.options.min_rows_leaf ||
                           node.total_rows - left.n_rows < node.options.min_rows_leaf)) {
    return kRefused;
  }
  const Cell* const right = rest_of(search, left.cell);
  const int direction = node.options.monotonic_of(search.feature);
  if (direction != 0) {
    const double left_value = node.score.value(left.cell);
    const double right_value = node.score.value(right);
    if (!node.view.bounds.contains(left_value) || !node.view.bounds.contains(right_value) ||
        (left_value - right_value) * direction > 0) {
      return kRefused;
    }
  }
  return node.score.pair(left.cell, right);
}

// Notes the split whose left side and score are given. The larger child takes what the node has
// never seen.
template <typename Score, typename Cell>
inline void keep_split(const FeatureSearch<Score>& search, double score, const Cell* left) {
  const NodeSearch<Score>& node = search.node;
  Split& best = search.best;
  best.score = score;
  best.penalty = 0.0;
  best.feature = search.feature;
  best.n_children = 2;
  best.has_threshold = false;
  best.child_of_code.clear();
  const std::int64_t left_weight = node.adder.weight(left);
  best.default_child = left_weight > node.total_weight - left_weight ? 0 : 1;
  if (!node.options.monotonic.empty()) {
    const Cell* const right = rest_of(search, left);
    best.left_value = node.view.bounds.clip(node.score.value(left));
    best.right_value = node.view.bounds.clip(node.score.value(right));
  }
}

// Keeps a threshold if it is better than the best split.
template <typename Score, typename Cell>
inline void try_threshold(const FeatureSearch<Score>& search, const LeftSide<Cell>& left,
                          const CodeCut& cut) {
  const double score = evaluate(search, left);
  Split& best = search.best;
  if (!(score > best.score)) return;
  keep_split(search, score, left.cell);
  best.kind = search.node.threshold_kind(search.feature);
  best.last_left = cut.last_left;
  best.first_right = cut.first_right;
  if (cut.missing_child >= 0) best.default_child = static_cast<std::uint32_t>(cut.missing_child);
}

// The same where the score and the weight of the left side are known.
template <typename Score>
inline void keep_threshold(const FeatureSearch<Score>& search, double score,
                           std::int64_t left_weight, const CodeCut& cut) {
  const NodeSearch<Score>& node = search.node;
  const auto left = static_cast<double>(left_weight);
  const double right = static_cast<double>(node.total_weight) - left;
  Split& best = search.best;
  if (left < node.min_weight || right < node.min_weight || !(score > best.score)) return;
  best = Split{};
  best.score = score;
  best.feature = search.feature;
  best.kind = node.threshold_kind(search.feature);
  best.last_left = cut.last_left;
  best.first_right = cut.first_right;
  best.default_child = left > right ? 0 : 1;
  if (cut.missing_child >= 0) best.default_child = static_cast<std::uint32_t>(cut.missing_child);
}

}  // namespace committee
