// The nodes of a tree after Quinlan while it is grown: their splits, how cases divide among their
// branches, and the finished tree.
//
// A split that a node has got from a branch of its own (see quinlan_grower.cpp) was found on fewer
// cases than it divides now. Then values may lie in the gap of a threshold, and levels turn up that
// have no branch yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/binned_dataset.hpp"
#include "data/target.hpp"
#include "quinlan/candidate.hpp"
#include "quinlan/cases.hpp"
#include "quinlan/pessimistic_error.hpp"
#include "tree/tree.hpp"

namespace committee {

// Why a node is what it is.
enum class Outcome : std::uint8_t {
  kSplit = 0,
  kPure = 1,         // one class
  kSmall = 2,        // too few cases, or deep enough
  kNoCandidate = 3,  // no feature can split it
  kCollapsed = 4,    // the subtree made no fewer errors in training
  kPruned = 5,       // the subtree was expected to make no fewer errors
  kRaised = 6,       // replaced by its heaviest branch, whose split it has now
};

struct NodeGrowth {
  Outcome outcome = Outcome::kSplit;
  double leaf_estimate = 0.0;         // errors to expect of the node as a leaf,
  double subtree_estimate = 0.0;      // and of the subtree below it when it was pruned
  std::uint32_t chosen = 0;           // which of the candidates splits, or did before pruning
  std::vector<Candidate> candidates;  // empty unless wanted
};

struct QuinlanTree {
  Tree tree;
  std::vector<NodeGrowth> growth;  // one a node of the tree; empty unless wanted
};

struct BuildNode {
  bool has_split = false;
  bool is_threshold = false;
  std::uint32_t feature = 0;
  // Threshold: the last code that goes left and the first that goes right, of the cases it was
  // found on.
  std::uint32_t last_left = 0;
  std::uint32_t first_right = 0;
  Value threshold{.real = 0.0};
  std::vector<std::uint32_t> codes;  // levels, ascending, and the branch of each
  std::vector<std::uint32_t> branch_of;
  std::vector<std::uint32_t> children;
  double weight = 0.0;
  std::int64_t n_rows = 0;
  double leaf_errors = 0.0;   // in training, of the node as a leaf,
  double grown_errors = 0.0;  // and of the subtree before pruning
  double estimate = 0.0;      // errors to expect of the subtree after pruning
  NodeGrowth growth;
};

// The branch of each level of a node.
struct Levels {
  std::vector<std::uint32_t> codes;  // ascending
  std::vector<std::uint32_t> branch_of;
  std::size_t n_branches = 0;
};

class QuinlanNodes {
 public:
  QuinlanNodes(const BinnedDataset& dataset, const Target& target, const Entries& entries);

  std::size_t n_classes() const { return n_classes_; }
  BuildNode& operator[](std::uint32_t node) { return nodes_[node]; }
  const BuildNode& operator[](std::uint32_t node) const { return nodes_[node]; }
  std::span<double> class_weights(std::uint32_t node) {
    return std::span(class_weights_).subspan(node * n_classes_, n_classes_);
  }
  std::span<const double> class_weights(std::uint32_t node) const {
    return std::span(class_weights_).subspan(node * n_classes_, n_classes_);
  }
  std::uint32_t class_of(std::uint32_t row) const {
    return static_cast<std::uint32_t>(target_.classes[row]);
  }
  const CodeColumn& column_of(std::uint32_t feature) const {
    return dataset_.feature(feature).column;
  }

  std::uint32_t add();  // references to nodes end here
  // The classes of a node that has these cases, and the errors of the node as a leaf.
  void count(std::uint32_t index, const Cases& cases, const PessimisticError& error);
  // Splits a node, with new children.
  void take(std::uint32_t index, const Candidate& candidate);
  // The cases of each branch. If the split was found on others, it takes in their values: may add
  // children.
  std::vector<Cases> divide(std::uint32_t index, const Cases& cases, bool is_split_given);
  // The same without a change of the node: cases of levels without a branch come after the others.
  std::vector<Cases> branches_of(const BuildNode& node, const Cases& cases) const;
  std::uint32_t heaviest_child(const BuildNode& node) const;
  // Gives a node the split and the children of one of its children.
  void raise(std::uint32_t index, std::uint32_t child);
  // The middle between the values of the cases on both sides of a cut.
  Value threshold_of(std::uint32_t feature, std::uint32_t last_left, const Cases& cases) const;
  // The tree below node 0, without the nodes that pruning has cut off. `unit` is the weight of a
  // case in the user's weights.
  QuinlanTree assemble(double unit, bool records);

 private:
  std::vector<Cases> divide_in_two(const BuildNode& node, const Cases& cases) const;
  std::uint32_t last_left_of(const BuildNode& node, const Cases& cases) const;
  void settle_threshold(BuildNode& node, const Cases& cases) const;
  Levels levels_with(const BuildNode& node, const Cases& cases) const;
  void add_levels(std::uint32_t index, const Cases& cases);
  std::vector<Cases> distribute_levels(std::uint32_t feature, const Levels& levels,
                                       const Cases& cases) const;
  void write_split(const BuildNode& node, Tree& tree, std::uint32_t number) const;

  const BinnedDataset& dataset_;
  const Target& target_;
  std::size_t n_classes_;
  std::vector<std::uint32_t> repetitions_;  // by row; empty: one each
  std::vector<BuildNode> nodes_;
  std::vector<double> class_weights_;  // one row a node
};

}  // namespace committee
