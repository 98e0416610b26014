// Sparse features that share a byte of the records.
//
// A row mostly has the same code in a sparse feature, the rest. Features that differ from it in
// different rows fit into one byte, a bundle: 0 where all of them have their rest, and a range of
// numbers for the other codes of each. No information is lost, and one addition serves all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/binned_dataset.hpp"

namespace committee {

struct BundledFeature {
  std::uint32_t feature;
  std::uint32_t bundle;
  std::uint32_t first;  // number of its first code that is not the rest
};

class SparseBundles {
 public:
  // Of the columns that are sparse and vary.
  SparseBundles(std::span<const CodeColumn> columns, std::size_t n_rows);

  std::span<const BundledFeature> features() const { return features_; }
  std::span<const std::vector<std::uint8_t>> bytes() const { return bytes_; }  // of each bundle

 private:
  std::vector<BundledFeature> features_;
  std::vector<std::vector<std::uint8_t>> bytes_;
};

}  // namespace committee
