// Weakest-link pruning, found in O(n log n) by merging heaps of collapses.
//
// Write C_t(alpha) for the least cost of the branch below node t. Then
//
//   C_t(alpha) = min(R(t) + alpha, sum of C_child(alpha) over its children),
//
// concave and piecewise linear: each *collapse* of an inner node is a breakpoint, where the total
// impurity rises and the number of leaves falls. Going from the leaves to the root, a node melds
// the collapses of its children; those at an alpha where the node itself is already a leaf never
// happen and are thrown away, strongest first; its own collapse takes their place. Each collapse
// enters and leaves a heap once, so n nodes take O(n log n) however deep the tree is.
#include "tree/pruning.hpp"

#include <algorithm>
#include <cstdint>

namespace committee {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

struct Collapse {
  double alpha = 0.0;
  double impurity_rise = 0.0;
  double leaves_lost = 0.0;
  std::uint32_t left = kNone;  // links of the heap
  std::uint32_t right = kNone;
};

// Collapses of all inner nodes by node number, tied into skew heaps with the largest alpha on top.
class Collapses {
 public:
  explicit Collapses(const Tree& tree) : tree_(tree), entries_(tree.n_nodes()) {
    std::vector<std::uint32_t> heaps(tree.n_nodes(), kNone);
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
      const auto node = static_cast<std::uint32_t>(i);
      if (!tree.nodes[node].is_leaf()) heaps[node] = collapse(node, heaps);
    }
    root_heap_ = heaps[0];
  }

  // R(t): the impurity of a node times its share of the weight.
  double node_impurity(std::uint32_t node) const {
    const double total = tree_.weight[0];
    return total > 0 ? tree_.weight[node] * tree_.impurity[node] / total : 0.0;
  }

  // The alpha from which on the node is a leaf in the best subtree of its own branch.
  double alpha(std::uint32_t node) const { return entries_[node].alpha; }

  // The collapses that happen before the root is a leaf, weakest first.
  std::vector<Collapse> in_order() {
    std::vector<Collapse> order;
    while (root_heap_ != kNone) {
      order.push_back(entries_[root_heap_]);
      root_heap_ = pop(root_heap_);
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  std::uint32_t collapse(std::uint32_t node, const std::vector<std::uint32_t>& heaps) {
    // At a large alpha every child is a leaf.
    const std::uint32_t n_children = tree_.n_children(node);
    const std::uint32_t first = tree_.nodes[node].first_child;
    double impurity = 0.0;
    double n_leaves = n_children;
    std::uint32_t heap = kNone;
    for (std::uint32_t child = first; child < first + n_children; ++child) {
      impurity += node_impurity(child);
      heap = meld(heap, heaps[child]);
    }
    // Lowering alpha, children open up again until the node is worth splitting.
    const double own = node_impurity(node);
    double alpha = (own - impurity) / (n_leaves - 1);
    while (heap != kNone && entries_[heap].alpha >= alpha) {
      impurity -= entries_[heap].impurity_rise;
      n_leaves += entries_[heap].leaves_lost;
      heap = pop(heap);
      alpha = (own - impurity) / (n_leaves - 1);
    }
    entries_[node] = {alpha, own - impurity, n_leaves - 1, kNone, kNone};
    return meld(heap, node);
  }

  std::uint32_t pop(std::uint32_t heap) { return meld(entries_[heap].left, entries_[heap].right); }

  // Melds along the right spines, swapping the children of each node passed.
  std::uint32_t meld(std::uint32_t a, std::uint32_t b) {
    std::uint32_t result = kNone;
    std::uint32_t* slot = &result;
    while (a != kNone && b != kNone) {
      if (entries_[a].alpha < entries_[b].alpha) std::swap(a, b);
      *slot = a;
      Collapse& top = entries_[a];
      a = top.right;
      top.right = top.left;
      slot = &top.left;
    }
    *slot = a != kNone ? a : b;
    return result;
  }

  const Tree& tree_;
  std::vector<Collapse> entries_;
  std::uint32_t root_heap_ = kNone;
};

void append_node(const Tree& from, std::uint32_t node, bool is_leaf, Tree& to) {
  Node copy = from.nodes[node];
  if (is_leaf) {
    copy = Node{};
  } else if (const std::size_t length = from.category_length(copy); length > 0) {
    const auto begin =
        from.category_data.begin() + static_cast<std::ptrdiff_t>(copy.threshold.offset);
    copy.threshold.offset = to.category_data.size();
    to.category_data.insert(to.category_data.end(), begin,
                            begin + static_cast<std::ptrdiff_t>(length));
  }
  to.nodes.push_back(copy);
  const double* values = from.values.data() + std::size_t{node} * from.n_values;
  to.values.insert(to.values.end(), values, values + from.n_values);
  to.impurity.push_back(from.impurity[node]);
  to.weight.push_back(from.weight[node]);
  to.n_rows.push_back(from.n_rows[node]);
}

}  // namespace

PruningPath pruning_path(const Tree& tree) {
  Collapses collapses(tree);
  double impurity = 0.0;
  for (std::uint32_t node = 0; node < tree.n_nodes(); ++node) {
    if (tree.nodes[node].is_leaf()) impurity += collapses.node_impurity(node);
  }
  PruningPath path{{0.0}, {impurity}};
  for (const Collapse& collapse : collapses.in_order()) {
    impurity += collapse.impurity_rise;
    // Rounding may make an alpha slightly smaller than the last one.
    path.alphas.push_back(std::max(path.alphas.back(), collapse.alpha));
    path.impurities.push_back(impurity);
  }
  return path;
}

Tree prune(const Tree& tree, double alpha) {
  const Collapses collapses(tree);
  Tree pruned;
  pruned.n_features = tree.n_features;
  pruned.n_values = tree.n_values;
  std::vector<std::uint32_t> new_number(tree.n_nodes(), kNone);
  new_number[0] = 0;  // any number but kNone marks a node to keep
  for (std::uint32_t node = 0; node < tree.n_nodes(); ++node) {
    if (new_number[node] == kNone) continue;
    new_number[node] = static_cast<std::uint32_t>(pruned.n_nodes());
    const bool is_leaf = tree.nodes[node].is_leaf() || collapses.alpha(node) <= alpha;
    append_node(tree, node, is_leaf, pruned);
    if (is_leaf) continue;
    // Siblings stay neighbours, for they are kept or dropped together.
    std::fill_n(new_number.begin() + tree.nodes[node].first_child, tree.n_children(node), 0U);
  }
  for (Node& node : pruned.nodes) {
    if (!node.is_leaf()) node.first_child = new_number[node.first_child];
  }
  return pruned;
}

}  // namespace committee
