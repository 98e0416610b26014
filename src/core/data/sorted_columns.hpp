// The rows of a table in the order of each feature: exact splits without histograms.
//
// Rows are sorted once for each feature by code, missing values last. The rows of an open node lie
// side by side in every list, at the same places; splitting a node divides all lists and keeps
// their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "data/binned_dataset.hpp"

namespace committee {

// A row with its code, so that a pass over a list need not look for it.
struct SortedRow {
  std::uint32_t row = 0;
  std::uint32_t code = 0;
};

// The rows in the order of a column, those with the same code in their own order.
std::vector<SortedRow> sort_rows(const CodeColumn& column, std::size_t n_rows);

class SortedColumns {
 public:
  // Categories and constant features have no list.
  SortedColumns(const BinnedDataset& dataset, std::size_t n_threads);

  // Starts a tree with the rows marked by 1.
  void start(std::span<const std::uint8_t> is_used, std::size_t n_threads, Monitor& monitor);
  bool has(std::size_t feature) const { return !all_[feature].empty(); }
  std::span<const SortedRow> rows(std::size_t feature, std::size_t begin, std::size_t end) const {
    return std::span(lists_[feature]).subspan(begin, end - begin);
  }
  // Sends the rows at begin ... end - 1 of every list to their sides: left ones are marked by 1.
  void divide(std::size_t begin, std::size_t end, std::span<const std::uint8_t> is_left,
              std::size_t n_threads, Monitor& monitor);

 private:
  std::vector<std::vector<SortedRow>> all_;    // of the table
  std::vector<std::vector<SortedRow>> lists_;  // of this tree
  std::vector<std::vector<SortedRow>> scratch_;
};

}  // namespace committee
