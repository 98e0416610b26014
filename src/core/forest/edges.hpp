// A tree as a list of edges in the order of a depth-first walk, ready to be explained; see
// contributions.hpp for the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/forest.hpp"

namespace committee {

// From a node to one of its children. The edges on the way from the root have levels 1, 2, ...
struct Edge {
  double share;  // of the weight of the node that takes this edge
  double z;      // product of the shares of the edges of this feature, from the root to here
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t child;  // the number of `to` among its siblings
  std::uint32_t feature;
  std::uint32_t level;
  std::uint32_t previous;  // level of the last edge above that splits on the same feature; 0: none
  std::uint32_t leaf;      // row of leaf_values, or kNoLeaf

  static constexpr std::uint32_t kNoLeaf = 0xFFFFFFFFU;
  bool is_leaf() const { return leaf != kNoLeaf; }
};

struct EdgeList {
  const Tree* tree = nullptr;
  std::vector<Edge> edges;          // a node's edges right after the one that leads to it, in turn
  std::vector<double> leaf_values;  // weighted differences to the mean, n_leaves x n_values
  std::vector<double> mean;         // weighted expectation with no feature known
  std::uint32_t n_levels = 1;       // with level 0, the root
  std::uint32_t n_features = 0;     // the most features on the way to a leaf
};

// `values` are those of value rows of the tree (see forest.hpp); all of them are multiplied by
// `weight`. Only weights of leaves are read: inner nodes have the sum of what is below, so that
// shares add up to one whatever a file says.
EdgeList list_edges(const CompactTree& tree, std::span<const double> values, double weight);

}  // namespace committee
