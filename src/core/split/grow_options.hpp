// The settings of a tree: which method grows is a row of these values, not a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "score/criterion.hpp"

namespace committee {

// Sums of weights such as 0.1 are not exact: a leaf may miss its least weight by this share.
constexpr double kWeightSlack = 1e-12;

struct GrowOptions {
  Criterion criterion = Criterion::kGini;
  std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t max_leaf_nodes = 0;  // 0: no limit, depth-first; else best-first
  std::int64_t min_rows_split = 2;
  std::int64_t min_rows_leaf = 1;
  double min_weight_leaf = 0.0;
  double min_impurity_decrease = 0.0;
  std::uint32_t max_features = std::numeric_limits<std::uint32_t>::max();
  // Whether a drawn feature that is constant in the node counts as one of max_features.
  bool count_constant = true;
  // Whether features are looked at in drawn order even if a node looks at all of them. The first
  // of equal splits is kept: in nodes of a few rows most features split equally well, and trees
  // that all prefer the first column are alike.
  bool shuffle_features = false;
  std::vector<std::uint32_t> allowed;  // features the tree may use, ascending; empty: all
  bool random_thresholds = false;
  bool fan_out_categories = false;
  // Category subsets are ranked by their gain less the price of their levels, see level_price.
  double level_penalty = 0.0;
  std::vector<std::int8_t> monotonic;  // per feature -1, 0, 1; empty: none
  std::uint64_t seed = 0;
  std::size_t n_threads = 1;
  // Classes: what users read of nodes is filled in for leaves only; what is known of the other
  // nodes follows from these (forest.hpp). Impurities are zero. Not for monotone trees.
  bool leaves_only = false;

  int monotonic_of(std::uint32_t feature) const {
    return monotonic.empty() ? 0 : monotonic[feature];
  }
};

// What the levels of a category cost a subset split when it is compared with other splits.
//
// Each level can be sent to either side, so a category with a level for every few rows would win
// every node by chance alone. As in Akaike's criterion each level, beyond the two that any split
// needs, is a parameter and has to earn `penalty` times the impurity of an average row (Akaike's
// price is 2). `impurity` is the total of the node.
inline double level_price(double penalty, double impurity, double n_rows, std::size_t n_levels) {
  return penalty * (impurity / n_rows) * static_cast<double>(n_levels - 2);
}

}  // namespace committee
