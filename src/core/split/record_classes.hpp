// Many classes in a block of records, Gini, weights that count repetitions. Only the classes that
// the node still has matter, up to eight of them; each has a lane of a vector.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "split/record_binary.hpp"
#include "split/record_features.hpp"

namespace committee {

using ClassRecords = RecordSearch<ClassScore<Criterion::kGini>>;

// The classes of the node, with a lane for each; nothing where there are too many.
struct PresentClasses {
  ClassNode node;
  std::size_t n = 0;
};

inline std::optional<PresentClasses> find_classes(const ClassRecords& search) {
  PresentClasses classes;
  const std::size_t n_classes = search.node.adder.cell_size();
  search.records.lane_of_class.resize(n_classes);
  for (std::size_t i = 0; i < n_classes; ++i) {
    const std::int64_t weight = search.node.total[i];
    if (weight == 0) continue;
    if (classes.n == kClassLanes) return std::nullopt;
    classes.node.totals[classes.n] = static_cast<std::int32_t>(weight);
    search.records.lane_of_class[i] = static_cast<std::uint8_t>(classes.n++);
  }
  classes.node.total_weight = static_cast<double>(search.node.total_weight);
  classes.node.min_weight = search.node.min_weight;
  return classes;
}

inline void fill_lanes(const ClassRecords& search) {
  const std::size_t n_rows = search.n_rows();
  RecordScratch& records = search.records;
  records.lanes.resize(std::max(records.lanes.size(), n_rows));
  const std::uint32_t* slots = search.node.statistics.slots.data() + search.node.first_row;
  std::uint8_t* const lanes = records.lanes.data();
  const std::uint8_t* const lane_of_class = records.lane_of_class.data();
  for (std::size_t i = 0; i < n_rows; ++i) lanes[i] = lane_of_class[slots[i]];
}

inline const std::int64_t* weights_of_rows(const ClassRecords& search) {
  return search.node.statistics.weights.data() + search.node.first_row;
}

// Subsets of levels where two classes are left, from their table.
inline bool try_two_class_levels(const ClassRecords& search, std::uint32_t feature,
                                 std::uint64_t* table) {
  const std::int64_t* const total = search.node.total;
  const std::int64_t* const end = total + search.node.adder.cell_size();
  const auto is_present = [](std::int64_t weight) { return weight != 0; };
  const std::int64_t* const one = std::find_if(total, end, is_present);
  const auto first = static_cast<std::size_t>(one - total);
  const auto second = static_cast<std::size_t>(std::find_if(one + 1, end, is_present) - total);
  return try_level_table(search, feature, [&](std::uint32_t code, std::int64_t* cell) {
    const std::uint64_t both = table[code];
    table[code] = 0;
    cell[second] = static_cast<std::int64_t>(both >> 32);
    cell[first] = static_cast<std::int64_t>(both & 0xFFFFFFFFULL) - cell[second];
    return both != 0;
  });
}

// Two classes are left: the kernels for two classes do it.
inline void search_two_classes(const ClassRecords& search, std::span<const std::uint32_t> features,
                               const ClassNode& node) {
  const std::size_t n_rows = search.n_rows();
  RecordScratch& records = search.records;
  const std::int64_t* weights = weights_of_rows(search);
  records.packed.resize(std::max(records.packed.size(), n_rows));
  for (std::size_t i = 0; i < n_rows; ++i) {
    const auto weight = static_cast<std::uint64_t>(weights[i]);
    records.packed[i] = weight | (weight << 32 & (0 - std::uint64_t{records.lanes[i]}));
  }
  const GiniNode limits{node.total_weight, static_cast<double>(node.totals[1]), node.min_weight,
                        true};
  try_gini_cuts(search, features, std::span(records.packed).first(n_rows), limits,
                [&](std::uint32_t feature, std::uint64_t* table) {
                  return try_two_class_levels(search, feature, table);
                });
}

// False where the node has missing values. Clears the table.
inline bool try_class_table(const ClassRecords& search, std::uint32_t feature, ClassCell* table,
                            const ClassNode& node) {
  const CodeColumn& column = search.node.column(feature);
  if (column.has_missing && table[column.missing_code()] != ClassCell{}) {
    std::fill_n(table, column.n_codes(), ClassCell{});
    return false;
  }
  const ByteCut cut = best_table_class_cut(table, column.n_values, node);
  keep_byte_cut(search, feature, cut, cut.score);
  return true;
}

inline bool try_class_levels(const ClassRecords& search, std::uint32_t feature, ClassCell* table) {
  return try_level_table(search, feature, [&](std::uint32_t code, std::int64_t* cell) {
    if (table[code] == ClassCell{}) return false;
    for (std::size_t i = 0; i < search.node.adder.cell_size(); ++i) {
      if (search.node.total[i] != 0) cell[i] = table[code][search.records.lane_of_class[i]];
    }
    table[code] = ClassCell{};
    return true;
  });
}

inline void search_small_classes(const ClassRecords& search,
                                 std::span<const std::uint32_t> features, const ClassNode& node) {
  const std::size_t n_rows = search.n_rows();
  const std::uint8_t* const lanes = search.records.lanes.data();
  for_each_threshold(search, features, [&](std::uint32_t feature) {
    const std::uint8_t* const codes = search.records.codes.data();
    alignas(32) std::array<std::uint8_t, kSmallNodeRows> order;
    sort_codes(codes, n_rows, order.data());
    const std::span<const std::uint8_t> ordered = std::span(order).first(n_rows);
    const ByteCut cut = best_sorted_class_cut(ordered, codes, lanes, weights_of_rows(search), node);
    keep_byte_cut(search, feature, cut, cut.score);
  });
}

inline bool search_by_kernels(const ClassRecords& search, std::span<const std::uint32_t> features) {
  if (!search.node.data.entries.weights_are_repetitions || search.node.statistics.n_outputs != 1) {
    return false;
  }
  const std::optional<PresentClasses> classes = find_classes(search);
  if (!classes) return false;
  const ClassNode& node = classes->node;
  fill_lanes(search);
  if (classes->n == 2) {
    search_two_classes(search, features, node);
    return true;
  }
  if (search.n_rows() <= kSmallNodeRows) {
    search_small_classes(search, features, node);
    return true;
  }
  RecordScratch& records = search.records;
  const auto add = [&](std::span<const std::uint32_t> group) {
    add_class_records(search.first_record(), search.stride(), search.n_rows(), records.lanes.data(),
                      weights_of_rows(search), group, records.class_tables.data());
  };
  for_each_table(search, features, add, [&](std::uint32_t feature, std::size_t number) {
    ClassCell* const table = records.class_tables.data() + number * kByteCodes;
    return search.node.is_category(feature) ? try_class_levels(search, feature, table)
                                            : try_class_table(search, feature, table, node);
  });
  return true;
}

}  // namespace committee
