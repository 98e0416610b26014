// The grow loop. Nodes are entered on the way down and finished on the way up: when the last
// branch of a node is done, its cases are still at hand, and the node is pruned: kept, made a leaf,
// or replaced by its heaviest branch. A replaced node is entered again with the split it has got,
// so that the cases of its former other branches find their places and pruning starts anew.
#include "quinlan/quinlan_grower.hpp"

#include <algorithm>
#include <numeric>

#include "base/thread_pool.hpp"
#include "quinlan/cases.hpp"
#include "quinlan/raised_errors.hpp"

namespace committee {
namespace {

// Below this many cells (cases times features) a node is searched by one thread.
constexpr std::size_t kParallelCells = std::size_t{1} << 15;
// Pruning takes a subtree for no better than a leaf if it saves less than this many errors.
constexpr double kPruneSlack = 0.1;

// A node on the way from the root to where the grower is.
struct Frame {
  std::uint32_t node = 0;
  std::uint32_t depth = 0;
  bool is_settled = false;  // splits and leaves are given; nothing is searched
  Cases cases;
  bool is_entered = false;
  std::vector<Cases> branches;
  std::size_t next = 0;
};

class QuinlanGrower {
 public:
  QuinlanGrower(const BinnedDataset& dataset, const Target& target, const Entries& entries,
                const QuinlanOptions& options, Monitor& monitor)
      : dataset_(dataset), options_(options), monitor_(monitor), nodes_(dataset, target, entries) {
    unit_ = case_unit(entries);
    root_ = make_cases(entries, unit_);
    for (std::size_t feature = 0; feature < dataset.n_features(); ++feature) {
      has_missing_ = has_missing_ || dataset.feature(feature).column.has_missing;
    }
    mark_many_valued();
  }

  QuinlanTree grow() {
    std::vector<Frame> stack;
    stack.push_back({nodes_.add(), 0, false, std::move(root_), false, {}, 0});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (!frame.is_entered) {
        monitor_.check();
        enter(frame);
      }
      if (frame.next < frame.branches.size()) {
        const std::uint32_t child = nodes_[frame.node].children[frame.next];
        Cases cases = std::move(frame.branches[frame.next++]);
        const std::uint32_t depth = frame.depth + 1;
        const bool is_settled = frame.is_settled;
        stack.push_back({child, depth, is_settled, std::move(cases), false, {}, 0});
        continue;
      }
      if (nodes_[frame.node].has_split && finish(frame)) continue;  // entered again
      stack.pop_back();
    }
    return nodes_.assemble(unit_, options_.records);
  }

 private:
  // C4.5 keeps features with a level for every third case out of the average gain, unless all are
  // like that.
  void mark_many_valued() {
    const double n_cases = std::accumulate(root_.weights.begin(), root_.weights.end(), 0.0);
    is_many_valued_.resize(dataset_.n_features(), false);
    for (std::uint32_t feature = 0; feature < dataset_.n_features(); ++feature) {
      if (dataset_.feature(feature).kind != FeatureKind::kCategory) continue;
      const CodeColumn& column = nodes_.column_of(feature);
      std::vector<bool> occurs(column.n_codes(), false);
      for (const std::uint32_t row : root_.rows) occurs[column.at(row)] = true;
      if (column.has_missing) occurs[column.missing_code()] = false;
      const auto n_levels = std::count(occurs.begin(), occurs.end(), true);
      is_many_valued_[feature] = static_cast<double>(n_levels) >= 0.3 * n_cases;
    }
    if (std::find(is_many_valued_.begin(), is_many_valued_.end(), false) == is_many_valued_.end()) {
      std::fill(is_many_valued_.begin(), is_many_valued_.end(), false);
    }
  }

  // --- the way down -----------------------------------------------------------------------

  // Counts the classes of a node and splits it, if it is to be split; its branches are left in
  // the frame. A node that has a split already keeps it.
  void enter(Frame& frame) {
    frame.is_entered = true;
    frame.next = 0;
    nodes_.count(frame.node, frame.cases, options_.error);
    if (!frame.is_settled) {
      search(frame);
      nodes_[frame.node].grown_errors = nodes_[frame.node].leaf_errors;
    } else if (options_.records && nodes_[frame.node].has_split) {
      record(frame);
    }
    if (nodes_[frame.node].has_split) {
      frame.branches = nodes_.divide(frame.node, frame.cases, frame.is_settled);
      if (!options_.raises || !options_.prunes) frame.cases = {};
    } else {
      nodes_[frame.node].estimate = nodes_[frame.node].growth.leaf_estimate;
      if (!frame.is_settled) monitor_.advance(frame.cases.size());
    }
  }

  void search(const Frame& frame) {
    const auto counts = nodes_.class_weights(frame.node);
    const double weight = nodes_[frame.node].weight;
    if (std::count_if(counts.begin(), counts.end(), [](double c) { return c > 0.0; }) < 2) {
      nodes_[frame.node].growth.outcome = Outcome::kPure;
      return;
    }
    const double least = std::max(options_.min_weight_split, 2 * options_.min_weight_leaf);
    if (frame.depth >= options_.max_depth || weight < least - kTie) {
      nodes_[frame.node].growth.outcome = Outcome::kSmall;
      return;
    }
    const std::vector<Candidate> candidates = find_candidates(frame);
    const std::size_t chosen = choose(candidates, is_many_valued_, options_);
    NodeGrowth& growth = nodes_[frame.node].growth;
    growth.chosen = static_cast<std::uint32_t>(chosen);
    growth.outcome = chosen < candidates.size() ? Outcome::kSplit : Outcome::kNoCandidate;
    if (chosen < candidates.size()) nodes_.take(frame.node, candidates[chosen]);
    if (options_.records) keep(frame, candidates);
  }

  std::vector<Candidate> find_candidates(const Frame& frame) {
    classes_.resize(frame.cases.size());
    for (std::size_t i = 0; i < frame.cases.size(); ++i) {
      classes_[i] = nodes_.class_of(frame.cases.rows[i]);
    }
    const NodeCases node{frame.cases.rows, frame.cases.weights, classes_, nodes_.n_classes(),
                         nodes_[frame.node].weight};
    std::vector<Candidate> candidates(dataset_.n_features());
    const auto find = [&](std::size_t feature, CandidateScratch& scratch) {
      candidates[feature] =
          find_candidate(dataset_.feature(feature), node, options_, scratch, monitor_);
      candidates[feature].feature = static_cast<std::uint32_t>(feature);
    };
    const std::size_t n_features = dataset_.n_features();
    if (options_.n_threads > 1 && frame.cases.size() * n_features >= kParallelCells) {
      parallel_for(
          n_features, options_.n_threads,
          [&](std::size_t feature) {
            CandidateScratch scratch;
            find(feature, scratch);
          },
          &monitor_);
    } else {
      for (std::size_t feature = 0; feature < n_features; ++feature) find(feature, scratch_);
    }
    return candidates;
  }

  // The candidates of a node whose split is given.
  void record(const Frame& frame) {
    nodes_[frame.node].growth.chosen = nodes_[frame.node].feature;  // in the order of features
    keep(frame, find_candidates(frame));
  }

  void keep(const Frame& frame, std::vector<Candidate> candidates) {
    for (Candidate& candidate : candidates) {
      if (!candidate.is_threshold || candidate.n_branches == 0) continue;
      const Value value = nodes_.threshold_of(candidate.feature, candidate.last_left, frame.cases);
      const bool is_integer = dataset_.feature(candidate.feature).kind == FeatureKind::kInteger;
      candidate.threshold = is_integer ? static_cast<double>(value.integer) : value.real;
    }
    nodes_[frame.node].growth.candidates = std::move(candidates);
  }

  // --- the way up -------------------------------------------------------------------------

  // Prunes a node whose branches are done. True if it was replaced by its heaviest branch and has
  // to be entered again.
  bool finish(Frame& frame) {
    BuildNode& node = nodes_[frame.node];
    double grown_errors = 0.0;
    node.estimate = 0.0;
    for (const std::uint32_t child : node.children) {
      grown_errors += nodes_[child].grown_errors;
      node.estimate += nodes_[child].estimate;
    }
    node.growth.subtree_estimate = node.estimate;
    if (!options_.prunes) return false;
    if (!frame.is_settled) {
      if (grown_errors >= node.leaf_errors - kEpsilon) {
        make_leaf(node, Outcome::kCollapsed);
        return false;
      }
      node.grown_errors = grown_errors;
    }
    const std::uint32_t heaviest = nodes_.heaviest_child(node);
    const bool may_raise = options_.raises && nodes_[heaviest].has_split;
    const double leaf = node.growth.leaf_estimate;
    const double raised = may_raise ? expect_raised(nodes_, frame.node, heaviest, frame.cases,
                                                    has_missing_, options_.error, monitor_)
                                    : leaf;
    if (leaf <= node.estimate + kPruneSlack && leaf <= raised + kPruneSlack) {
      make_leaf(node, Outcome::kPruned);
      return false;
    }
    if (!may_raise || raised > node.estimate + kPruneSlack) return false;
    node.growth.outcome = Outcome::kRaised;
    nodes_.raise(frame.node, heaviest);
    frame.is_entered = false;
    frame.is_settled = true;
    return true;
  }

  static void make_leaf(BuildNode& node, Outcome outcome) {
    node.has_split = false;
    node.children.clear();
    node.estimate = node.growth.leaf_estimate;
    node.growth.outcome = outcome;
    if (outcome == Outcome::kCollapsed) node.grown_errors = node.leaf_errors;
  }

  const BinnedDataset& dataset_;
  const QuinlanOptions& options_;
  Monitor& monitor_;
  double unit_ = 1.0;  // the user's weights are the grower's times this
  bool has_missing_ = false;
  Cases root_;
  std::vector<bool> is_many_valued_;
  QuinlanNodes nodes_;
  std::vector<std::uint32_t> classes_;
  CandidateScratch scratch_;
};

}  // namespace

QuinlanTree grow_quinlan(const BinnedDataset& dataset, const Target& target, const Entries& entries,
                         const QuinlanOptions& options, Monitor& monitor) {
  return QuinlanGrower(dataset, target, entries, options, monitor).grow();
}

}  // namespace committee
