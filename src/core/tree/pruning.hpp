// Minimal cost-complexity pruning (Breiman et al. 1984, chapter 3).
//
// With R(t) = weight share of node t times its impurity, the link strength of an inner node is
// g(t) = (R(t) - sum of R over its leaves) / (number of leaves - 1). Collapsing the weakest link
// again and again gives a nested sequence of trees, each best for a range of alpha.
#pragma once

#include <vector>

#include "tree/tree.hpp"

namespace committee {

struct PruningPath {
  std::vector<double> alphas;      // ascending effective alphas, the first is 0
  std::vector<double> impurities;  // total leaf impurity of the tree of each alpha
};

PruningPath pruning_path(const Tree& tree);

// The smallest subtree whose cost R + alpha * leaves is minimal: weakest links with strength
// <= alpha are collapsed. Nodes keep their relative order.
Tree prune(const Tree& tree, double alpha);

}  // namespace committee
