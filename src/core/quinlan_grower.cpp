// The grow loop. Nodes are entered on the way down and finished on the way up: when the last
// branch of a node is done, its cases are still at hand, and the node is judged: kept, made a leaf,
// or replaced by its heaviest branch. A replaced node is entered again with the split it has got,
// so that the cases of its former other branches find their places and all is judged anew.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cases.hpp"
#include "criterion.hpp"
#include "quinlan_grower.hpp"
#include "split.hpp"
#include "thread_pool.hpp"

namespace committee {
namespace {

// Below this many cells (cases times features) a node is searched by one thread.
constexpr std::size_t kParallelCells = std::size_t{1} << 15;
// Pruning takes a subtree for no better than a leaf if it saves less than this many errors.
constexpr double kPruneSlack = 0.1;

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

// The branch of each level of a node.
struct Levels {
  std::vector<std::uint32_t> codes;  // ascending
  std::vector<std::uint32_t> branch_of;
  std::size_t n_branches = 0;
};

class QuinlanGrower {
 public:
  QuinlanGrower(const BinnedDataset& dataset, const Target& target, const Entries& entries,
                const QuinlanOptions& options, Monitor& monitor)
      : dataset_(dataset),
        target_(target),
        options_(options),
        monitor_(monitor),
        n_classes_(target.n_classes[0]) {
    unit_ = case_unit(entries);
    root_ = make_cases(entries, unit_);
    if (!entries.repetitions.empty()) {
      repetitions_.resize(dataset.n_rows(), 1);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        repetitions_[entries.rows[i]] = entries.repetitions[i];
      }
    }
    for (std::size_t feature = 0; feature < dataset.n_features(); ++feature) {
      has_missing_ = has_missing_ || dataset.feature(feature).column.has_missing;
    }
    mark_many_valued();
  }

  QuinlanTree grow() {
    std::vector<Frame> stack;
    stack.push_back({add_node(), 0, false, std::move(root_), false, {}, 0});
    std::size_t n_visited = 0;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (!frame.is_entered) {
        if (frame.cases.size() >= 512 || ++n_visited % 64 == 0) monitor_.check();
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
    return assemble();
  }

 private:
  std::uint32_t add_node() {
    nodes_.emplace_back();
    class_weights_.resize(class_weights_.size() + n_classes_, 0.0);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  std::span<double> class_weights(std::uint32_t node) {
    return std::span(class_weights_).subspan(node * n_classes_, n_classes_);
  }
  std::span<const double> class_weights(std::uint32_t node) const {
    return std::span(class_weights_).subspan(node * n_classes_, n_classes_);
  }
  const CodeColumn& column_of(std::uint32_t feature) const {
    return dataset_.feature(feature).column;
  }
  std::uint32_t class_of(std::uint32_t row) const {
    return static_cast<std::uint32_t>(target_.classes[row]);
  }

  // C4.5 keeps features with a level for every third case out of the average gain, unless all are
  // like that.
  void mark_many_valued() {
    const double n_cases = std::accumulate(root_.weights.begin(), root_.weights.end(), 0.0);
    is_many_valued_.resize(dataset_.n_features(), false);
    for (std::uint32_t feature = 0; feature < dataset_.n_features(); ++feature) {
      if (dataset_.feature(feature).kind != FeatureKind::kCategory) continue;
      const CodeColumn& column = column_of(feature);
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
    count(frame);
    if (!frame.is_settled) {
      search(frame);
      nodes_[frame.node].grown_errors = nodes_[frame.node].leaf_errors;
    } else if (options_.records && nodes_[frame.node].has_split) {
      record(frame);
    }
    if (nodes_[frame.node].has_split) {
      divide(frame);
      if (!options_.raises || !options_.prunes) frame.cases = {};
    } else {
      nodes_[frame.node].estimate = nodes_[frame.node].growth.leaf_estimate;
      if (!frame.is_settled) monitor_.advance(frame.cases.size());
    }
  }

  void count(const Frame& frame) {
    BuildNode& node = nodes_[frame.node];
    const std::span<double> counts = class_weights(frame.node);
    std::fill(counts.begin(), counts.end(), 0.0);
    node.n_rows = 0;
    for (std::size_t i = 0; i < frame.cases.size(); ++i) {
      const std::uint32_t row = frame.cases.rows[i];
      counts[class_of(row)] += frame.cases.weights[i];
      node.n_rows += repetitions_.empty() ? 1 : repetitions_[row];
    }
    node.weight = std::accumulate(counts.begin(), counts.end(), 0.0);
    node.leaf_errors = node.weight - *std::max_element(counts.begin(), counts.end());
    node.growth.leaf_estimate = options_.error.expect(node.weight, node.leaf_errors);
  }

  void search(const Frame& frame) {
    const auto counts = class_weights(frame.node);
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
    if (chosen < candidates.size()) take(frame.node, candidates[chosen]);
    if (options_.records) keep(frame, candidates);
  }

  std::vector<Candidate> find_candidates(const Frame& frame) {
    classes_.resize(frame.cases.size());
    for (std::size_t i = 0; i < frame.cases.size(); ++i) {
      classes_[i] = class_of(frame.cases.rows[i]);
    }
    const NodeCases node{frame.cases.rows, frame.cases.weights, classes_, n_classes_,
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
      const Value value = threshold_of(candidate.feature, candidate.last_left, frame.cases);
      const bool is_integer = dataset_.feature(candidate.feature).kind == FeatureKind::kInteger;
      candidate.threshold = is_integer ? static_cast<double>(value.integer) : value.real;
    }
    nodes_[frame.node].growth.candidates = std::move(candidates);
  }

  void take(std::uint32_t index, const Candidate& candidate) {
    BuildNode& node = nodes_[index];
    node.has_split = true;
    node.is_threshold = candidate.is_threshold;
    node.feature = candidate.feature;
    node.last_left = candidate.last_left;
    node.first_right = candidate.first_right;
    node.codes = candidate.codes;
    node.branch_of = candidate.branch_of;
    for (std::uint32_t i = 0; i < candidate.n_branches; ++i) {
      const std::uint32_t child = add_node();  // may move `node`
      nodes_[index].children.push_back(child);
    }
  }

  void divide(Frame& frame) {
    if (nodes_[frame.node].is_threshold) {
      BuildNode& node = nodes_[frame.node];
      if (frame.is_settled) {
        settle_threshold(node, frame.cases);
      } else {
        node.threshold = threshold_of(node.feature, node.last_left, frame.cases);
      }
      frame.branches = divide_in_two(node, frame.cases);
      return;
    }
    if (frame.is_settled) add_levels(frame);
    const BuildNode& node = nodes_[frame.node];
    frame.branches = distribute_levels(
        node.feature, {node.codes, node.branch_of, node.children.size()}, frame.cases);
  }

  std::vector<Cases> divide_in_two(const BuildNode& node, const Cases& cases) const {
    const std::uint32_t last_left = last_left_of(node, cases);
    return distribute(cases, column_of(node.feature), 2, [&](std::uint32_t code) -> std::uint32_t {
      return code <= last_left ? 0 : 1;
    });
  }

  // Cases of a raised branch's former siblings may have values within the gap that the threshold
  // lies in. Those up to the threshold go left; a bin that it lies inside goes right.
  std::uint32_t last_left_of(const BuildNode& node, const Cases& cases) const {
    const CodeColumn& column = column_of(node.feature);
    const bool is_integer = dataset_.feature(node.feature).kind == FeatureKind::kInteger;
    std::uint32_t last_left = node.last_left;
    if (node.last_left + 1 >= node.first_right) return last_left;
    for (const std::uint32_t row : cases.rows) {
      const std::uint32_t code = column.at(row);
      if (code <= last_left || code >= node.first_right) continue;
      const Value high = dataset_.high(node.feature, row);
      const bool is_left =
          is_integer ? high.integer <= node.threshold.integer : high.real <= node.threshold.real;
      if (is_left) last_left = code;
    }
    return last_left;
  }

  // Takes in the values within the gap, and moves the threshold out of a bin that it lies inside.
  void settle_threshold(BuildNode& node, const Cases& cases) const {
    const CodeColumn& column = column_of(node.feature);
    node.last_left = last_left_of(node, cases);
    for (const std::uint32_t row : cases.rows) {
      const std::uint32_t code = column.at(row);
      if (code <= node.last_left || code >= node.first_right) continue;
      node.first_right = code;
      const Value low = dataset_.low(node.feature, row);
      const bool is_inside = dataset_.feature(node.feature).kind == FeatureKind::kInteger
                                 ? low.integer <= node.threshold.integer
                                 : low.real <= node.threshold.real;
      if (is_inside) node.threshold = threshold_of(node.feature, node.last_left, cases);
    }
  }

  // The middle between the values of the cases on both sides of a cut.
  Value threshold_of(std::uint32_t feature, std::uint32_t last_left, const Cases& cases) const {
    const CodeColumn& column = column_of(feature);
    std::uint32_t left_row = 0;
    std::uint32_t right_row = 0;
    std::uint32_t left_code = kNoCode;
    std::uint32_t right_code = kNoCode;
    for (const std::uint32_t row : cases.rows) {
      const std::uint32_t code = column.at(row);
      if (column.has_missing && code == column.missing_code()) continue;
      if (code <= last_left) {
        if (left_code == kNoCode || code > left_code) {
          left_code = code;
          left_row = row;
        }
      } else if (right_code == kNoCode || code < right_code) {
        right_code = code;
        right_row = row;
      }
    }
    return middle(dataset_.feature(feature).kind, dataset_.high(feature, left_row),
                  dataset_.low(feature, right_row));
  }

  // The levels of a node, with a branch of its own for each other level among the cases: those of
  // a raised branch's former siblings may have levels that the branch has never seen.
  Levels levels_with(const BuildNode& node, const Cases& cases) const {
    const CodeColumn& column = column_of(node.feature);
    Levels levels{node.codes, node.branch_of, node.children.size()};
    std::vector<std::uint32_t> fresh;
    for (const std::uint32_t row : cases.rows) {
      const std::uint32_t code = column.at(row);
      if (column.has_missing && code == column.missing_code()) continue;
      if (!std::binary_search(node.codes.begin(), node.codes.end(), code)) fresh.push_back(code);
    }
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    for (const std::uint32_t code : fresh) {
      const auto at = std::lower_bound(levels.codes.begin(), levels.codes.end(), code);
      levels.branch_of.insert(levels.branch_of.begin() + (at - levels.codes.begin()),
                              static_cast<std::uint32_t>(levels.n_branches++));
      levels.codes.insert(at, code);
    }
    return levels;
  }

  void add_levels(const Frame& frame) {
    Levels levels = levels_with(nodes_[frame.node], frame.cases);
    while (nodes_[frame.node].children.size() < levels.n_branches) {
      const std::uint32_t child = add_node();
      nodes_[child].growth.outcome = Outcome::kSmall;
      nodes_[frame.node].children.push_back(child);
    }
    nodes_[frame.node].codes = std::move(levels.codes);
    nodes_[frame.node].branch_of = std::move(levels.branch_of);
  }

  std::vector<Cases> distribute_levels(std::uint32_t feature, const Levels& levels,
                                       const Cases& cases) const {
    const CodeColumn& column = column_of(feature);
    if (column.n_values <= 4 * cases.size() + 64) {
      std::vector<std::uint32_t> branch_of(column.n_values, kNoChild);
      for (std::size_t i = 0; i < levels.codes.size(); ++i) {
        branch_of[levels.codes[i]] = levels.branch_of[i];
      }
      return distribute(cases, column, levels.n_branches,
                        [&](std::uint32_t code) { return branch_of[code]; });
    }
    return distribute(cases, column, levels.n_branches, [&](std::uint32_t code) {
      const auto at = std::lower_bound(levels.codes.begin(), levels.codes.end(), code);
      return levels.branch_of[static_cast<std::size_t>(at - levels.codes.begin())];
    });
  }

  // --- the way up -------------------------------------------------------------------------

  // Judges a node whose branches are done. True if it was replaced by its heaviest branch and has
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
    const std::uint32_t heaviest = heaviest_child(node);
    const bool may_raise = options_.raises && nodes_[heaviest].has_split;
    const double leaf = node.growth.leaf_estimate;
    const double raised = may_raise ? expect_raised(node, heaviest, frame.cases) : leaf;
    if (leaf <= node.estimate + kPruneSlack && leaf <= raised + kPruneSlack) {
      make_leaf(node, Outcome::kPruned);
      return false;
    }
    if (!may_raise || raised > node.estimate + kPruneSlack) return false;
    BuildNode& branch = nodes_[heaviest];
    node.growth.outcome = Outcome::kRaised;
    node.is_threshold = branch.is_threshold;
    node.feature = branch.feature;
    node.last_left = branch.last_left;
    node.first_right = branch.first_right;
    node.threshold = branch.threshold;
    node.codes = std::move(branch.codes);
    node.branch_of = std::move(branch.branch_of);
    node.children = std::vector<std::uint32_t>(branch.children);
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

  std::uint32_t heaviest_child(const BuildNode& node) const {
    std::uint32_t heaviest = node.children[0];
    for (const std::uint32_t child : node.children) {
      if (nodes_[child].weight > nodes_[heaviest].weight + kTie) heaviest = child;
    }
    return heaviest;
  }

  // Errors to expect of the heaviest branch of a node if it got all cases of the node. Without
  // missing values only those of the other branches have to be sent down, and what they add to the
  // leaves that they reach is added up; else they change the shares of others, and all are sent.
  double expect_raised(const BuildNode& node, std::uint32_t heaviest, const Cases& cases) const {
    if (has_missing_) return expect(heaviest, cases, false);
    std::vector<Cases> branches = branches_of(node, cases);
    Cases others;
    for (std::size_t i = 0; i < branches.size(); ++i) {
      if (node.children[i] == heaviest) continue;
      others.rows.insert(others.rows.end(), branches[i].rows.begin(), branches[i].rows.end());
      others.weights.insert(others.weights.end(), branches[i].weights.begin(),
                            branches[i].weights.end());
    }
    return nodes_[heaviest].estimate + expect(heaviest, std::move(others), true);
  }

  // Errors to expect of a subtree that gets these cases, or that they add to those it has.
  double expect(std::uint32_t root, Cases cases, bool adds) const {
    struct Part {
      std::uint32_t node;
      Cases cases;
    };
    double errors = 0.0;
    std::vector<Part> stack;
    stack.push_back({root, std::move(cases)});
    while (!stack.empty()) {
      const Part part = std::move(stack.back());
      stack.pop_back();
      if (part.cases.size() >= 512) monitor_.check();
      if (part.node == kNoChild) {  // a level that the node above has no branch for
        errors += expect_leaf(part.cases, {});
        continue;
      }
      const BuildNode& node = nodes_[part.node];
      if (!node.has_split) {
        const auto before = adds ? class_weights(part.node) : std::span<const double>{};
        errors += expect_leaf(part.cases, before) - (adds ? node.estimate : 0.0);
        continue;
      }
      std::vector<Cases> branches = branches_of(node, part.cases);
      for (std::size_t i = branches.size(); i-- > 0;) {
        if (branches[i].size() == 0) continue;
        const std::uint32_t child = i < node.children.size() ? node.children[i] : kNoChild;
        stack.push_back({child, std::move(branches[i])});
      }
    }
    return errors;
  }

  std::vector<Cases> branches_of(const BuildNode& node, const Cases& cases) const {
    if (node.is_threshold) return divide_in_two(node, cases);
    return distribute_levels(node.feature, levels_with(node, cases), cases);
  }

  // Errors to expect of a leaf of these cases, with those of `before` (may be empty).
  double expect_leaf(const Cases& cases, std::span<const double> before) const {
    std::vector<double> counts(n_classes_, 0.0);
    std::copy(before.begin(), before.end(), counts.begin());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      counts[class_of(cases.rows[i])] += cases.weights[i];
    }
    const double weight = std::accumulate(counts.begin(), counts.end(), 0.0);
    return options_.error.expect(weight, weight - *std::max_element(counts.begin(), counts.end()));
  }

  // --- the finished tree --------------------------------------------------------------------

  // Numbers the nodes depth-first, siblings side by side.
  QuinlanTree assemble() {
    QuinlanTree result;
    Tree& tree = result.tree;
    tree.n_features = static_cast<std::uint32_t>(dataset_.n_features());
    tree.n_values = static_cast<std::uint32_t>(n_classes_);
    std::vector<std::uint32_t> source{0};
    tree.nodes.resize(1);
    std::vector<std::uint32_t> stack{0};  // numbers in the tree
    while (!stack.empty()) {
      const std::uint32_t number = stack.back();
      stack.pop_back();
      const BuildNode& node = nodes_[source[number]];
      if (!node.has_split) continue;
      const std::size_t first = tree.nodes.size();
      write_split(node, tree, number);
      tree.nodes[number].first_child = static_cast<std::uint32_t>(first);
      tree.nodes.resize(first + node.children.size());
      source.insert(source.end(), node.children.begin(), node.children.end());
      for (std::size_t i = node.children.size(); i-- > 0;) {
        stack.push_back(static_cast<std::uint32_t>(first + i));
      }
    }
    for (const std::uint32_t index : source) {
      const BuildNode& node = nodes_[index];
      for (const double count : class_weights(index)) tree.values.push_back(count / node.weight);
      tree.impurity.push_back(entropy_of(class_weights(index), node.weight));
      tree.weight.push_back(node.weight * unit_);
      tree.n_rows.push_back(node.n_rows);
    }
    if (options_.records) {
      for (const std::uint32_t index : source) {
        result.growth.push_back(std::move(nodes_[index].growth));
      }
    }
    return result;
  }

  void write_split(const BuildNode& node, Tree& tree, std::uint32_t number) const {
    std::uint32_t heaviest = 0;
    while (node.children[heaviest] != heaviest_child(node)) ++heaviest;
    Node& out = tree.nodes[number];
    if (node.is_threshold) {
      const bool is_integer = dataset_.feature(node.feature).kind == FeatureKind::kInteger;
      out.set_split(node.feature, is_integer ? SplitKind::kInteger : SplitKind::kReal,
                    heaviest == 0);
      if (is_integer) {
        out.threshold.integer = node.threshold.integer;
      } else {
        out.threshold.real = node.threshold.real;
      }
      return;
    }
    out.set_split(node.feature, SplitKind::kFanOut, heaviest == 0);
    out.threshold.offset = tree.category_data.size();
    const std::uint32_t n_levels = node.codes.back() + 1;  // further ones have no branch
    const std::size_t begin = tree.category_data.size();
    tree.category_data.resize(begin + 3 + n_levels, kNoChild);
    tree.category_data[begin] = static_cast<std::uint32_t>(node.children.size());
    tree.category_data[begin + 1] = heaviest;
    tree.category_data[begin + 2] = n_levels;
    for (std::size_t i = 0; i < node.codes.size(); ++i) {
      tree.category_data[begin + 3 + node.codes[i]] = node.branch_of[i];
    }
  }

  static double entropy_of(std::span<const double> counts, double weight) {
    double entropy = 0.0;
    for (const double count : counts) entropy -= x_log2_x(count / weight);
    return std::max(entropy, 0.0);
  }

  const BinnedDataset& dataset_;
  const Target& target_;
  const QuinlanOptions& options_;
  Monitor& monitor_;
  std::size_t n_classes_;
  double unit_ = 1.0;  // the user's weights are the grower's times this
  bool has_missing_ = false;
  Cases root_;
  std::vector<std::uint32_t> repetitions_;  // by row; empty: one each
  std::vector<bool> is_many_valued_;
  std::vector<BuildNode> nodes_;
  std::vector<double> class_weights_;  // one row a node
  std::vector<std::uint32_t> classes_;
  CandidateScratch scratch_;
};

}  // namespace

QuinlanTree grow_quinlan(const BinnedDataset& dataset, const Target& target, const Entries& entries,
                         const QuinlanOptions& options, Monitor& monitor) {
  return QuinlanGrower(dataset, target, entries, options, monitor).grow();
}

}  // namespace committee
