// The structure of a tree: children, levels, depths, and whether it can be trusted.
#include "tree/tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace committee {

std::vector<std::uint32_t> subset_data(std::vector<std::uint32_t> leaving) {
  std::sort(leaving.begin(), leaving.end());
  const std::size_t n_words = leaving.back() / 32 + 1;
  if (leaving.size() <= n_words) {
    leaving.insert(leaving.begin(), static_cast<std::uint32_t>(leaving.size()) | kListFlag);
    return leaving;
  }
  std::vector<std::uint32_t> data(1 + n_words, 0);
  data[0] = static_cast<std::uint32_t>(n_words);
  for (const std::uint32_t level : leaving) data[1 + level / 32] |= 1U << (level % 32);
  return data;
}

void append_subset(const std::array<std::uint64_t, 4>& leaving, std::vector<std::uint32_t>& data) {
  std::uint32_t n_levels = 0;
  std::uint32_t n_words = 0;
  for (std::uint32_t i = 0; i < leaving.size(); ++i) {
    if (leaving[i] == 0) continue;
    n_levels += static_cast<std::uint32_t>(std::popcount(leaving[i]));
    n_words = 2 * i + (leaving[i] >> 32 != 0 ? 2 : 1);
  }
  if (n_levels > n_words) {
    data.push_back(n_words);
    for (std::uint32_t i = 0; i < n_words; ++i) {
      data.push_back(static_cast<std::uint32_t>(leaving[i / 2] >> (32 * (i % 2))));
    }
    return;
  }
  data.push_back(n_levels | kListFlag);
  for (std::uint32_t i = 0; i < leaving.size(); ++i) {
    for (std::uint64_t rest = leaving[i]; rest != 0; rest &= rest - 1) {
      data.push_back(64 * i + static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
  }
}

std::uint32_t Tree::n_children(std::uint32_t node) const {
  const Node& n = nodes[node];
  if (n.is_leaf()) return 0;
  return n.kind() == SplitKind::kFanOut ? category_data[n.threshold.offset] : 2;
}

std::uint32_t Tree::child_of_level(const Node& node, std::int32_t level) const {
  const std::uint32_t* data = category_data.data() + node.threshold.offset;
  const auto wanted = static_cast<std::uint32_t>(level);
  if (node.kind() == SplitKind::kFanOut) {
    const std::uint32_t default_child = data[1];
    if (level < 0 || wanted >= data[2]) return default_child;
    return data[3 + wanted] == kNoChild ? default_child : data[3 + wanted];
  }
  const std::uint32_t length = data[0] & ~kListFlag;
  bool is_listed = false;
  if (level < 0) {
    is_listed = false;
  } else if ((data[0] & kListFlag) != 0) {
    is_listed = std::binary_search(data + 1, data + 1 + length, wanted);
  } else if (wanted / 32 < length) {
    is_listed = ((data[1 + wanted / 32] >> (wanted % 32)) & 1U) != 0;
  }
  // Child 0 is reached by "default and goes left" and by "listed and default goes right".
  return node.missing_goes_left() == is_listed ? 1 : 0;
}

std::size_t Tree::category_length(const Node& node) const {
  const bool has_data =
      !node.is_leaf() && (node.kind() == SplitKind::kSubset || node.kind() == SplitKind::kFanOut);
  return has_data
             ? committee::category_length(node.kind(), category_data.data() + node.threshold.offset)
             : 0;
}

std::vector<std::uint32_t> Tree::depths() const {
  std::vector<std::uint32_t> depth(n_nodes(), 0);
  for (std::uint32_t node = 0; node < n_nodes(); ++node) {
    const std::uint32_t first = nodes[node].first_child;
    std::fill_n(depth.begin() + first, n_children(node), depth[node] + 1);
  }
  return depth;
}

namespace {

// Looks at a tree from the outside in: nothing is read before its place is known to exist.
class Validator {
 public:
  Validator(const Tree& tree, std::span<const FeatureKind> kinds) : tree_(tree), kinds_(kinds) {}

  void run() {
    check_sizes();
    check_statistics();
    has_parent_.assign(tree_.n_nodes(), false);
    std::size_t n_reached = 1;
    for (std::size_t i = 0; i < tree_.n_nodes(); ++i) n_reached += check_node(i);
    if (n_reached != tree_.n_nodes()) {
      throw std::invalid_argument("a tree of " + std::to_string(tree_.n_nodes()) + " nodes has " +
                                  std::to_string(tree_.n_nodes() - n_reached) +
                                  " nodes without a parent");
    }
  }

 private:
  [[noreturn]] static void fail(std::size_t node, const std::string& what) {
    throw std::invalid_argument("node " + std::to_string(node) + " " + what);
  }

  static void check_size(const char* name, std::size_t found, std::size_t expected) {
    if (found == expected) return;
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(found) +
                                " entries; the tree needs " + std::to_string(expected));
  }

  void check_sizes() const {
    const std::size_t n_nodes = tree_.n_nodes();
    if (n_nodes == 0) throw std::invalid_argument("a tree needs at least one node");
    if (n_nodes > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      throw std::invalid_argument("a tree has at most 2147483647 nodes; got " +
                                  std::to_string(n_nodes));
    }
    if (tree_.n_features > Node::kMaxFeatures) {
      throw std::invalid_argument("a tree has at most 16777216 features; got " +
                                  std::to_string(tree_.n_features));
    }
    if (tree_.n_values == 0) throw std::invalid_argument("a leaf needs at least one value");
    check_size("kinds", kinds_.size(), tree_.n_features);
    if (tree_.values.size() % tree_.n_values != 0 ||
        tree_.values.size() / tree_.n_values != n_nodes) {
      throw std::invalid_argument("values has " + std::to_string(tree_.values.size()) +
                                  " entries; the tree needs " + std::to_string(n_nodes) + " x " +
                                  std::to_string(tree_.n_values));
    }
    check_size("impurity", tree_.impurity.size(), n_nodes);
    check_size("weight", tree_.weight.size(), n_nodes);
    check_size("n_rows", tree_.n_rows.size(), n_nodes);
  }

  void check_statistics() const {
    for (std::size_t i = 0; i < tree_.values.size(); ++i) {
      if (!std::isfinite(tree_.values[i])) fail(i / tree_.n_values, "has a value not finite");
    }
    for (std::size_t i = 0; i < tree_.n_nodes(); ++i) {
      if (!std::isfinite(tree_.impurity[i])) fail(i, "has an impurity that is not finite");
      if (!std::isfinite(tree_.weight[i]) || tree_.weight[i] < 0) {
        fail(i, "has a weight that is negative or not finite");
      }
      if (tree_.n_rows[i] < 0) fail(i, "has a negative number of rows");
    }
  }

  // Returns the number of its children.
  std::size_t check_node(std::size_t index) {
    const Node& node = tree_.nodes[index];
    if (node.is_leaf()) {
      if (node.feature_and_flags != 0) fail(index, "is a leaf with split flags");
      return 0;
    }
    if ((node.feature_and_flags >> 27) != 0) fail(index, "has unknown split flags");
    if (node.feature() >= tree_.n_features) {
      fail(index, "splits feature " + std::to_string(node.feature()) + "; there are " +
                      std::to_string(tree_.n_features));
    }
    if (feature_kind(node.kind()) != kinds_[node.feature()]) {
      fail(index,
           "has a split that does not fit the kind of feature " + std::to_string(node.feature()));
    }
    if (node.kind() == SplitKind::kReal && std::isnan(node.threshold.real)) {
      fail(index, "has a threshold that is not a number");
    }
    if (node.kind() == SplitKind::kSubset) check_subset(index);
    if (node.kind() == SplitKind::kFanOut) check_fan_out(index);
    const std::size_t n_children = tree_.n_children(static_cast<std::uint32_t>(index));
    check_children(index, n_children);
    return n_children;
  }

  void check_children(std::size_t index, std::size_t n_children) {
    const std::size_t first = tree_.nodes[index].first_child;
    if (first <= index) fail(index, "has a child that does not come after it");
    if (n_children > tree_.n_nodes() || first > tree_.n_nodes() - n_children) {
      fail(index, "has children beyond the last node");
    }
    for (std::size_t child = first; child < first + n_children; ++child) {
      if (has_parent_[child]) fail(child, "has more than one parent");
      has_parent_[child] = true;
    }
  }

  // The next `length` words of a node's category data. As no two nodes share words, the total
  // cannot exceed what there is; that also bounds the time that a hostile file can cost.
  std::span<const std::uint32_t> take(std::size_t index, std::size_t from, std::size_t length) {
    const std::uint64_t offset = tree_.nodes[index].threshold.offset;
    const std::size_t size = tree_.category_data.size();
    if (offset > size || from > size - offset || length > size - offset - from) {
      fail(index, "has category data beyond the end");
    }
    n_category_words_ += length;
    if (n_category_words_ > size) fail(index, "shares its category data with other nodes");
    return {tree_.category_data.data() + offset + from, length};
  }

  void check_subset(std::size_t index) {
    const std::uint32_t header = take(index, 0, 1)[0];
    const std::uint32_t length = header & ~kListFlag;
    const bool is_list = (header & kListFlag) != 0;
    if (length > (is_list ? kMaxLevels : kMaxLevels / 32)) fail(index, "lists too many levels");
    const auto words = take(index, 1, length);
    if (!is_list) return;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] >= kMaxLevels) fail(index, "lists a level beyond the largest");
      if (i > 0 && words[i] <= words[i - 1]) fail(index, "lists levels not in ascending order");
    }
  }

  void check_fan_out(std::size_t index) {
    const auto header = take(index, 0, 3);
    const std::uint32_t n_children = header[0];
    if (n_children < 2 || n_children > kMaxLevels) {
      fail(index, "fans out to " + std::to_string(n_children) + " children");
    }
    if (header[1] >= n_children) fail(index, "has a default child that does not exist");
    if (header[2] > kMaxLevels) fail(index, "has too many levels");
    for (const std::uint32_t child : take(index, 3, header[2])) {
      if (child != kNoChild && child >= n_children) {
        fail(index, "sends a level to a child that does not exist");
      }
    }
  }

  const Tree& tree_;
  std::span<const FeatureKind> kinds_;
  std::vector<bool> has_parent_;
  std::size_t n_category_words_ = 0;
};

}  // namespace

void validate(const Tree& tree, std::span<const FeatureKind> kinds) {
  Validator(tree, kinds).run();
}

std::vector<std::optional<FeatureKind>> split_feature_kinds(const Tree& tree) {
  std::vector<std::optional<FeatureKind>> kinds(tree.n_features);
  for (const Node& node : tree.nodes) {
    if (!node.is_leaf()) kinds[node.feature()] = feature_kind(node.kind());
  }
  return kinds;
}

}  // namespace committee
