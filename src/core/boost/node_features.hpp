// The features that a node of a boosted tree may be split on: drawn for the tree, of these for the
// level, of these for the node, and limited to groups of features that may meet on a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boost/boost_options.hpp"
#include "data/byte_columns.hpp"

namespace committee {

class NodeFeatures {
 public:
  // Draws the features of a tree from the first `n_features` that have at least two codes.
  NodeFeatures(const ByteColumns& columns, std::size_t n_features, const BoostOptions& options,
               std::uint64_t seed);

  // Those of node `index` of the tree, in ascending order; `path` has the features of the splits
  // above it. Depends on the seed and the arguments only.
  std::vector<std::uint32_t> of_node(std::uint32_t index, std::uint32_t depth,
                                     std::span<const std::uint32_t> path) const;

 private:
  bool may_join(std::span<const std::uint32_t> path, std::uint32_t feature) const;

  const BoostOptions& options_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> tree_features_;
};

}  // namespace committee
