#include "tree.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <string>

#include "arguments.hpp"
#include "arrays.hpp"
#include "buffer.hpp"
#include "forest/contributions.hpp"
#include "gil.hpp"
#include "monitor.hpp"
#include "table.hpp"
#include "tree/pruning.hpp"

namespace committee {

void TreeObject::check_table(const TableView& table) const {
  static constexpr const char* kNames[] = {"real", "integer", "category"};
  if (table.n_features() != tree_.n_features) {
    throw nb::value_error(("the table has " + std::to_string(table.n_features()) +
                           " features; the tree was grown on " + std::to_string(tree_.n_features))
                              .c_str());
  }
  for (std::size_t i = 0; i < needed_kinds_.size(); ++i) {
    if (!needed_kinds_[i] || *needed_kinds_[i] == table.kinds[i]) continue;
    throw nb::value_error(("feature " + std::to_string(i) + " is of kind " +
                           kNames[static_cast<int>(table.kinds[i])] +
                           "; the tree was grown on kind " +
                           kNames[static_cast<int>(*needed_kinds_[i])])
                              .c_str());
  }
}

namespace {

// ---- the arrays of a tree, in and out ----

// A read-only look at one field of each node, or at a whole vector; `self` keeps it alive.
template <typename T>
nb::object view_of(const T* data, std::initializer_list<std::size_t> shape, nb::handle self,
                   std::initializer_list<std::int64_t> strides = {}) {
  return nb::cast(nb::ndarray<nb::numpy, const T>(data, shape, self, strides));
}

nb::dict arrays(nb::handle_t<TreeObject> self) {
  const Tree& tree = made(self).tree();
  const std::size_t n = tree.n_nodes();
  const Node* nodes = tree.nodes.data();
  nb::dict result;
  result["threshold"] = view_of(&nodes->threshold.offset, {n}, self, {2});
  result["feature_and_flags"] = view_of(&nodes->feature_and_flags, {n}, self, {4});
  result["first_child"] = view_of(&nodes->first_child, {n}, self, {4});
  result["category_data"] = view_of(tree.category_data.data(), {tree.category_data.size()}, self);
  result["values"] = view_of(tree.values.data(), {n, tree.n_values}, self);
  result["impurity"] = view_of(tree.impurity.data(), {n}, self);
  result["weight"] = view_of(tree.weight.data(), {n}, self);
  result["n_rows"] = view_of(tree.n_rows.data(), {n}, self);
  return result;
}

template <typename T>
constexpr char kKindOf = std::is_floating_point_v<T> ? 'f' : (std::is_signed_v<T> ? 'i' : 'u');

Buffer find_array(const nb::dict& arrays, const char* name, int n_dimensions) {
  if (!arrays.contains(name)) {
    throw nb::value_error(("arrays has no entry " + std::string(name)).c_str());
  }
  return Buffer(arrays[name], name, n_dimensions);
}

template <typename T>
std::vector<T> read_array(const nb::dict& arrays, const char* name, int n_dimensions = 1) {
  const Buffer buffer = find_array(arrays, name, n_dimensions);
  if (buffer.kind() != kKindOf<T> || buffer.item_size() != sizeof(T)) {
    const char* kind = std::is_floating_point_v<T> ? "float" : std::is_signed_v<T> ? "int" : "uint";
    throw nb::type_error((std::string(name) + " must be " + kind + std::to_string(8 * sizeof(T)) +
                          "; got " + buffer.type_name())
                             .c_str());
  }
  return buffer.copy<T>();
}

std::vector<Node> read_nodes(const nb::dict& arrays) {
  const auto thresholds = read_array<std::uint64_t>(arrays, "threshold");
  const auto flags = read_array<std::uint32_t>(arrays, "feature_and_flags");
  const auto first_children = read_array<std::uint32_t>(arrays, "first_child");
  if (flags.size() != thresholds.size() || first_children.size() != thresholds.size()) {
    throw nb::value_error(("threshold, feature_and_flags and first_child must have one entry a "
                           "node; got " +
                           std::to_string(thresholds.size()) + ", " + std::to_string(flags.size()) +
                           " and " + std::to_string(first_children.size()))
                              .c_str());
  }
  std::vector<Node> nodes(thresholds.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].threshold.offset = thresholds[i];
    nodes[i].feature_and_flags = flags[i];
    nodes[i].first_child = first_children[i];
  }
  return nodes;
}

std::vector<FeatureKind> read_kinds(const std::vector<int>& kinds) {
  std::vector<FeatureKind> result;
  for (const int kind : kinds) {
    if (kind < 0 || kind > 2) {
      throw nb::value_error(
          ("kinds must hold 0 (real), 1 (integer) or 2 (category); got " + std::to_string(kind))
              .c_str());
    }
    result.push_back(static_cast<FeatureKind>(kind));
  }
  return result;
}

TreeObject from_arrays(std::uint32_t n_features, const std::vector<int>& kinds,
                       const nb::dict& arrays) {
  Tree tree;
  tree.n_features = n_features;
  tree.nodes = read_nodes(arrays);
  tree.category_data = read_array<std::uint32_t>(arrays, "category_data");
  const std::size_t n_values = find_array(arrays, "values", 2).length(1);
  if (n_values > 0xFFFFFFFFU) throw nb::value_error("values has too many columns");
  tree.n_values = static_cast<std::uint32_t>(n_values);
  tree.values = read_array<double>(arrays, "values", 2);
  tree.impurity = read_array<double>(arrays, "impurity");
  tree.weight = read_array<double>(arrays, "weight");
  tree.n_rows = read_array<std::int64_t>(arrays, "n_rows");
  validate(tree, read_kinds(kinds));
  return TreeObject(std::move(tree));
}

// The kind that splits ask of each feature. A feature without a split is given as real.
std::vector<int> kinds_of(const TreeObject& self) {
  std::vector<int> kinds;
  for (const auto& kind : self.needed_kinds()) {
    kinds.push_back(static_cast<int>(kind.value_or(FeatureKind::kReal)));
  }
  return kinds;
}

// How pickle, copy and skops make the tree again.
nb::tuple reduce(nb::handle_t<TreeObject> self) {
  const TreeObject& tree = made(self);
  return nb::make_tuple(nb::type<TreeObject>(),
                        nb::make_tuple(tree.tree().n_features, kinds_of(tree), arrays(self)));
}

// ---- what a tree does ----

std::size_t checked_threads(std::int64_t n_threads) {
  if (n_threads >= 1) return static_cast<std::size_t>(n_threads);
  throw nb::value_error(
      ("n_threads must be an int >= 1; got " + std::to_string(n_threads)).c_str());
}

auto predict_table(const TreeObject& self, const TableObject& table, std::int64_t n_threads) {
  const std::size_t threads = checked_threads(n_threads);
  self.check_table(table.view());
  const std::size_t n_rows = table.view().n_rows;
  const std::size_t n_values = self.tree().n_values;
  auto out = empty_array<double>({n_rows, n_values});
  const WithoutGil without_gil;
  predict(self.tree(), table.view(), {out.data(), n_rows * n_values}, threads);
  return out;
}

auto apply_table(const TreeObject& self, const TableObject& table, std::int64_t n_threads) {
  const std::size_t threads = checked_threads(n_threads);
  self.check_table(table.view());
  const std::size_t n_rows = table.view().n_rows;
  auto leaves = empty_array<std::uint32_t>({n_rows});
  const WithoutGil without_gil;
  apply(self.tree(), table.view(), {leaves.data(), n_rows}, threads);
  return leaves;
}

auto decision_path_of_table(const TreeObject& self, const TableObject& table) {
  self.check_table(table.view());
  DecisionPath path;
  {
    const WithoutGil without_gil;
    path = decision_path(self.tree(), table.view());
  }
  return std::make_pair(to_array(std::move(path.offsets)), to_array(std::move(path.indices)));
}

auto contributions_of_table(const TreeObject& self, const TableObject& table,
                            std::int64_t n_threads) {
  const std::size_t threads = checked_threads(n_threads);
  self.check_table(table.view());
  const Tree& tree = self.tree();
  auto out =
      empty_array<double>({table.view().n_rows, std::size_t{tree.n_features} + 1, tree.n_values});
  run_monitored(nb::none(), [&](Monitor& monitor) {
    contributions(tree, table.view(), {out.data(), out.size()}, threads, monitor);
  });
  return out;
}

TreeObject prune_tree(const TreeObject& self, double alpha) {
  if (!(alpha >= 0)) {
    throw nb::value_error(
        ("alpha must be a number >= 0; got " + nb::cast<std::string>(nb::str(nb::float_(alpha))))
            .c_str());
  }
  const WithoutGil without_gil;
  return TreeObject(prune(self.tree(), alpha));
}

auto path_of_tree(const TreeObject& self) {
  PruningPath path;
  {
    const WithoutGil without_gil;
    path = pruning_path(self.tree());
  }
  return std::make_pair(to_array(std::move(path.alphas)), to_array(std::move(path.impurities)));
}

}  // namespace

void register_tree(nb::module_& m) {
  nb::class_<TreeObject>(m, "Tree",
                         "A grown tree. The layout of its arrays is in src/core/tree/tree.hpp.")
      .def(nb::new_(&from_arrays), nb::arg("n_features"), nb::arg("kinds"), nb::arg("arrays"),
           "A tree from copies of such arrays; ValueError unless sound.")
      .def("__reduce__", &reduce)
      .def_prop_ro("n_features", [](const TreeObject& self) { return self.tree().n_features; })
      .def_prop_ro("kinds", &kinds_of)
      .def_prop_ro("n_nodes", [](const TreeObject& self) { return self.tree().n_nodes(); })
      .def_prop_ro("n_values", [](const TreeObject& self) { return self.tree().n_values; })
      .def("arrays", &arrays,
           nb::sig("def arrays(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
           "Read-only views of the arrays of the tree, by name.")
      .def(
          "depths", [](const TreeObject& self) { return to_array(self.tree().depths()); },
          "The depth of each node; the root has 0.")
      .def("predict", &predict_table, nb::arg("table"), nb::arg("n_threads") = 1,
           "Values of the leaf of each row, n_rows x n_values.")
      .def("apply", &apply_table, nb::arg("table"), nb::arg("n_threads") = 1,
           "Number of the leaf of each row.")
      .def("decision_path", &decision_path_of_table, nb::arg("table"),
           "The nodes each row passes, as (offsets, indices).")
      .def("contributions", &contributions_of_table, nb::arg("table"), nb::arg("n_threads") = 1,
           "What each feature adds to predict, and last the mean: "
           "n_rows x (n_features + 1) x n_values.")
      .def("prune", &prune_tree, nb::arg("alpha"),
           "The tree without the links of strength <= alpha.")
      .def("pruning_path", &path_of_tree, "Effective alphas and total leaf impurities.");
}

}  // namespace committee
