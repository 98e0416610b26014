#include "quinlan/quinlan_nodes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "score/criterion.hpp"
#include "split/split.hpp"

namespace committee {
namespace {

double entropy_of(std::span<const double> counts, double weight) {
  double entropy = 0.0;
  for (const double count : counts) entropy -= x_log2_x(count / weight);
  return std::max(entropy, 0.0);
}

}  // namespace

QuinlanNodes::QuinlanNodes(const BinnedDataset& dataset, const Target& target,
                           const Entries& entries)
    : dataset_(dataset), target_(target), n_classes_(target.n_classes[0]) {
  if (entries.repetitions.empty()) return;
  repetitions_.resize(dataset.n_rows(), 1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    repetitions_[entries.rows[i]] = entries.repetitions[i];
  }
}

std::uint32_t QuinlanNodes::add() {
  nodes_.emplace_back();
  class_weights_.resize(class_weights_.size() + n_classes_, 0.0);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

void QuinlanNodes::count(std::uint32_t index, const Cases& cases, const PessimisticError& error) {
  BuildNode& node = nodes_[index];
  const std::span<double> counts = class_weights(index);
  std::fill(counts.begin(), counts.end(), 0.0);
  node.n_rows = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::uint32_t row = cases.rows[i];
    counts[class_of(row)] += cases.weights[i];
    node.n_rows += repetitions_.empty() ? 1 : repetitions_[row];
  }
  node.weight = std::accumulate(counts.begin(), counts.end(), 0.0);
  node.leaf_errors = node.weight - *std::max_element(counts.begin(), counts.end());
  node.growth.leaf_estimate = error.expect(node.weight, node.leaf_errors);
}

void QuinlanNodes::take(std::uint32_t index, const Candidate& candidate) {
  BuildNode& node = nodes_[index];
  node.has_split = true;
  node.is_threshold = candidate.is_threshold;
  node.feature = candidate.feature;
  node.last_left = candidate.last_left;
  node.first_right = candidate.first_right;
  node.codes = candidate.codes;
  node.branch_of = candidate.branch_of;
  for (std::uint32_t i = 0; i < candidate.n_branches; ++i) {
    const std::uint32_t child = add();  // may move `node`
    nodes_[index].children.push_back(child);
  }
}

// --- branches -------------------------------------------------------------------------------

std::vector<Cases> QuinlanNodes::divide(std::uint32_t index, const Cases& cases,
                                        bool is_split_given) {
  if (nodes_[index].is_threshold) {
    BuildNode& node = nodes_[index];
    if (is_split_given) {
      settle_threshold(node, cases);
    } else {
      node.threshold = threshold_of(node.feature, node.last_left, cases);
    }
    return divide_in_two(node, cases);
  }
  if (is_split_given) add_levels(index, cases);
  const BuildNode& node = nodes_[index];
  return distribute_levels(node.feature, {node.codes, node.branch_of, node.children.size()}, cases);
}

std::vector<Cases> QuinlanNodes::branches_of(const BuildNode& node, const Cases& cases) const {
  if (node.is_threshold) return divide_in_two(node, cases);
  return distribute_levels(node.feature, levels_with(node, cases), cases);
}

std::vector<Cases> QuinlanNodes::divide_in_two(const BuildNode& node, const Cases& cases) const {
  const std::uint32_t last_left = last_left_of(node, cases);
  return distribute(cases, column_of(node.feature), 2,
                    [&](std::uint32_t code) -> std::uint32_t { return code <= last_left ? 0 : 1; });
}

// Cases of a raised branch's former siblings may have values within the gap that the threshold
// lies in. Those up to the threshold go left; a bin that it lies inside goes right.
std::uint32_t QuinlanNodes::last_left_of(const BuildNode& node, const Cases& cases) const {
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
void QuinlanNodes::settle_threshold(BuildNode& node, const Cases& cases) const {
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

Value QuinlanNodes::threshold_of(std::uint32_t feature, std::uint32_t last_left,
                                 const Cases& cases) const {
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
Levels QuinlanNodes::levels_with(const BuildNode& node, const Cases& cases) const {
  const CodeColumn& column = column_of(node.feature);
  std::vector<std::uint32_t> fresh;
  for (const std::uint32_t row : cases.rows) {
    const std::uint32_t code = column.at(row);
    if (column.has_missing && code == column.missing_code()) continue;
    if (!std::binary_search(node.codes.begin(), node.codes.end(), code)) fresh.push_back(code);
  }
  if (fresh.empty()) return {node.codes, node.branch_of, node.children.size()};
  std::sort(fresh.begin(), fresh.end());
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  Levels levels;
  levels.n_branches = node.children.size();
  std::size_t known = 0;
  const auto copy_below = [&](std::uint32_t code) {
    for (; known < node.codes.size() && node.codes[known] < code; ++known) {
      levels.codes.push_back(node.codes[known]);
      levels.branch_of.push_back(node.branch_of[known]);
    }
  };
  for (const std::uint32_t code : fresh) {
    copy_below(code);
    levels.codes.push_back(code);
    levels.branch_of.push_back(static_cast<std::uint32_t>(levels.n_branches++));
  }
  copy_below(kNoCode);
  return levels;
}

void QuinlanNodes::add_levels(std::uint32_t index, const Cases& cases) {
  Levels levels = levels_with(nodes_[index], cases);
  while (nodes_[index].children.size() < levels.n_branches) {
    const std::uint32_t child = add();
    nodes_[child].growth.outcome = Outcome::kSmall;
    nodes_[index].children.push_back(child);
  }
  nodes_[index].codes = std::move(levels.codes);
  nodes_[index].branch_of = std::move(levels.branch_of);
}

std::vector<Cases> QuinlanNodes::distribute_levels(std::uint32_t feature, const Levels& levels,
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

std::uint32_t QuinlanNodes::heaviest_child(const BuildNode& node) const {
  std::uint32_t heaviest = node.children[0];
  for (const std::uint32_t child : node.children) {
    if (nodes_[child].weight > nodes_[heaviest].weight + kTie) heaviest = child;
  }
  return heaviest;
}

void QuinlanNodes::raise(std::uint32_t index, std::uint32_t child) {
  BuildNode& node = nodes_[index];
  BuildNode& branch = nodes_[child];
  node.is_threshold = branch.is_threshold;
  node.feature = branch.feature;
  node.last_left = branch.last_left;
  node.first_right = branch.first_right;
  node.threshold = branch.threshold;
  node.codes = std::move(branch.codes);
  node.branch_of = std::move(branch.branch_of);
  node.children = std::vector<std::uint32_t>(branch.children);
}

// --- the finished tree ----------------------------------------------------------------------

// Numbers the nodes depth-first, siblings side by side.
QuinlanTree QuinlanNodes::assemble(double unit, bool records) {
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
    tree.weight.push_back(node.weight * unit);
    tree.n_rows.push_back(node.n_rows);
  }
  if (records) {
    for (const std::uint32_t index : source) {
      result.growth.push_back(std::move(nodes_[index].growth));
    }
  }
  return result;
}

void QuinlanNodes::write_split(const BuildNode& node, Tree& tree, std::uint32_t number) const {
  const auto at = std::find(node.children.begin(), node.children.end(), heaviest_child(node));
  const auto heaviest = static_cast<std::uint32_t>(at - node.children.begin());
  Node& out = tree.nodes[number];
  if (node.is_threshold) {
    const FeatureKind kind = dataset_.feature(node.feature).kind;
    return out.set_threshold(node.feature, kind, node.threshold, heaviest == 0);
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

}  // namespace committee
