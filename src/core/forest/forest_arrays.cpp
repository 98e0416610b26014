#include "forest/forest_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace committee {
namespace {

// Calls visit(node) for the nodes of a tree depth-first, as the grower numbers them; visit returns
// the first child and the number of children.
template <typename Visit>
void visit_depth_first(const Visit& visit) {
  std::vector<std::uint32_t> stack{0};
  while (!stack.empty()) {
    const std::uint32_t node = stack.back();
    stack.pop_back();
    const auto [first, n_children] = visit(node);
    for (std::uint32_t i = n_children; i-- > 0;) stack.push_back(first + i);
  }
}

// ---- out ----

// The weights of classes in a leaf if they are whole, small and give back the same shares.
bool append_counts(const double* shares, double weight, const ForestInfo& info,
                   std::vector<std::uint32_t>& counts) {
  for (const std::uint32_t n_classes : info.n_classes) {
    double total = 0.0;
    for (std::size_t i = 0; i < n_classes; ++i) {
      const double count = std::nearbyint(shares[i] * weight);
      if (!(count >= 0.0 && count <= 2147483647.0) || count / weight != shares[i]) return false;
      counts.push_back(static_cast<std::uint32_t>(count));
      total += count;
    }
    if (total != weight) return false;
    shares += n_classes;
  }
  return true;
}

bool append_counts(const CompactTree& tree, const ForestInfo& info,
                   std::vector<std::uint32_t>& counts) {
  if (tree.is_complete() || !tree.leaf_rows.empty()) return false;
  for (const Node& node : tree.tree.nodes) {
    if (!node.is_leaf()) continue;
    const double* shares = tree.leaf_values.data() + std::size_t{value_row(node)} * info.n_values;
    if (!append_counts(shares, tree.leaf_weight[leaf_number(node)], info, counts)) return false;
  }
  return true;
}

template <typename T, typename U>
void append(std::vector<T>& to, const std::vector<U>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append_structure(const Tree& tree, ForestArrays& arrays) {
  arrays.node_counts.push_back(static_cast<std::uint32_t>(tree.n_nodes()));
  for (const Node& node : tree.nodes) {
    if (node.is_leaf()) {
      arrays.splits.push_back(0);
      continue;
    }
    const bool is_threshold = node.kind() == SplitKind::kReal || node.kind() == SplitKind::kInteger;
    if (is_threshold) arrays.thresholds.push_back(node.threshold.offset);
    arrays.splits.push_back(1 + 4 * node.feature() + (node.kind() == SplitKind::kFanOut ? 2U : 0U) +
                            (node.missing_goes_left() ? 1U : 0U));
  }
  visit_depth_first([&](std::uint32_t node) {
    const Node& n = tree.nodes[node];
    if (const std::size_t length = tree.category_length(n); length > 0) {
      const auto begin =
          tree.category_data.begin() + static_cast<std::ptrdiff_t>(n.threshold.offset);
      arrays.category_data.insert(arrays.category_data.end(), begin,
                                  begin + static_cast<std::ptrdiff_t>(length));
    }
    return std::pair(n.first_child, tree.n_children(node));
  });
}

void append_leaves(const CompactTree& tree, bool has_rows, bool has_impurity,
                   ForestArrays& arrays) {
  arrays.value_counts.push_back(
      static_cast<std::uint32_t>(tree.leaf_values.size() / tree.tree.n_values));
  for (const Node& node : tree.tree.nodes) {
    if (node.is_leaf()) arrays.value_rows.push_back(value_row(node));
  }
  append(arrays.values, tree.leaf_values);
  append(arrays.weights, tree.leaf_weight);
  append(arrays.inner_impurity, tree.inner_impurity);
  if (has_impurity) {
    append(arrays.impurity, tree.leaf_impurity);
    arrays.impurity.resize(arrays.weights.size(), 0.0);
  }
  if (!has_rows) return;
  if (!tree.leaf_rows.empty()) {
    append(arrays.n_rows, tree.leaf_rows);
  } else {
    for (const double weight : tree.leaf_weight) {
      arrays.n_rows.push_back(static_cast<std::uint64_t>(weight));
    }
  }
}

// ---- in ----

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

// Takes arrays piece by piece and never more than there is.
template <typename T>
class Reader {
 public:
  Reader(const std::vector<T>& items, const char* name) : items_(items), name_(name) {}

  std::span<const T> take(std::size_t n) {
    if (n > items_.size()) fail(std::string(name_) + " ends too early");
    const std::span<const T> taken = items_.first(n);
    items_ = items_.subspan(n);
    return taken;
  }
  std::span<const T> rest() const { return items_; }
  void finish() const {
    if (!items_.empty()) fail(std::string(name_) + " is too long");
  }

 private:
  std::span<const T> items_;
  const char* name_;
};

class ForestReader {
 public:
  explicit ForestReader(const ForestArrays& arrays)
      : arrays_(arrays),
        info_(arrays.info),
        splits_(arrays.splits, "splits"),
        thresholds_(arrays.thresholds, "thresholds"),
        category_data_(arrays.category_data, "category_data"),
        class_counts_(arrays.class_counts, "class_counts"),
        value_rows_(arrays.value_rows, "value_rows"),
        values_(arrays.values, "values"),
        weights_(arrays.weights, "weights"),
        n_rows_(arrays.n_rows, "n_rows"),
        impurity_(arrays.impurity, "impurity"),
        inner_impurity_(arrays.inner_impurity, "inner_impurity") {}

  Forest read() {
    check_info();
    Forest forest{info_, {}};
    std::vector<FeatureKind> kinds;
    for (const auto& kind : info_.kinds) kinds.push_back(kind.value_or(FeatureKind::kReal));
    for (std::size_t i = 0; i < arrays_.node_counts.size(); ++i) {
      auto tree = std::make_shared<CompactTree>(read_tree(i));
      validate(expand(*tree, info_), kinds);
      forest.add(std::move(tree));
    }
    splits_.finish();
    thresholds_.finish();
    category_data_.finish();
    class_counts_.finish();
    value_rows_.finish();
    values_.finish();
    weights_.finish();
    n_rows_.finish();
    impurity_.finish();
    inner_impurity_.finish();
    return forest;
  }

 private:
  void check_info() const {
    if (is_class_criterion(info_.criterion) != info_.is_classification) {
      fail("the criterion does not fit");
    }
    if (info_.n_values == 0) fail("a leaf needs at least one value");
    if (arrays_.node_counts.empty()) fail("a forest needs at least one tree");
    if (info_.n_features > Node::kMaxFeatures) fail("there are too many features");
    if (info_.kinds.size() != info_.n_features) fail("kinds must have one entry a feature");
    std::uint64_t n_values = 0;
    for (const std::uint32_t n_classes : info_.n_classes) {
      if (n_classes == 0) fail("an output has no classes");
      n_values += n_classes;
    }
    if (n_values != (info_.is_classification ? info_.n_values : 0U)) {
      fail("n_classes does not fit the values");
    }
    if (arrays_.form == StoredForm::kCounts && !info_.is_classification) {
      fail("counts of classes need classes");
    }
    if (arrays_.form == StoredForm::kLeaves &&
        arrays_.value_counts.size() != arrays_.node_counts.size()) {
      fail("value_counts must have one entry a tree");
    }
  }

  CompactTree read_tree(std::size_t index) {
    CompactTree compact;
    Tree& tree = compact.tree;
    tree.n_features = info_.n_features;
    tree.n_values = info_.n_values;
    read_nodes(arrays_.node_counts[index], tree);
    const auto is_leaf = [](const Node& node) { return node.is_leaf(); };
    compact.n_leaves =
        static_cast<std::uint32_t>(std::count_if(tree.nodes.begin(), tree.nodes.end(), is_leaf));
    switch (arrays_.form) {
      case StoredForm::kCounts:
        read_counts(compact);
        break;
      case StoredForm::kLeaves:
        read_leaves(arrays_.value_counts[index], compact);
        break;
      case StoredForm::kNodes:
        read_all(compact);
        break;
    }
    return compact;
  }

  // Nodes with thresholds, then children in the order of a depth-first walk.
  void read_nodes(std::size_t n_nodes, Tree& tree) {
    if (n_nodes == 0) fail("a tree needs at least one node");
    const std::span<const std::uint32_t> splits = splits_.take(n_nodes);
    tree.nodes.resize(n_nodes);
    for (std::size_t i = 0; i < n_nodes; ++i) {
      if (splits[i] != 0) read_split(splits[i] - 1, tree.nodes[i]);
    }
    std::uint64_t n_numbered = 1;
    visit_depth_first([&](std::uint32_t number) {
      Node& node = tree.nodes[number];
      if (splits[number] == 0) return std::pair(0U, 0U);
      const bool is_category =
          node.kind() == SplitKind::kSubset || node.kind() == SplitKind::kFanOut;
      if (is_category) read_category(node, tree);
      const auto first = static_cast<std::uint32_t>(n_numbered);
      node.first_child = first;
      const std::uint32_t n_children = tree.n_children(number);
      n_numbered += n_children;
      if (n_numbered > n_nodes) fail("a tree has fewer nodes than its splits need");
      return std::pair(first, n_children);
    });
    if (n_numbered != n_nodes) fail("a tree has more nodes than its splits need");
  }

  void read_split(std::uint32_t code, Node& node) {
    const std::uint32_t feature = code / 4;
    if (feature >= info_.n_features) fail("a split is on a feature that does not exist");
    if (!info_.kinds[feature]) fail("a split is on a feature of unknown kind");
    const bool fans_out = (code & 2U) != 0;
    SplitKind kind = fans_out ? SplitKind::kFanOut : SplitKind::kSubset;
    if (*info_.kinds[feature] != FeatureKind::kCategory) {
      if (fans_out) fail("a split of numbers fans out");
      kind = *info_.kinds[feature] == FeatureKind::kReal ? SplitKind::kReal : SplitKind::kInteger;
      node.threshold.offset = thresholds_.take(1)[0];
    }
    node.set_split(feature, kind, (code & 1U) != 0);
  }

  void read_category(Node& node, Tree& tree) {
    const bool fans_out = node.kind() == SplitKind::kFanOut;
    const std::span<const std::uint32_t> rest = category_data_.rest();
    if (rest.size() < (fans_out ? 3U : 1U)) fail("category_data ends too early");
    // Nothing may be derived from children that do not exist; validate() looks at the rest.
    if (fans_out && rest[0] < 2) fail("a split fans out to fewer than two children");
    const auto data = category_data_.take(category_length(node.kind(), rest.data()));
    node.threshold.offset = tree.category_data.size();
    tree.category_data.insert(tree.category_data.end(), data.begin(), data.end());
  }

  void read_counts(CompactTree& compact) {
    const std::size_t n_values = info_.n_values;
    LeafStatistics leaves;
    if (class_counts_.rest().size() / n_values < compact.n_leaves) {
      fail("class_counts ends too early");
    }
    leaves.values.reserve(compact.n_leaves * n_values);
    for (std::uint32_t leaf = 0; leaf < compact.n_leaves; ++leaf) {
      std::span<const std::uint32_t> counts = class_counts_.take(n_values);
      double weight = -1.0;
      for (const std::uint32_t n_classes : info_.n_classes) {
        double total = 0.0;
        for (std::size_t i = 0; i < n_classes; ++i) total += counts[i];
        if (total == 0.0) fail("a leaf has no rows");
        if (weight >= 0.0 && total != weight) fail("outputs of a leaf have different weights");
        for (std::size_t i = 0; i < n_classes; ++i) leaves.values.push_back(counts[i] / total);
        counts = counts.subspan(n_classes);
        weight = total;
      }
      leaves.weight.push_back(weight);
    }
    store_leaves(compact, std::move(leaves));
  }

  void read_leaves(std::size_t n_rows_of_values, CompactTree& compact) {
    const std::size_t n_leaves = compact.n_leaves;
    const auto rows = value_rows_.take(n_leaves);
    if (n_rows_of_values > n_leaves) fail("value_counts has more values than leaves");
    const auto values = values_.take(n_rows_of_values * info_.n_values);
    const auto weights = weights_.take(n_leaves);
    check_weights(weights, arrays_.n_rows.empty());
    check_finite(values);
    compact.leaf_values.assign(values.begin(), values.end());
    compact.leaf_weight.assign(weights.begin(), weights.end());
    if (!arrays_.n_rows.empty()) {
      for (const std::uint64_t n : n_rows_.take(n_leaves)) {
        if (n > std::numeric_limits<std::uint32_t>::max()) fail("a leaf has too many rows");
        compact.leaf_rows.push_back(static_cast<std::uint32_t>(n));
      }
    }
    if (!arrays_.impurity.empty()) {
      const auto impurity = impurity_.take(n_leaves);
      check_finite(impurity);
      compact.leaf_impurity.assign(impurity.begin(), impurity.end());
    }
    if (!info_.is_classification) {
      const auto inner = inner_impurity_.take(compact.tree.n_nodes() - n_leaves);
      check_finite(inner);
      compact.inner_impurity.assign(inner.begin(), inner.end());
    }
    std::uint32_t leaf = 0;
    for (Node& node : compact.tree.nodes) {
      if (!node.is_leaf()) continue;
      if (rows[leaf] >= n_rows_of_values) fail("a leaf has values that do not exist");
      node.threshold.offset = pack_leaf(leaf, rows[leaf]);
      ++leaf;
    }
  }

  void read_all(CompactTree& compact) {
    Tree& tree = compact.tree;
    const std::size_t n_nodes = tree.n_nodes();
    const auto values = values_.take(n_nodes * info_.n_values);
    const auto weights = weights_.take(n_nodes);
    const auto impurity = impurity_.take(n_nodes);
    tree.values.assign(values.begin(), values.end());
    tree.weight.assign(weights.begin(), weights.end());
    tree.impurity.assign(impurity.begin(), impurity.end());
    for (const std::uint64_t n : n_rows_.take(n_nodes)) {
      if (n > std::uint64_t{1} << 62) fail("a node has too many rows");
      tree.n_rows.push_back(static_cast<std::int64_t>(n));
    }
    number_leaves(compact);
  }

  static void check_finite(std::span<const double> numbers) {
    for (const double number : numbers) {
      if (!std::isfinite(number)) fail("a leaf has a number that is not finite");
    }
  }

  static void check_weights(std::span<const double> weights, bool are_counts) {
    for (const double weight : weights) {
      const bool is_sound = std::isfinite(weight) && weight > 0.0 &&
                            (!are_counts || (weight == std::floor(weight) && weight < 0x1p32));
      if (!is_sound) fail("a leaf has a weight that is not a number of rows");
    }
  }

  const ForestArrays& arrays_;
  const ForestInfo& info_;
  Reader<std::uint32_t> splits_;
  Reader<std::uint64_t> thresholds_;
  Reader<std::uint32_t> category_data_;
  Reader<std::uint32_t> class_counts_;
  Reader<std::uint32_t> value_rows_;
  Reader<double> values_;
  Reader<double> weights_;
  Reader<std::uint64_t> n_rows_;
  Reader<double> impurity_;
  Reader<double> inner_impurity_;
};

}  // namespace

ForestArrays to_arrays(const Forest& forest) {
  ForestArrays arrays;
  arrays.info = forest.info;
  for (const auto& tree : forest.trees) append_structure(tree->tree, arrays);
  const auto all = [&](const auto& holds) {
    return std::all_of(forest.trees.begin(), forest.trees.end(), holds);
  };
  if (forest.info.is_classification && all([&](const auto& tree) {
        return append_counts(*tree, forest.info, arrays.class_counts);
      })) {
    return arrays;
  }
  arrays.class_counts = {};
  if (all([](const auto& tree) { return !tree->is_complete(); })) {
    arrays.form = StoredForm::kLeaves;
    const bool has_rows = !all([](const auto& tree) { return tree->leaf_rows.empty(); });
    const bool is_pure = all([](const auto& tree) { return tree->leaf_impurity.empty(); });
    for (const auto& tree : forest.trees) append_leaves(*tree, has_rows, !is_pure, arrays);
    return arrays;
  }
  arrays.form = StoredForm::kNodes;
  for (const auto& tree : forest.trees) {
    const Tree full = expand(*tree, forest.info);
    append(arrays.values, full.values);
    append(arrays.weights, full.weight);
    append(arrays.impurity, full.impurity);
    for (const std::int64_t n : full.n_rows) {
      arrays.n_rows.push_back(static_cast<std::uint64_t>(n));
    }
  }
  return arrays;
}

Forest from_arrays(const ForestArrays& arrays) { return ForestReader(arrays).read(); }

}  // namespace committee
