// Random thresholds in a block of records. They need no statistics by code: the range of the codes,
// a draw, one sum. Ranges and sums of all features come together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "split/record_features.hpp"

namespace committee {

// Whether the threshold of a feature that varies is drawn from the bounds of its bins.
template <typename Score>
inline bool is_drawn(const RecordSearch<Score>& search, std::uint32_t feature,
                     const CodeRange& range) {
  const CodeColumn& column = search.node.column(feature);
  const DrawnCuts& cuts = search.records.cuts[feature];
  return !cuts.is_empty() && !(column.has_missing && range.largest == column.missing_code()) &&
         cuts.is_finite(range.smallest, range.largest);
}

// Lists the features that vary, and draws thresholds of those that have bins.
template <typename Score>
inline void draw_cuts(const RecordSearch<Score>& search, std::span<const std::uint32_t> features) {
  RecordScratch& records = search.records;
  records.ranges.resize(std::max(records.ranges.size(), features.size()));
  range_of_records(search.first_record(), search.stride(), search.n_rows(), features,
                   records.ranges.data());
  records.varying.clear();
  records.drawn.clear();
  records.thresholds.clear();
  for (std::size_t i = 0; i < features.size(); ++i) {
    const CodeRange range = records.ranges[i];
    if (range.smallest == range.largest) continue;
    records.varying.push_back(features[i]);
    if (!is_drawn(search, features[i], range)) continue;
    const DrawnCuts& cuts = records.cuts[features[i]];
    const Value threshold =
        cuts.draw(features[i], range.smallest, range.largest, search.node.view.key);
    const std::uint32_t last_left = cuts.last_below(threshold, range.largest);
    records.drawn.push_back({features[i], static_cast<std::uint8_t>(last_left), range.largest});
    records.thresholds.push_back(threshold);
  }
}

// Adds up what is on the left of some cuts, cell by cell.
template <typename Score, typename Cell>
inline void add_left(const RecordSearch<Score>& search, std::span<const RecordCut> cuts,
                     Cell* lefts) {
  using Adder = typename Score::Adder;
  const NodeSearch<Score>& node = search.node;
  const std::size_t n_rows = search.n_rows();
  const std::size_t stride = search.stride();
  if constexpr (std::is_same_v<Adder, BinaryAdder>) {
    sum_left_records(search.first_record(), stride, RecordTables<Score>::of_rows(search), cuts,
                     lefts);
  } else {
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      const std::uint8_t* codes = search.first_record() + cuts[k].feature;
      Cell* const left = lefts + k * node.adder.cell_size();
      for (std::size_t i = 0; i < n_rows; ++i, codes += stride) {
        const std::uint64_t mask = *codes <= cuts[k].last_left ? ~std::uint64_t{0} : 0;
        node.adder.add_masked(left, node.first_row + i, mask);
      }
    }
  }
}

// Moves the threshold of the best split out of the bin that it may have hit.
template <typename Score>
inline void settle_drawn_threshold(const RecordSearch<Score>& search) {
  const RecordScratch& records = search.records;
  Split& best = search.best;
  const std::size_t stride = search.stride();
  const std::uint8_t* const codes = search.first_record() + best.feature;
  const std::size_t n_rows = search.n_rows();
  const auto has_code = [&](std::uint32_t code) {
    std::size_t i = 0;
    while (i < n_rows && codes[i * stride] != code) ++i;
    return i < n_rows;
  };
  const auto last_before = [&](std::uint32_t code) {
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const std::uint32_t own = codes[i * stride];
      last = std::max(last, own <= code ? own : 0U);
    }
    return last;
  };
  const auto range = std::find_if(records.drawn.begin(), records.drawn.end(),
                                  [&](const RecordCut& c) { return c.feature == best.feature; });
  best.threshold = records.cuts[best.feature].settle(best.threshold, best.last_left, range->largest,
                                                     has_code, last_before);
  best.first_right = best.last_left + 1;
}

// Features that vary, in order: random subsets of many rows from tables where there are some,
// try_one(feature) takes the others.
template <typename Score, typename TryOne>
inline void for_each_varying(const RecordSearch<Score>& search, TryOne&& try_one) {
  using Tables = RecordTables<Score>;
  const std::span<const std::uint32_t> features = search.records.varying;
  if constexpr (Tables::kExist) {
    if (search.node.view.block->has_categories && Tables::fit(search)) {
      for_each_group(
          search, features, [&](std::uint32_t feature) { return search.node.is_category(feature); },
          [&](std::span<const std::uint32_t> group) { Tables::add(search, group); },
          [&](std::uint32_t feature, std::size_t number) {
            return try_level_cells(search, feature, Tables::at(search, number));
          },
          try_one);
      return;
    }
  }
  for (const std::uint32_t feature : features) try_one(feature);
}

template <typename Score>
inline void search_drawn_cuts(const RecordSearch<Score>& search,
                              std::span<const std::uint32_t> features) {
  using Cell = typename RecordSearch<Score>::Cell;
  const RecordScratch& records = search.records;
  SearchScratch<Score>& scratch = search.scratch;
  Split& best = search.best;
  search.check_interrupt();
  draw_cuts(search, features);
  search.check_interrupt();
  const std::size_t size = search.node.adder.cell_size();
  scratch.lefts.assign(std::max<std::size_t>(1, records.drawn.size()) * size, 0);
  scratch.right.assign(size, 0);
  add_left(search, records.drawn, scratch.lefts.data());
  std::size_t n_tried = 0;
  for_each_varying(search, [&](std::uint32_t feature) {
    if (n_tried == records.drawn.size() || records.drawn[n_tried].feature != feature) {
      return search_gathered(search, feature);
    }
    const double score_before = best.score;
    const Cell* const left = scratch.lefts.data() + n_tried * size;
    try_threshold(search.of(feature), LeftSide<Cell>{left},
                  {records.drawn[n_tried].last_left, kUnknownCode});
    if (best.score > score_before) {
      best.has_threshold = true;
      best.threshold = records.thresholds[n_tried];
    }
    ++n_tried;
  });
  if (best.exists() && best.has_threshold && best.first_right == kUnknownCode) {
    settle_drawn_threshold(search);
  }
}

}  // namespace committee
