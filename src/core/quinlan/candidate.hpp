// What a split on one feature would bring a node, after Quinlan: gain, split information, ratio.
//
// With W the weight of the cases of a node, of which K have a known value, H the entropy in bits of
// the classes of the latter, and W_b, H_b the weight and entropy of branch b:
//
//   gain               K / W * (H - sum of W_b / K * H_b)
//   split information  entropy of the branches, with the cases of unknown value as one more
//   ratio              gain / split information
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "data/binned_dataset.hpp"
#include "quinlan/quinlan_options.hpp"

namespace committee {

struct Candidate {
  std::uint32_t feature = 0;
  bool exists = false;        // false: the feature cannot split the node
  bool is_threshold = false;  // else each level, or group of levels, has a branch
  double known = 0.0;         // share of the weight whose value is known
  double entropy = 0.0;       // of the classes of these, in bits
  double gain = 0.0;          // after the correction of thresholds
  double correction = 0.0;    // what was taken off
  double split_information = 0.0;
  std::uint32_t n_branches = 0;
  // Threshold: codes on both sides of the best cut; both occur in the node.
  std::uint32_t last_left = 0;
  std::uint32_t first_right = 0;
  double threshold = 0.0;  // reported by explain_growth only
  // Levels: those that occur in the node, ascending, and the branch of each.
  std::vector<std::uint32_t> codes;
  std::vector<std::uint32_t> branch_of;

  double ratio() const { return split_information > kEpsilon ? gain / split_information : 0.0; }
};

// The cases of a node side by side, for all its features.
struct NodeCases {
  std::span<const std::uint32_t> rows;
  std::span<const double> weights;
  std::span<const std::uint32_t> classes;  // of each case
  std::size_t n_classes = 0;
  double weight = 0.0;
};

// Working memory of one thread.
struct CandidateScratch {
  std::vector<double> dense;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> codes;  // that occur, ascending
  std::vector<double> counts;        // their class weights, one row a code
};

// The best split of a node on one feature. May take long for groups of many levels; throws
// Interrupted if the monitor is stopped.
Candidate find_candidate(const BinnedFeature& feature, const NodeCases& node,
                         const QuinlanOptions& options, CandidateScratch& scratch,
                         Monitor& monitor);

// The candidate to split on, candidates.size() for none. `is_many_valued` (one a feature) marks
// features with so many levels that their gain must not raise the average.
std::size_t choose(std::span<const Candidate> candidates, const std::vector<bool>& is_many_valued,
                   const QuinlanOptions& options);

}  // namespace committee
