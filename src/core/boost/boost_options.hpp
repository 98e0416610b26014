// The settings of boosted trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace committee {

// Which open node is split next: the one with the largest gain, the shallowest, or the one opened
// last.
enum class Growth : std::uint8_t { kBestFirst, kLevelWise, kDepthFirst };

struct BoostOptions {
  std::uint32_t max_leaf_nodes = 31;  // 0: no limit
  std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
  std::int64_t min_rows_split = 2;
  std::int64_t min_rows_leaf = 1;
  double min_child_weight = 0.0;  // least sum of hessians
  double l1 = 0.0;
  double l2 = 0.0;
  double min_gain = 0.0;
  Growth growth = Growth::kBestFirst;
  // How many features are drawn for each tree, of these for each level, of these for each node.
  std::uint32_t features_per_tree = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t features_per_level = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t features_per_node = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::int8_t> monotonic;                    // per feature -1, 0, 1; empty: none
  std::vector<std::vector<std::uint32_t>> interactions;  // features that may meet; empty: all
  double category_smoothing = 10.0;  // hessian added to a level before levels are ordered
  std::size_t n_threads = 1;

  int monotonic_of(std::uint32_t feature) const {
    return monotonic.empty() ? 0 : monotonic[feature];
  }
};

}  // namespace committee
