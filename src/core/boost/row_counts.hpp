// How many rows of each code a node has, for the features whose best split may have too few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boost/gradient_histogram.hpp"
#include "boost/node_rows.hpp"
#include "data/binned_dataset.hpp"

namespace committee {

class RowCounts {
 public:
  RowCounts(const NodeRows& rows, const NodeRange& range, std::size_t n_table_rows)
      : rows_(rows), range_(range), n_table_rows_(n_table_rows) {}

  // Repetitions included.
  std::vector<std::uint32_t> by_code(const CodeColumn& column) {
    std::vector<std::uint32_t> counts(kGradientCells, 0);
    if (column.sparse == nullptr) {
      const auto* const codes = static_cast<const std::uint8_t*>(column.codes);
      rows_.for_each(range_, [&](std::size_t row, std::uint32_t n) { counts[codes[row]] += n; });
      return counts;
    }
    if (of_row_.empty()) look_up();
    const SparseCodes& sparse = *column.sparse;
    std::uint32_t n_stored = 0;
    for (std::size_t i = 0; i < sparse.rows.size(); ++i) {
      const std::uint32_t n = of_row_[static_cast<std::size_t>(sparse.rows[i])];
      counts[sparse.codes[i]] += n;
      n_stored += n;
    }
    counts[sparse.rest] += total_ - n_stored;
    return counts;
  }

 private:
  // Once for all sparse features of the node: few of their rows are stored.
  void look_up() {
    of_row_.assign(n_table_rows_, 0);
    rows_.for_each(range_, [&](std::size_t row, std::uint32_t n) {
      of_row_[row] = n;
      total_ += n;
    });
  }

  const NodeRows& rows_;
  const NodeRange& range_;
  std::size_t n_table_rows_;
  std::vector<std::uint32_t> of_row_;  // 0: not in the node
  std::uint32_t total_ = 0;
};

}  // namespace committee
