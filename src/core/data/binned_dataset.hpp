// The table as the engine sees it: one small integer, a *code*, for each cell.
//
// Codes of a feature keep the order of its values: 0 ... n_values - 1, then the missing code
// n_values. Real and integer features are binned (several neighbouring values share a code, at
// most 255 bins chosen by weighted quantiles) or exact (each distinct value has its own code).
// A category's code is its level number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "data/column.hpp"
#include "data/sparse_codes.hpp"

namespace committee {

constexpr std::uint32_t kMaxBins = 255;

// A view on the codes of one feature for a set of rows; bytes per code: 1, 2 or 4. Codes lie side
// by side, unless they are part of records (see block.hpp), a stride of bytes apart. Boosting
// leaves the codes of sparse columns as they are: `codes` is null then.
struct CodeColumn {
  const void* codes = nullptr;
  const SparseCodes* sparse = nullptr;
  std::uint8_t width = 1;
  bool has_missing = false;
  std::uint32_t n_values = 0;
  std::uint32_t stride = 0;  // of records; 0: side by side

  std::uint32_t n_codes() const { return n_values + (has_missing ? 1U : 0U); }
  std::uint32_t missing_code() const { return n_values; }
  std::uint32_t at(std::size_t row) const {
    if (stride != 0) return static_cast<const std::uint8_t*>(codes)[row * stride];
    if (sparse != nullptr) return sparse->at(row);
    if (width == 1) return static_cast<const std::uint8_t*>(codes)[row];
    if (width == 2) return static_cast<const std::uint16_t*>(codes)[row];
    return static_cast<const std::uint32_t*>(codes)[row];
  }
};

// Calls visit(pointer to the codes as their integer type); not for records and sparse codes.
template <typename Visit>
decltype(auto) visit_codes(const CodeColumn& column, Visit&& visit) {
  if (column.width == 1) return visit(static_cast<const std::uint8_t*>(column.codes));
  if (column.width == 2) return visit(static_cast<const std::uint16_t*>(column.codes));
  return visit(static_cast<const std::uint32_t*>(column.codes));
}

// Bytes per code that `n_codes` different codes need.
inline std::uint8_t code_width(std::size_t n_codes) {
  return n_codes <= 256 ? 1 : (n_codes <= 65536 ? 2 : 4);
}

struct BinningOptions {
  std::uint32_t max_bins = kMaxBins;
  bool exact = false;
  std::size_t n_threads = 1;
  bool spread = true;  // whether binned codes of sparse columns are written for every row
};

struct BinnedFeature {
  FeatureKind kind = FeatureKind::kReal;
  CodeColumn column;
  std::unique_ptr<std::byte[]> storage;  // what column.codes points to
  std::unique_ptr<SparseCodes> sparse;   // what column.sparse points to
  std::vector<Value> low;                // binned: smallest and largest value of each bin;
  std::vector<Value> high;               // exact: empty, the table itself is read
};

class BinnedDataset {
 public:
  // Bins the columns of `table`. `weights` (empty: all one) decide the quantiles; rows of weight
  // zero are given a code but have no say. `n_levels` has one entry a feature, used for
  // categories. An exact dataset reads values back from `table`, which has to stay alive.
  BinnedDataset(const TableView& table, std::span<const double> weights,
                std::span<const std::uint32_t> n_levels, const BinningOptions& options,
                Monitor& monitor);
  // Some rows of another dataset, by its codes. `table` shows the same rows.
  BinnedDataset(const BinnedDataset& whole, const TableView& table,
                std::span<const std::uint32_t> rows, std::size_t n_threads);
  BinnedDataset(BinnedDataset&&) = default;
  BinnedDataset(const BinnedDataset&) = delete;

  const TableView& table() const { return table_; }
  std::size_t n_rows() const { return table_.n_rows; }
  std::size_t n_features() const { return features_.size(); }
  const BinnedFeature& feature(std::size_t index) const { return features_[index]; }

  // The smallest and the largest value with the same code as `row`, whose value is not missing.
  Value low(std::size_t feature, std::size_t row) const;
  Value high(std::size_t feature, std::size_t row) const;
  // The same for a code of a binned feature.
  Value low_of_code(std::size_t feature, std::uint32_t code) const {
    return features_[feature].low[code];
  }
  Value high_of_code(std::size_t feature, std::uint32_t code) const {
    return features_[feature].high[code];
  }

 private:
  Value value(std::size_t feature, std::size_t row) const;

  TableView table_;
  std::vector<BinnedFeature> features_;
};

}  // namespace committee
