// Squared error of one target in a block of records.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "split/record_features.hpp"

namespace committee {

using SumRecords = RecordSearch<SquaredScore>;

// Starts the arrays of cuts; returns room for the codes of the node.
inline std::uint32_t* start_cuts(const SumRecords& search) {
  SearchScratch<SquaredScore>& scratch = search.scratch;
  scratch.cuts.start(search.node.score);
  scratch.present.resize(std::max(scratch.present.size(), CutArrays<SquaredScore>::kSize));
  return scratch.present.data();
}

// False where the node has missing values. Clears the table.
inline bool try_sum_table(const SumRecords& search, std::uint32_t feature, SumCell* table) {
  const CodeColumn& column = search.node.column(feature);
  const bool misses = column.has_missing && table[column.missing_code()][0] != 0;
  std::uint32_t* const present = start_cuts(search);
  auto& cuts = search.scratch.cuts;
  std::array<std::int64_t, 2> left{};
  std::size_t n_present = 0;
  for (std::uint32_t code = 0; code < column.n_values && !misses; ++code) {
    left[0] += table[code][0];
    left[1] += table[code][1];
    cuts.set(n_present, left);
    present[n_present] = code;
    n_present += table[code][0] != 0 ? 1 : 0;
  }
  std::fill_n(table, column.n_codes(), SumCell{});
  if (misses) return false;
  keep_best_cut(search.of(feature), n_present);
  return true;
}

// Few rows: sums in the order of the codes, without a table.
inline void try_sorted_sums(const SumRecords& search, std::uint32_t feature) {
  const std::size_t n_rows = search.n_rows();
  const std::uint8_t* codes = search.records.codes.data();
  alignas(32) std::array<std::uint8_t, kSmallNodeRows> order;
  sort_codes(codes, n_rows, order.data());
  std::uint32_t* const present = start_cuts(search);
  auto& cuts = search.scratch.cuts;
  const SumCell* const sums = RecordTables<SquaredScore>::of_rows(search).data();
  std::array<std::int64_t, 2> left{};
  std::size_t n_present = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::size_t row = order[i];
    left[0] += sums[row][0];
    left[1] += sums[row][1];
    cuts.set(n_present, left);
    present[n_present] = codes[row];
    // Rows of the same code write to the same place; the last of them counts.
    n_present += i + 1 == n_rows || codes[order[i + 1]] != codes[row] ? 1 : 0;
  }
  keep_best_cut(search.of(feature), n_present);
}

inline bool search_by_kernels(const SumRecords& search, std::span<const std::uint32_t> features) {
  using Tables = RecordTables<SquaredScore>;
  if (!Tables::fit(search)) return false;
  if (search.n_rows() <= kSmallNodeRows) {
    for_each_threshold(search, features,
                       [&](std::uint32_t feature) { try_sorted_sums(search, feature); });
    return true;
  }
  const auto add = [&](std::span<const std::uint32_t> group) { Tables::add(search, group); };
  for_each_table(search, features, add, [&](std::uint32_t feature, std::size_t number) {
    SumCell* const table = Tables::at(search, number);
    return search.node.is_category(feature) ? try_level_cells(search, feature, table)
                                            : try_sum_table(search, feature, table);
  });
  return true;
}

}  // namespace committee
