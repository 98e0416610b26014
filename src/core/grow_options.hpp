// The settings of a tree: which method grows is a row of these values, not a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "criterion.hpp"

namespace committee {

struct GrowOptions {
  Criterion criterion = Criterion::kGini;
  std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t max_leaf_nodes = 0;  // 0: no limit, depth-first; else best-first
  std::int64_t min_rows_split = 2;
  std::int64_t min_rows_leaf = 1;
  double min_weight_leaf = 0.0;
  double min_impurity_decrease = 0.0;
  std::uint32_t max_features = std::numeric_limits<std::uint32_t>::max();
  bool random_thresholds = false;
  bool fan_out_categories = false;
  std::vector<std::int8_t> monotonic;  // per feature -1, 0, 1; empty: none
  std::uint64_t seed = 0;
  std::size_t n_threads = 1;

  int monotonic_of(std::uint32_t feature) const {
    return monotonic.empty() ? 0 : monotonic[feature];
  }
};

}  // namespace committee
