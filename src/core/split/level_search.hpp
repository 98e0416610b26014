// Splits of a category whose levels in the node are listed (`scratch.present`): a subset, a random
// subset, or a child for each level.
//
// The levels are first put in the order of their target statistic, in which the best subset is a
// contiguous part (exactly so for two classes and for one regression target; with more classes one
// order for each class is tried and the best subset kept).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "split/node_search.hpp"

namespace committee {

// A missing value seen in training goes where its code went, and unseen levels with it.
inline void settle_missing(const CodeColumn& column, Split& best) {
  if (!column.has_missing) return;
  const std::uint32_t child = best.child_of_code[column.missing_code()];
  if (child != kNoChild) best.default_child = child;
}

// Tries prefixes of the codes in `scratch.ordered` as the left side: those that end at position
// `first` to `last`. Their scores are lowered by `penalty`.
template <typename Score>
inline void try_prefixes(const FeatureSearch<Score>& search, std::size_t first, std::size_t last,
                         double penalty) {
  using Cell = typename FeatureSearch<Score>::Cell;
  auto& left = search.scratch.left;
  std::fill(left.begin(), left.end(), Cell{0});
  std::int64_t left_rows = 0;
  const auto& ordered = search.scratch.ordered;
  Split& best = search.best;
  std::size_t n_left = 0;  // of the best prefix, once there is one
  for (std::size_t n = 0; n + 1 < ordered.size() && n <= last; ++n) {
    const std::uint32_t code = ordered[n].second;
    const Cell* const here = search.cell(code);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] += here[i];
    left_rows += search.count(code);
    if (n < first) continue;
    const double score = evaluate(search, LeftSide<Cell>{left.data(), left_rows}) - penalty;
    if (!(score > best.score)) continue;
    keep_split(search, score, left.data());
    n_left = n + 1;
  }
  if (n_left == 0) return;
  best.penalty = penalty;
  best.kind = SplitKind::kSubset;
  best.child_of_code.assign(search.column.n_codes(), kNoChild);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    best.child_of_code[ordered[i].second] = i < n_left ? 0 : 1;
  }
  settle_missing(search.column, best);
}

template <typename Score>
inline void try_subsets(const FeatureSearch<Score>& search) {
  const NodeSearch<Score>& node = search.node;
  SearchScratch<Score>& scratch = search.scratch;
  if (scratch.present.size() < 2) return;
  const double penalty = level_price(node.options.level_penalty, node.impurity, node.view.n_counted,
                                     scratch.present.size());
  for (std::size_t order = 0; order < node.score.n_orders(); ++order) {
    scratch.ordered.clear();
    for (const std::uint32_t code : scratch.present) {
      scratch.ordered.emplace_back(node.score.order(search.cell(code), order), code);
    }
    std::sort(scratch.ordered.begin(), scratch.ordered.end());
    try_prefixes(search, 0, scratch.ordered.size(), penalty);
  }
}

template <typename Score>
inline void try_random_subset(const FeatureSearch<Score>& search) {
  SearchScratch<Score>& scratch = search.scratch;
  const auto n_present = static_cast<std::uint32_t>(scratch.present.size());
  if (n_present < 2) return;
  Random random(derive_key(search.node.view.key, std::uint64_t{search.feature} + 1));
  scratch.ordered.clear();
  for (const std::uint32_t code : scratch.present) {
    scratch.ordered.emplace_back(random.uniform(), code);
  }
  std::sort(scratch.ordered.begin(), scratch.ordered.end());
  const std::uint32_t cut = random.below(n_present - 1);
  try_prefixes(search, cut, cut, 0.0);
}

template <typename Score>
inline void try_fan_out(const FeatureSearch<Score>& search) {
  const NodeSearch<Score>& node = search.node;
  const auto& present = search.scratch.present;
  if (present.size() < 2) return;
  double score = 0.0;
  std::int64_t largest = -1;
  std::uint32_t default_child = 0;
  for (std::uint32_t child = 0; child < present.size(); ++child) {
    const std::uint32_t code = present[child];
    const std::int64_t weight = node.adder.weight(search.cell(code));
    if (static_cast<double>(weight) < node.min_weight ||
        (node.counts_rows && search.count(code) < node.options.min_rows_leaf)) {
      return;
    }
    score += node.score.score(search.cell(code));
    if (weight > largest) {
      largest = weight;
      default_child = child;
    }
  }
  Split& best = search.best;
  if (!(score > best.score)) return;
  keep_split(search, score, search.cell(present[0]));
  best.kind = SplitKind::kFanOut;
  best.n_children = static_cast<std::uint32_t>(present.size());
  best.default_child = default_child;
  best.child_of_code.assign(search.column.n_codes(), kNoChild);
  for (std::uint32_t child = 0; child < best.n_children; ++child) {
    best.child_of_code[present[child]] = child;
  }
  settle_missing(search.column, best);
}

template <typename Score>
inline void try_levels(const FeatureSearch<Score>& search) {
  if (search.node.options.fan_out_categories) {
    try_fan_out(search);
  } else if (search.node.options.random_thresholds) {
    try_random_subset(search);
  } else {
    try_subsets(search);
  }
}

}  // namespace committee
