#include "forest/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "score/impurity.hpp"

namespace committee {

std::size_t CompactTree::n_bytes() const {
  return tree.nodes.size() * sizeof(Node) + tree.category_data.size() * 4 +
         (tree.values.size() + tree.impurity.size() + tree.weight.size() + tree.n_rows.size()) * 8 +
         (leaf_values.size() + leaf_weight.size() + leaf_impurity.size() + inner_impurity.size()) *
             8 +
         leaf_rows.size() * 4;
}

std::size_t Forest::n_nodes() const {
  return std::accumulate(trees.begin(), trees.end(), std::size_t{0},
                         [](std::size_t n, const auto& tree) { return n + tree->tree.n_nodes(); });
}

std::size_t Forest::n_leaves() const {
  return std::accumulate(trees.begin(), trees.end(), std::size_t{0},
                         [](std::size_t n, const auto& tree) { return n + tree->n_leaves; });
}

void Forest::add(std::shared_ptr<const CompactTree> tree) {
  if (tree->tree.n_features != info.n_features || tree->tree.n_values != info.n_values) {
    throw std::invalid_argument("trees of a forest have the same features and the same values");
  }
  info.kinds.resize(info.n_features);
  for (const Node& node : tree->tree.nodes) {
    if (node.is_leaf()) continue;
    const FeatureKind kind = feature_kind(node.kind());
    std::optional<FeatureKind>& known = info.kinds[node.feature()];
    if (known && *known != kind) {
      throw std::invalid_argument("trees of a forest split features of the same kinds");
    }
    known = kind;
  }
  trees.push_back(std::move(tree));
}

namespace {

// ---- compact ----

// The nodes in the order of a depth-first walk that numbers siblings together: the old number of
// each. Where the grower numbered them this is 0, 1, 2, ...
std::vector<std::uint32_t> depth_first_order(const Tree& tree) {
  std::vector<std::uint32_t> order{0};
  order.reserve(tree.n_nodes());
  std::vector<std::uint32_t> stack{0};
  while (!stack.empty()) {
    const std::uint32_t node = stack.back();
    stack.pop_back();
    const std::uint32_t first = tree.nodes[node].first_child;
    const std::uint32_t n_children = tree.n_children(node);
    for (std::uint32_t i = 0; i < n_children; ++i) order.push_back(first + i);
    for (std::uint32_t i = n_children; i-- > 0;) stack.push_back(first + i);
  }
  return order;
}

template <typename T>
std::vector<T> permuted(const std::vector<T>& items, std::span<const std::uint32_t> order,
                        std::size_t width) {
  std::vector<T> result;
  result.reserve(items.size());
  for (const std::uint32_t old : order) {
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(old * width);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return result;
}

void renumber(Tree& tree) {
  const std::vector<std::uint32_t> order = depth_first_order(tree);
  bool is_done = true;
  for (std::uint32_t i = 0; i < order.size(); ++i) is_done = is_done && order[i] == i;
  if (is_done) return;
  std::vector<std::uint32_t> new_number(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) new_number[order[i]] = i;
  tree.nodes = permuted(tree.nodes, order, 1);
  for (Node& node : tree.nodes) {
    if (!node.is_leaf()) node.first_child = new_number[node.first_child];
  }
  tree.values = permuted(tree.values, order, tree.n_values);
  tree.impurity = permuted(tree.impurity, order, 1);
  tree.weight = permuted(tree.weight, order, 1);
  tree.n_rows = permuted(tree.n_rows, order, 1);
}

// Keeps each different row of numbers once and says where it is.
class DistinctRows {
 public:
  DistinctRows(std::size_t n_rows, std::size_t width)
      : width_(width), slots_(std::bit_ceil(2 * n_rows + 1), kEmpty) {}

  std::uint32_t add(const double* row) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < width_; ++i) {
      hash = scatter(hash ^ std::bit_cast<std::uint64_t>(row[i]));
    }
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot] == kEmpty) {
        slots_[slot] = static_cast<std::uint32_t>(rows_.size() / width_);
        rows_.insert(rows_.end(), row, row + width_);
        return slots_[slot];
      }
      // By bits, for 0.0 == -0.0.
      const double* known = rows_.data() + slots_[slot] * width_;
      if (std::memcmp(known, row, width_ * sizeof(double)) == 0) return slots_[slot];
    }
  }
  std::vector<double> take() {
    rows_.shrink_to_fit();
    return std::move(rows_);
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFU;
  std::size_t width_;
  std::vector<std::uint32_t> slots_;
  std::vector<double> rows_;
};

// Whether leaves can hold the numbers of rows in 32 bits.
bool counts_fit(const Tree& tree) {
  return std::all_of(tree.n_rows.begin(), tree.n_rows.end(), [](std::int64_t n) {
    return n >= 0 && n <= std::numeric_limits<std::uint32_t>::max();
  });
}

LeafStatistics gather_leaves(const Tree& tree, bool is_classification) {
  LeafStatistics leaves;
  const std::size_t most = tree.n_nodes() / 2 + 1;  // unless levels fan out
  leaves.values.reserve(most * tree.n_values);
  leaves.weight.reserve(most);
  leaves.n_rows.reserve(most);
  leaves.impurity.reserve(most);
  bool counts_are_weights = true;
  bool is_pure = true;
  for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
    if (!tree.nodes[i].is_leaf()) continue;
    const double* values = tree.values.data() + i * tree.n_values;
    leaves.values.insert(leaves.values.end(), values, values + tree.n_values);
    leaves.weight.push_back(tree.weight[i]);
    leaves.n_rows.push_back(static_cast<std::uint32_t>(tree.n_rows[i]));
    leaves.impurity.push_back(tree.impurity[i]);
    counts_are_weights = counts_are_weights && leaves.n_rows.back() == tree.weight[i];
    is_pure = is_pure && tree.impurity[i] == 0.0;
  }
  if (counts_are_weights) leaves.n_rows = {};
  if (is_pure || is_classification) leaves.impurity = {};
  return leaves;
}

// ---- expand ----

// Calls leaf(node) and inner(node, first child, number of children), children first.
template <typename Leaf, typename Inner>
void visit_upwards(const Tree& tree, const Leaf& leaf, const Inner& inner) {
  for (std::size_t node = tree.n_nodes(); node-- > 0;) {
    const Node& n = tree.nodes[node];
    if (n.is_leaf()) {
      leaf(node);
    } else {
      inner(node, std::size_t{n.first_child},
            std::size_t{tree.n_children(static_cast<std::uint32_t>(node))});
    }
  }
}

void expand_weights(const CompactTree& from, Tree& tree) {
  visit_upwards(
      tree,
      [&](std::size_t node) {
        const std::uint32_t leaf = leaf_number(from.tree.nodes[node]);
        tree.weight[node] = from.leaf_weight[leaf];
        tree.n_rows[node] = from.leaf_rows.empty()
                                ? static_cast<std::int64_t>(from.leaf_weight[leaf])
                                : std::int64_t{from.leaf_rows[leaf]};
      },
      [&](std::size_t node, std::size_t first, std::size_t n_children) {
        for (std::size_t child = first; child < first + n_children; ++child) {
          tree.weight[node] += tree.weight[child];
          tree.n_rows[node] += tree.n_rows[child];
        }
      });
}

// The weight of a class from its share; whole where it was whole.
double class_weight(double share, double weight) {
  const double product = share * weight;
  const double whole = std::nearbyint(product);
  return whole / weight == share ? whole : product;
}

void expand_classes(const CompactTree& from, const ForestInfo& info, Tree& tree) {
  const std::size_t n_values = tree.n_values;
  visit_upwards(
      tree,
      [&](std::size_t node) {
        const double* shares =
            from.leaf_values.data() + std::size_t{value_row(from.tree.nodes[node])} * n_values;
        for (std::size_t i = 0; i < n_values; ++i) {
          tree.values[node * n_values + i] = class_weight(shares[i], tree.weight[node]);
        }
      },
      [&](std::size_t node, std::size_t first, std::size_t n_children) {
        for (std::size_t child = first; child < first + n_children; ++child) {
          for (std::size_t i = 0; i < n_values; ++i) {
            tree.values[node * n_values + i] += tree.values[child * n_values + i];
          }
        }
      });
  for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
    double* values = tree.values.data() + node * n_values;
    if (tree.nodes[node].is_leaf()) {  // as they were, whatever the weights came to
      const double* shares =
          from.leaf_values.data() + std::size_t{value_row(from.tree.nodes[node])} * n_values;
      std::copy_n(shares, n_values, values);
    }
    double impurity = 0.0;
    for (const std::uint32_t n_classes : info.n_classes) {
      if (!tree.nodes[node].is_leaf()) {
        double total = 0.0;
        for (std::size_t i = 0; i < n_classes; ++i) total += values[i];
        for (std::size_t i = 0; i < n_classes; ++i) values[i] /= total;
      }
      impurity += class_impurity(info.criterion, {values, n_classes});
      values += n_classes;
    }
    tree.impurity[node] = impurity / static_cast<double>(info.n_classes.size());
  }
}

// The means of inner nodes are merged from those of leaves, output by output, scaled by a power of
// two so that nothing overflows. Impurities are known.
void expand_means(const CompactTree& from, Tree& tree) {
  const std::size_t n_outputs = tree.n_values;
  std::size_t n_inner = 0;
  for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
    const Node& packed = from.tree.nodes[node];
    if (!packed.is_leaf()) {
      tree.impurity[node] = from.inner_impurity[n_inner++];
      continue;
    }
    tree.impurity[node] =
        from.leaf_impurity.empty() ? 0.0 : from.leaf_impurity[leaf_number(packed)];
    const double* values = from.leaf_values.data() + std::size_t{value_row(packed)} * n_outputs;
    std::copy_n(values, n_outputs, tree.values.data() + node * n_outputs);
  }
  double largest = 0.0;
  for (const double value : from.leaf_values) largest = std::max(largest, std::abs(value));
  int exponent = 0;
  std::frexp(largest, &exponent);
  std::vector<Moments> moments(tree.n_nodes());
  for (std::size_t output = 0; output < n_outputs; ++output) {
    visit_upwards(
        tree,
        [&](std::size_t node) {
          moments[node] = Moments{};
          moments[node].weight = tree.weight[node] / tree.weight[0];
          moments[node].mean = std::ldexp(tree.values[node * n_outputs + output], -exponent);
        },
        [&](std::size_t node, std::size_t first, std::size_t n_children) {
          moments[node] = moments[first];
          for (std::size_t i = 1; i < n_children; ++i) merge(moments[node], moments[first + i]);
          tree.values[node * n_outputs + output] = std::ldexp(moments[node].mean, exponent);
        });
  }
}

}  // namespace

void number_leaves(CompactTree& compact) {
  compact.n_leaves = 0;
  for (std::uint32_t i = 0; i < compact.tree.n_nodes(); ++i) {
    Node& node = compact.tree.nodes[i];
    if (node.is_leaf()) node.threshold.offset = pack_leaf(compact.n_leaves++, i);
  }
}

void store_leaves(CompactTree& compact, LeafStatistics leaves) {
  const std::size_t n_values = compact.tree.n_values;
  const std::size_t n_leaves = leaves.weight.size();
  DistinctRows values(n_leaves, n_values);
  std::uint32_t leaf = 0;
  for (Node& node : compact.tree.nodes) {
    if (!node.is_leaf()) continue;
    const double* of_leaf = leaves.values.data() + leaf * n_values;
    node.threshold.offset = pack_leaf(leaf, values.add(of_leaf));
    ++leaf;
  }
  compact.n_leaves = leaf;
  compact.leaf_values = values.take();
  compact.leaf_weight = std::move(leaves.weight);
  compact.leaf_rows = std::move(leaves.n_rows);
  compact.leaf_impurity = std::move(leaves.impurity);
  compact.leaf_weight.shrink_to_fit();
  compact.leaf_rows.shrink_to_fit();
  compact.leaf_impurity.shrink_to_fit();
}

CompactTree compact(Tree tree, const ForestInfo& info, bool keep_all, bool is_fresh) {
  if (!is_fresh) renumber(tree);
  CompactTree result;
  result.tree = std::move(tree);
  if (keep_all || !counts_fit(result.tree)) {
    number_leaves(result);
  } else {
    store_leaves(result, gather_leaves(result.tree, info.is_classification));
    for (std::size_t i = 0; i < result.tree.n_nodes() && !info.is_classification; ++i) {
      if (!result.tree.nodes[i].is_leaf()) {
        result.inner_impurity.push_back(result.tree.impurity[i]);
      }
    }
    result.inner_impurity.shrink_to_fit();
    // Not `= {}`, which would keep the memory.
    result.tree.values = std::vector<double>();
    result.tree.impurity = std::vector<double>();
    result.tree.weight = std::vector<double>();
    result.tree.n_rows = std::vector<std::int64_t>();
  }
  result.tree.nodes.shrink_to_fit();
  result.tree.category_data.shrink_to_fit();
  return result;
}

Tree expand(const CompactTree& from, const ForestInfo& info) {
  Tree tree = from.tree;
  for (Node& node : tree.nodes) {
    if (node.is_leaf()) node.threshold.offset = 0;
  }
  if (from.is_complete()) return tree;
  tree.values.assign(tree.n_nodes() * tree.n_values, 0.0);
  tree.impurity.assign(tree.n_nodes(), 0.0);
  tree.weight.assign(tree.n_nodes(), 0.0);
  tree.n_rows.assign(tree.n_nodes(), 0);
  expand_weights(from, tree);
  if (info.is_classification) {
    expand_classes(from, info, tree);
  } else {
    expand_means(from, tree);
  }
  return tree;
}

std::vector<double> impurity_decreases(const Forest& forest, std::size_t n_threads,
                                       Monitor& monitor) {
  const std::size_t n_features = forest.info.n_features;
  std::vector<double> decreases(forest.n_trees() * n_features, 0.0);
  const auto add_tree = [&](std::size_t i) {
    monitor.check();
    const Tree tree = expand(*forest.trees[i], forest.info);
    double* const of_tree = decreases.data() + i * n_features;
    const auto part = [&](std::size_t node) {
      return tree.weight[node] / tree.weight[0] * tree.impurity[node];
    };
    for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
      if (tree.nodes[node].is_leaf()) continue;
      double decrease = part(node);
      const std::size_t first = tree.nodes[node].first_child;
      const std::size_t n_children = tree.n_children(static_cast<std::uint32_t>(node));
      for (std::size_t child = first; child < first + n_children; ++child) decrease -= part(child);
      of_tree[tree.nodes[node].feature()] += decrease;
    }
  };
  parallel_for(forest.n_trees(), n_threads, add_tree, &monitor);
  return decreases;
}

}  // namespace committee
