// Many trees in little memory.
//
// Users read statistics of every node, prediction needs those of leaves only, and those of inner
// nodes follow from the leaves below. A *compact* tree keeps the nodes and what leaves know;
// `expand` makes the full tree again when it is needed. Where inner nodes do not follow (medians,
// values clipped by monotone constraints) the tree is kept *complete*.
//
// Trees never change once they are made, and forests share them: part of a forest, or a forest
// with more trees, costs a list of pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/monitor.hpp"
#include "score/criterion.hpp"
#include "tree/tree.hpp"

namespace committee {

struct CompactTree {
  // Nodes and category data; the arrays of statistics are empty unless the tree is complete.
  Tree tree;
  // Values of leaves, each different one once (pure leaves of a class predict the same).
  std::vector<double> leaf_values;       // n_different x n_values; empty in a complete tree
  std::vector<double> leaf_weight;       // n_leaves; empty in a complete tree
  std::vector<std::uint32_t> leaf_rows;  // n_leaves; empty: weights are numbers of rows
  std::vector<double> leaf_impurity;     // n_leaves, regression; empty: all zero
  // Regression: of the nodes that are no leaves, in their order. It would follow from the leaves
  // but for the digits that their means have lost where all targets are far from zero.
  std::vector<double> inner_impurity;
  std::uint32_t n_leaves = 0;

  bool is_complete() const { return !tree.values.empty(); }
  // What leaves predict: row value_row(node) of this matrix.
  const std::vector<double>& values() const { return is_complete() ? tree.values : leaf_values; }
  std::size_t n_bytes() const;
};

// The threshold of a leaf is free: it holds the number of the leaf among the leaves of its tree
// (in the order of nodes) and the row of its values.
inline std::uint64_t pack_leaf(std::uint32_t leaf, std::uint32_t value_row) {
  return (std::uint64_t{value_row} << 32) | leaf;
}
inline std::uint32_t leaf_number(const Node& leaf) {
  return static_cast<std::uint32_t>(leaf.threshold.offset);
}
inline std::uint32_t value_row(const Node& leaf) {
  return static_cast<std::uint32_t>(leaf.threshold.offset >> 32);
}

// What the trees of a forest have in common.
struct ForestInfo {
  std::uint32_t n_features = 0;
  std::uint32_t n_values = 0;
  Criterion criterion = Criterion::kGini;
  bool is_classification = true;
  std::vector<std::uint32_t> n_classes;           // of each output; empty for regression
  std::vector<std::optional<FeatureKind>> kinds;  // nothing for a feature never split

  std::size_t n_outputs() const { return is_classification ? n_classes.size() : n_values; }
};

// Masks of leaves (leaf_masks.hpp), made when they are first worth it and kept with the forest.
class LeafMasks;
class KeptMasks {
 public:
  KeptMasks() = default;
  KeptMasks(const KeptMasks&) {}  // a copy makes its own, for it may get more trees
  KeptMasks& operator=(const KeptMasks&) {
    n_trees_.reset();
    return *this;
  }

  // The masks of the first `n_trees` trees; nothing where make() returns nothing.
  template <typename Make>
  std::shared_ptr<const LeafMasks> get(std::size_t n_trees, const Make& make) const {
    const std::scoped_lock lock(mutex_);
    if (n_trees_ != n_trees) masks_ = make();
    n_trees_ = n_trees;
    return masks_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<std::size_t> n_trees_;
  mutable std::shared_ptr<const LeafMasks> masks_;
};

struct Forest {
  ForestInfo info;
  std::vector<std::shared_ptr<const CompactTree>> trees;
  KeptMasks masks{};

  std::size_t n_trees() const { return trees.size(); }
  std::size_t n_nodes() const;
  std::size_t n_leaves() const;
  // Adds a tree and what it says about the kinds of features.
  void add(std::shared_ptr<const CompactTree> tree);
};

// Nodes are numbered depth-first with siblings side by side; other orders are changed to this one,
// unless the tree is fresh from the grower, which numbers so. `keep_all` keeps the statistics of
// all nodes.
CompactTree compact(Tree tree, const ForestInfo& info, bool keep_all, bool is_fresh = false);
// Whether such a tree has room for the numbers of rows of its leaves.
inline bool fits_compact(double n_rows) { return n_rows < 0x1.0p32; }

// The full tree: exact where weights are whole numbers and the target is a class; else values and
// weights of inner nodes may differ in the last digits from those of the grower, which saw the
// rows.
Tree expand(const CompactTree& tree, const ForestInfo& info);

// What is known of the leaves of a tree, in the order of its nodes.
struct LeafStatistics {
  std::vector<double> values;  // n_leaves x n_values
  std::vector<double> weight;
  std::vector<std::uint32_t> n_rows;  // empty: the weights
  std::vector<double> impurity;       // empty: all zero, or it follows from the values
};

// Gives the leaves of a tree, so far nodes only, their numbers and what is known of them.
void store_leaves(CompactTree& tree, LeafStatistics leaves);

// The same for a complete tree: each leaf's values are those of its node.
void number_leaves(CompactTree& tree);

// The decrease of impurity at the splits of each feature, weighted by the share of the rows'
// weight that reaches the split: n_trees x n_features.
std::vector<double> impurity_decreases(const Forest& forest, std::size_t n_threads,
                                       Monitor& monitor);

}  // namespace committee
