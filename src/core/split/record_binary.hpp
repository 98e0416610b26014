// Two classes in a block of records. Gini has kernels that find the best cut of a feature (see
// record_kernels.hpp); the cuts of other criteria are scored one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "split/record_features.hpp"

namespace committee {

template <typename Score>
inline void keep_gini_cut(const RecordSearch<Score>& search, std::uint32_t feature,
                          const ByteCut& cut, const GiniNode& limits) {
  keep_byte_cut(search, feature, cut,
                limits.sums_squares
                    ? cut.score
                    : gini_score(cut.score, limits.total_weight, limits.total_ones));
}

// The smallest code of the node above `code`.
template <typename Score>
inline std::uint32_t code_after(const RecordSearch<Score>& search, std::uint32_t feature,
                                std::uint32_t code) {
  const std::size_t stride = search.stride();
  const std::uint8_t* codes = search.first_record() + feature;
  std::uint32_t after = kNoCode;
  for (std::size_t i = 0; i < search.n_rows(); ++i, codes += stride) {
    const std::uint32_t other = *codes;
    after = std::min(after, other > code ? other : kNoCode);
  }
  return after;
}

// Few rows.
template <typename Score>
inline void try_small_gini_cuts(const RecordSearch<Score>& search,
                                std::span<const std::uint32_t> features,
                                std::span<const std::uint64_t> packed, const GiniNode& limits) {
  RecordScratch& records = search.records;
  Split& best = search.best;
  fill_small_node(records.small, packed);
  for_each_threshold(search, features, [&](std::uint32_t feature) {
    GiniNode beyond = limits;
    beyond.best_score = best.score;
    ByteCut cut = best_small_gini_cut(records.small, records.codes.data(), beyond);
    cut.first_right = kUnknownCode;
    keep_gini_cut(search, feature, cut, limits);
  });
  if (best.exists() && best.first_right == kUnknownCode) {
    best.first_right = code_after(search, best.feature, best.last_left);
  }
}

// Gini of two classes, which may be what is left of many; `packed` is what each row adds.
// try_levels(feature, table) tries the subsets of levels and clears the table.
template <typename Score, typename TryLevels>
inline void try_gini_cuts(const RecordSearch<Score>& search,
                          std::span<const std::uint32_t> features,
                          std::span<const std::uint64_t> packed, const GiniNode& limits,
                          TryLevels&& try_level_subsets) {
  if (packed.size() <= kSmallNodeRows && search.node.total_weight <= kSmallNodeWeight) {
    return try_small_gini_cuts(search, features, packed, limits);
  }
  const auto add = [&](std::span<const std::uint32_t> group) {
    add_records(search.first_record(), search.stride(), packed, group,
                search.records.tables.data());
  };
  const auto try_table = [&](std::uint32_t feature, std::size_t number) {
    std::uint64_t* const table = search.records.tables.data() + number * kTableCells;
    if (search.node.is_category(feature)) return try_level_subsets(feature, table);
    const CodeColumn& column = search.node.column(feature);
    if (column.has_missing && table[column.missing_code()] != 0) {
      std::fill_n(table, column.n_codes(), std::uint64_t{0});
      return false;
    }
    keep_gini_cut(search, feature, best_table_gini_cut(table, column.n_values, limits), limits);
    return true;
  };
  for_each_table(search, features, add, try_table);
}

inline bool search_by_kernels(const RecordSearch<BinaryScore<Criterion::kGini>>& search,
                              std::span<const std::uint32_t> features) {
  using Tables = RecordTables<BinaryScore<Criterion::kGini>>;
  const auto& score = search.node.score;
  const GiniNode limits{score.total_weight(), score.total_ones(), search.node.min_weight, false};
  try_gini_cuts(search, features, Tables::of_rows(search), limits,
                [&](std::uint32_t feature, std::uint64_t* table) {
                  return try_level_cells(search, feature, table);
                });
  return true;
}

// Few rows: cuts in the order of the codes.
template <Criterion kCriterion>
inline void try_sorted_cuts(const RecordSearch<BinaryScore<kCriterion>>& search,
                            std::uint32_t feature, std::span<const std::uint64_t> packed) {
  const FeatureSearch one = search.of(feature);
  const std::uint8_t* codes = search.records.codes.data();
  alignas(32) std::array<std::uint8_t, kSmallNodeRows> order;
  sort_codes(codes, packed.size(), order.data());
  std::uint64_t left = 0;
  for (std::size_t i = 0; i + 1 < packed.size(); ++i) {
    left += packed[order[i]];
    const std::uint8_t code = codes[order[i]];
    const std::uint8_t next = codes[order[i + 1]];
    if (next != code) try_threshold(one, LeftSide{&left}, {code, next});
  }
}

// False where the node has missing values. Clears the table.
template <Criterion kCriterion>
inline bool try_table_cuts(const RecordSearch<BinaryScore<kCriterion>>& search,
                           std::uint32_t feature, std::uint64_t* table) {
  const FeatureSearch one = search.of(feature);
  const CodeColumn& column = one.column;
  const bool misses = column.has_missing && table[column.missing_code()] != 0;
  std::uint64_t left = 0;
  std::uint32_t previous = kNoCode;
  for (std::uint32_t code = 0; code < column.n_values && !misses; ++code) {
    if (table[code] == 0) continue;
    if (previous != kNoCode) try_threshold(one, LeftSide{&left}, {previous, code});
    left += table[code];
    previous = code;
  }
  std::fill_n(table, column.n_codes(), std::uint64_t{0});
  return !misses;
}

// Entropy or error.
template <Criterion kCriterion>
inline bool search_by_kernels(const RecordSearch<BinaryScore<kCriterion>>& search,
                              std::span<const std::uint32_t> features) {
  using Tables = RecordTables<BinaryScore<kCriterion>>;
  search.scratch.right.assign(1, 0);
  if (search.n_rows() <= kSmallNodeRows) {
    for_each_threshold(search, features, [&](std::uint32_t feature) {
      try_sorted_cuts(search, feature, Tables::of_rows(search));
    });
    return true;
  }
  const auto add = [&](std::span<const std::uint32_t> group) { Tables::add(search, group); };
  for_each_table(search, features, add, [&](std::uint32_t feature, std::size_t number) {
    std::uint64_t* const table = Tables::at(search, number);
    return search.node.is_category(feature) ? try_level_cells(search, feature, table)
                                            : try_table_cuts(search, feature, table);
  });
  return true;
}

}  // namespace committee
