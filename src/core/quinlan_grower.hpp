// Grows trees after Quinlan: ID3 and C4.5.
//
// They have a grower of their own because two things differ from all other trees: the split of a
// node is chosen among the candidates of all its features together (gain ratio among those of at
// least average gain), and a row may be in several nodes at once (see cases.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "binned_dataset.hpp"
#include "candidate.hpp"
#include "monitor.hpp"
#include "quinlan_options.hpp"
#include "target.hpp"
#include "tree.hpp"

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
  double subtree_estimate = 0.0;      // and of the subtree below it when that was judged
  std::uint32_t chosen = 0;           // which of the candidates splits, or did before pruning
  std::vector<Candidate> candidates;  // empty unless asked for
};

struct QuinlanTree {
  Tree tree;
  std::vector<NodeGrowth> growth;  // one a node of the tree; empty unless asked for
};

// The same tree for any number of threads. `target` is one output of classes.
QuinlanTree grow_quinlan(const BinnedDataset& dataset, const Target& target, const Entries& entries,
                         const QuinlanOptions& options, Monitor& monitor);

}  // namespace committee
