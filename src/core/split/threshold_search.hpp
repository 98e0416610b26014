// Thresholds of a feature whose rows are added up by code: one scan over the codes sees every
// threshold. Missing values have a cell of their own and are tried on both sides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "split/code_set.hpp"
#include "split/node_search.hpp"

namespace committee {

// Missing values on the right, then on the left.
template <typename Score>
inline void try_both_sides(const FeatureSearch<Score>& search, bool has_missing,
                           std::int64_t left_rows, std::uint32_t last_left,
                           std::uint32_t first_right) {
  using Cell = typename FeatureSearch<Score>::Cell;
  std::vector<Cell>& left = search.scratch.left;
  const auto try_one = [&](std::int64_t n_rows, int missing_child) {
    try_threshold(search, LeftSide<Cell>{left.data(), n_rows},
                  {last_left, first_right, missing_child});
  };
  try_one(left_rows, has_missing ? 1 : -1);
  if (!has_missing || first_right == kNoCode) return;
  const std::uint32_t missing = search.column.missing_code();
  const Cell* const cell = search.cell(missing);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += cell[i];
  try_one(left_rows + search.count(missing), 0);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] -= cell[i];
}

// Compares the cuts between the `n_present` codes in the arrays with the best so far.
template <typename Score>
inline void keep_best_cut(const FeatureSearch<Score>& search, std::size_t n_present) {
  if (n_present < 2) return;
  const NodeSearch<Score>& node = search.node;
  auto& cuts = search.scratch.cuts;
  std::size_t begin = 0;
  std::size_t end = n_present - 1;
  const auto total_weight = static_cast<double>(node.total_weight);
  const auto left_weight = [&](std::size_t i) { return static_cast<double>(cuts.weight[i]); };
  while (begin < end && left_weight(begin) < node.min_weight) ++begin;
  while (begin < end && total_weight - left_weight(end - 1) < node.min_weight) --end;
  if (begin == end) return;
  const Cut cut = cuts.best(node.score, begin, end);
  const std::vector<std::uint32_t>& present = search.scratch.present;
  keep_threshold(search, node.score.from_kernel(cut.score),
                 static_cast<std::int64_t>(left_weight(cut.index)),
                 {present[cut.index], present[cut.index + 1]});
}

// The plain case, without missing values or constraints: thresholds in vector passes over pieces
// of the codes that stay in the cache.
template <typename Score>
inline void try_cuts(const FeatureSearch<Score>& search, const CodeSet& codes) {
  using Arrays = CutArrays<Score>;
  using Cell = typename FeatureSearch<Score>::Cell;
  SearchScratch<Score>& scratch = search.scratch;
  auto& cuts = scratch.cuts;
  cuts.start(search.node.score);
  scratch.present.resize(std::max(scratch.present.size(), Arrays::kSize));
  // Plain pointers and a local sum: the compiler cannot know that the arrays do not overlap.
  std::uint32_t* const present = scratch.present.data();
  Cell* const cells = scratch.cells.data();
  std::array<Cell, Arrays::kCellSize> left{};
  std::size_t n_present = 0;
  const auto pass = [&](std::uint32_t code) {
    Cell* const here = cells + code * left.size();
    for (std::size_t i = 0; i < left.size(); ++i) {
      left[i] += here[i];
      here[i] = 0;
    }
    cuts.set(n_present, left);
    present[n_present] = code;
  };
  if (codes.is_known()) {
    codes.for_each(search.column.n_values, [&](std::uint32_t code) {
      pass(code);
      ++n_present;
    });
  } else {  // what an empty cell wrote is overwritten by the next: no branch to mispredict
    for (std::uint32_t code = 0; code < search.column.n_values; ++code) {
      const bool is_present = !search.node.adder.is_empty(cells + code * left.size());
      pass(code);
      n_present += is_present ? 1 : 0;
      if (n_present == Arrays::kSize) {
        keep_best_cut(search, n_present);
        cuts.keep_last();
        present[0] = present[n_present - 1];
        n_present = 1;
      }
    }
  }
  keep_best_cut(search, n_present);
}

// Clears the cells.
template <typename Score>
inline void try_thresholds(const FeatureSearch<Score>& search, const CodeSet& codes) {
  const NodeSearch<Score>& node = search.node;
  const std::uint32_t missing = search.column.missing_code();
  const bool has_missing = search.column.has_missing && !node.adder.is_empty(search.cell(missing));
  if constexpr (CutArrays<Score>::kExists) {
    const bool is_plain = !has_missing && !node.counts_rows && node.options.monotonic.empty();
    if (is_plain && node.score.has_kernel()) {
      try_cuts(search, codes);
      return;
    }
  }
  auto& left = search.scratch.left;
  std::uint32_t previous = kNoCode;
  std::int64_t left_rows = 0;
  for_each_present(search, codes, search.column.n_values, [&](std::uint32_t code) {
    if (previous != kNoCode) try_both_sides(search, has_missing, left_rows, previous, code);
    const auto* const here = search.cell(code);
    for (std::size_t i = 0; i < node.adder.cell_size(); ++i) left[i] += here[i];
    left_rows += search.count(code);
    search.clear(code);
    previous = code;
  });
  if (!has_missing) return;
  if (previous != kNoCode) try_both_sides(search, true, left_rows, previous, kNoCode);
  search.clear(missing);
}

// The codes of the node are listed.
template <typename Score>
inline void try_random_threshold(const FeatureSearch<Score>& search) {
  const NodeSearch<Score>& node = search.node;
  SearchScratch<Score>& scratch = search.scratch;
  std::span<const std::uint32_t> present = scratch.present;
  const bool has_missing = !present.empty() && search.column.has_missing &&
                           present.back() == search.column.missing_code();
  if (has_missing) present = present.first(present.size() - 1);
  if (present.empty() || (present.size() == 1 && !has_missing)) return;
  Split drawn;
  drawn.last_left = present.back();
  if (present.size() > 1) {
    draw_threshold(node.data, node.view, search.feature, present, scratch.example, drawn);
  }
  std::int64_t left_rows = 0;
  for (const std::uint32_t code : present) {
    if (code > drawn.last_left) break;
    for (std::size_t i = 0; i < node.adder.cell_size(); ++i) {
      scratch.left[i] += search.cell(code)[i];
    }
    left_rows += search.count(code);
  }
  const double score_before = search.best.score;
  try_both_sides(search, has_missing, left_rows, drawn.last_left, drawn.first_right);
  if (search.best.score > score_before) {
    search.best.has_threshold = drawn.has_threshold;
    search.best.threshold = drawn.threshold;
  }
}

}  // namespace committee
