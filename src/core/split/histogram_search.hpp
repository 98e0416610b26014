// The search of a feature on statistics by code: the rows of the node are added up by code, then
// the codes are scanned. Many classes are searched otherwise, see class_search.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "split/class_search.hpp"
#include "split/code_set.hpp"
#include "split/level_search.hpp"
#include "split/node_search.hpp"
#include "split/threshold_search.hpp"

namespace committee {

// Calls visit(row of the block, its code) for the rows of the node.
template <typename Score, typename Code, typename Visit>
inline void for_each_row(const NodeSearch<Score>& node, const Code* codes, Visit&& visit) {
  if (node.view.block->has_records()) {  // gathered: side by side
    const std::size_t n_rows = node.view.rows.size();
    for (std::size_t i = 0; i < n_rows; ++i) visit(node.first_row + i, codes[i]);
  } else {
    for (const std::uint32_t row : node.view.rows) visit(row, codes[row]);
  }
}

// Adds the rows up by code; returns the codes that occur where a set can hold them.
template <typename Score, typename Code>
inline CodeSet add_up(const FeatureSearch<Score>& search, const Code* codes, bool needs_example) {
  const NodeSearch<Score>& node = search.node;
  const auto& adder = node.adder;
  SearchScratch<Score>& scratch = search.scratch;
  auto* const cells = scratch.cells.data();
  const std::size_t size = adder.cell_size();
  CodeSet present;
  if (search.column.n_codes() <= 64) {
    std::uint64_t mask = 0;
    for_each_row(node, codes, [&](std::size_t row, Code code) {
      mask |= std::uint64_t{1} << code;
      adder.add(cells + code * size, row);
    });
    present = CodeSet(mask);
  } else if (CodeSet::can_hold(search.column.n_codes(), node.view.rows.size())) {
    std::uint8_t* const marks = scratch.marks.data();
    for_each_row(node, codes, [&](std::size_t row, Code code) {
      marks[code] = 1;
      adder.add(cells + code * size, row);
    });
    present = CodeSet(scratch.marks);
  } else {
    for_each_row(node, codes,
                 [&](std::size_t row, Code code) { adder.add(cells + code * size, row); });
  }
  if (node.counts_rows) {
    for_each_row(node, codes, [&](std::size_t row, Code code) {
      scratch.counts[code] += node.statistics.repetitions[row];
    });
  }
  if (needs_example) {
    scratch.example.resize(std::max<std::size_t>(scratch.example.size(), search.column.n_codes()));
    for_each_row(node, codes, [&](std::size_t row, Code code) {
      scratch.example[code] = static_cast<std::uint32_t>(row);
    });
  }
  return present;
}

template <typename Score>
inline void search_histogram(const FeatureSearch<Score>& search) {
  const NodeSearch<Score>& node = search.node;
  SearchScratch<Score>& scratch = search.scratch;
  const std::size_t size = node.adder.cell_size();
  const std::size_t n_codes = search.column.n_codes();
  const bool is_category = node.is_category(search.feature);
  const bool is_random_threshold = node.options.random_thresholds && !is_category;
  if constexpr (ClassesOf<Score>::kCanGrow) {
    if (!is_category && !is_random_threshold && has_many_classes(search)) {
      search_classes(search);
      return;
    }
  }
  if (scratch.cells.size() < n_codes * size) scratch.cells.resize(n_codes * size);
  if (node.counts_rows && scratch.counts.size() < n_codes) scratch.counts.resize(n_codes);
  scratch.left.assign(size, 0);
  scratch.right.assign(size, 0);
  const CodeSet codes = visit_codes(
      search.column, [&](const auto* each) { return add_up(search, each, is_random_threshold); });
  if (!is_category && !is_random_threshold) {
    try_thresholds(search, codes);
    return;  // clears the cells as it goes
  }
  list_present(search, codes);
  if (is_category) {
    try_levels(search);
  } else {
    try_random_threshold(search);
  }
  for (const std::uint32_t code : scratch.present) search.clear(code);
}

}  // namespace committee
