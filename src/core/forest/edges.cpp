#include "forest/edges.hpp"

#include <algorithm>

namespace committee {
namespace {

std::vector<double> weights_of_nodes(const CompactTree& compact) {
  const Tree& tree = compact.tree;
  std::vector<double> weights(tree.n_nodes(), 0.0);
  for (std::uint32_t node = static_cast<std::uint32_t>(tree.n_nodes()); node-- > 0;) {
    const Node& n = tree.nodes[node];
    if (n.is_leaf()) {
      weights[node] =
          compact.is_complete() ? tree.weight[node] : compact.leaf_weight[leaf_number(n)];
      continue;
    }
    const std::uint32_t n_children = tree.n_children(node);
    for (std::uint32_t i = 0; i < n_children; ++i) weights[node] += weights[n.first_child + i];
  }
  return weights;
}

// The edges in order; of leaves only the share of all weight that reaches them is noted.
class Lister {
 public:
  Lister(const CompactTree& compact, EdgeList& list)
      : tree_(compact.tree),
        list_(list),
        weights_(weights_of_nodes(compact)),
        last_level_(tree_.n_features, 0),
        path_{Step{1.0, 1.0, 0, 0, 0}} {}

  std::vector<double> run() {
    list_.edges.reserve(tree_.n_nodes() - 1);
    push_children(0, 1);
    while (!pending_.empty()) {
      const Edge edge = pending_.back();
      pending_.pop_back();
      while (path_.size() > edge.level) leave();
      enter(edge);
    }
    return std::move(reach_);
  }

 private:
  struct Step {
    double z;
    double reach;  // share of all weight
    std::uint32_t feature;
    std::uint32_t previous;
    std::uint32_t n_features;
  };

  void push_children(std::uint32_t node, std::uint32_t level) {
    const std::uint32_t first = tree_.nodes[node].first_child;
    const std::uint32_t n_children = tree_.n_children(node);
    for (std::uint32_t i = n_children; i-- > 0;) {
      const double share = weights_[node] > 0 ? weights_[first + i] / weights_[node]
                                              : 1.0 / static_cast<double>(n_children);
      const std::uint32_t feature = tree_.nodes[node].feature();
      pending_.push_back({share, 1.0, node, first + i, i, feature, level, 0, Edge::kNoLeaf});
    }
  }

  void enter(Edge edge) {
    edge.previous = last_level_[edge.feature];
    edge.z = (edge.previous > 0 ? path_[edge.previous].z : 1.0) * edge.share;
    last_level_[edge.feature] = edge.level;
    const Step& above = path_.back();
    path_.push_back({edge.z, above.reach * edge.share, edge.feature, edge.previous,
                     above.n_features + (edge.previous == 0 ? 1U : 0U)});
    list_.n_levels = std::max(list_.n_levels, edge.level + 1);
    list_.n_features = std::max(list_.n_features, path_.back().n_features);
    if (tree_.nodes[edge.to].is_leaf()) {
      edge.leaf = static_cast<std::uint32_t>(reach_.size());
      reach_.push_back(path_.back().reach);
    } else {
      push_children(edge.to, edge.level + 1);
    }
    list_.edges.push_back(edge);
  }

  void leave() {
    last_level_[path_.back().feature] = path_.back().previous;
    path_.pop_back();
  }

  const Tree& tree_;
  EdgeList& list_;
  std::vector<double> weights_;
  std::vector<std::uint32_t> last_level_;  // of each feature on the path
  std::vector<Step> path_;
  std::vector<Edge> pending_;
  std::vector<double> reach_;  // of each leaf
};

}  // namespace

EdgeList list_edges(const CompactTree& compact, std::span<const double> values, double weight) {
  EdgeList list;
  list.tree = &compact.tree;
  const std::size_t n_values = compact.tree.n_values;
  const auto value_of = [&](std::uint32_t node, std::size_t i) {
    return weight * values[std::size_t{value_row(compact.tree.nodes[node])} * n_values + i];
  };
  list.mean.assign(n_values, 0.0);
  if (compact.tree.n_nodes() == 1) {
    for (std::size_t i = 0; i < n_values; ++i) list.mean[i] = value_of(0, i);
    return list;
  }
  const std::vector<double> reach = Lister(compact, list).run();
  for (const Edge& edge : list.edges) {
    if (!edge.is_leaf()) continue;
    for (std::size_t i = 0; i < n_values; ++i) {
      list.mean[i] += reach[edge.leaf] * value_of(edge.to, i);
    }
  }
  // A constant contributes nothing; without it, targets far from zero keep their digits.
  list.leaf_values.reserve(reach.size() * n_values);
  for (const Edge& edge : list.edges) {
    if (!edge.is_leaf()) continue;
    for (std::size_t i = 0; i < n_values; ++i) {
      list.leaf_values.push_back(value_of(edge.to, i) - list.mean[i]);
    }
  }
  return list;
}

}  // namespace committee
