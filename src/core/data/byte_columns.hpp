// The codes of a dataset as bytes, feature by feature.
//
// Codes of binned features fit a byte anyway; those of exact features may not, and stay wide. A
// category with more levels keeps those that weigh most apart; all others share one code, and so
// always go the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/binned_dataset.hpp"

namespace committee {

// The codes of one feature for each row; those of a sparse one are written out.
class FeatureCodes {
 public:
  FeatureCodes(const CodeColumn& column, std::size_t n_rows)
      : codes_(static_cast<const std::uint8_t*>(column.codes)) {
    if (column.sparse == nullptr) return;
    own_ = std::make_unique_for_overwrite<std::uint8_t[]>(n_rows);
    column.sparse->spread({own_.get(), n_rows});
    codes_ = own_.get();
  }
  const std::uint8_t* get() const { return codes_; }
  std::uint8_t operator[](std::size_t row) const { return codes_[row]; }

 private:
  std::unique_ptr<std::uint8_t[]> own_;
  const std::uint8_t* codes_;
};

class ByteColumns {
 public:
  // `weights` has one entry a row.
  ByteColumns(const BinnedDataset& dataset, std::span<const double> weights);

  std::size_t size() const { return columns_.size(); }
  const CodeColumn& column(std::size_t feature) const { return columns_[feature]; }
  std::span<const CodeColumn> all() const { return columns_; }
  // Of a feature that is not wide.
  FeatureCodes codes(std::size_t feature) const { return {columns_[feature], n_rows_}; }
  // The code of a level.
  std::uint32_t code_of_level(std::size_t feature, std::uint32_t level) const {
    return maps_[feature].empty() ? level : maps_[feature][level];
  }

 private:
  void share_codes(const CodeColumn& levels, std::span<const double> weights, std::size_t feature);

  std::size_t n_rows_;
  std::vector<CodeColumn> columns_;
  std::vector<std::vector<std::uint8_t>> maps_;       // code of each level; empty: the level itself
  std::vector<std::unique_ptr<std::uint8_t[]>> own_;  // codes that are not the dataset's
};

}  // namespace committee
