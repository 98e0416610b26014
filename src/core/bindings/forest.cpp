#include "forest.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "arrays.hpp"
#include "forest/contributions.hpp"
#include "forest/forest.hpp"
#include "forest/forest_grower.hpp"
#include "forest/forest_routing.hpp"
#include "gil.hpp"
#include "grower.hpp"
#include "monitor.hpp"
#include "table.hpp"
#include "tree.hpp"

namespace committee {

std::size_t checked_threads(std::int64_t n_threads) {
  if (n_threads >= 1) return static_cast<std::size_t>(n_threads);
  throw nb::value_error(
      ("n_threads must be an int >= 1; got " + std::to_string(n_threads)).c_str());
}

// ValueError unless the forest can read the table.
void check_table(const Forest& forest, const TableView& table) {
  static constexpr const char* kNames[] = {"real", "integer", "category"};
  const ForestInfo& info = forest.info;
  if (table.n_features() != info.n_features) {
    throw nb::value_error(("the table has " + std::to_string(table.n_features()) +
                           " features; the forest was grown on " + std::to_string(info.n_features))
                              .c_str());
  }
  for (std::size_t i = 0; i < info.kinds.size(); ++i) {
    if (!info.kinds[i] || *info.kinds[i] == table.kinds[i]) continue;
    throw nb::value_error(("feature " + std::to_string(i) + " is of kind " +
                           kNames[static_cast<int>(table.kinds[i])] +
                           "; the forest was grown on kind " +
                           kNames[static_cast<int>(*info.kinds[i])])
                              .c_str());
  }
}

namespace {

// ---- making forests ----

Forest grow(const DatasetObject& dataset, std::size_t n_trees,
            const std::optional<Matrix<std::int32_t>>& classes,
            const std::vector<std::uint32_t>& n_classes, const std::optional<Matrix<double>>& reals,
            const std::optional<Vector<double>>& weights,
            const std::optional<Vector<std::uint32_t>>& counts, const nb::dict& settings,
            std::uint64_t first_tree, std::uint64_t tree_seed, const SamplingPlan* plan,
            std::uint64_t row_seed, const SamplingPlan* feature_plan, std::uint64_t feature_seed,
            bool balance_classes, double ccp_alpha, double leaf_smoothing, bool use_records,
            std::int64_t n_threads, nb::object progress) {
  const BinnedDataset& binned = spread_dataset(dataset);
  const std::size_t n_rows = binned.n_rows();
  const std::size_t n_features = binned.n_features();
  const Target target = make_target(n_rows, classes, n_classes, reals);
  const GrowOptions tree_options = options_of(settings, n_features, target);
  const ForestOptions options{first_tree, n_trees,        tree_seed,    plan,
                              row_seed,   feature_plan,   feature_seed, balance_classes,
                              ccp_alpha,  leaf_smoothing, use_records,  checked_threads(n_threads)};
  if (plan != nullptr && plan->n_rows() != n_rows) {
    throw nb::value_error("the plan must be for the rows of the dataset");
  }
  if (plan != nullptr && counts) throw nb::value_error("give either a plan or counts");
  if (feature_plan != nullptr && feature_plan->n_rows() != n_features) {
    throw nb::value_error("the feature plan must be for the features of the dataset");
  }
  if (!(ccp_alpha >= 0.0)) throw nb::value_error("ccp_alpha must not be negative");
  if (balance_classes && !target.is_classification) {
    throw nb::value_error("only classes can be balanced");
  }
  if (!(leaf_smoothing >= 0.0 && std::isfinite(leaf_smoothing))) {
    throw nb::value_error("leaf_smoothing must be a finite number that is not negative");
  }
  if (leaf_smoothing > 0.0 && (!target.is_classification || !tree_options.monotonic.empty())) {
    throw nb::value_error("only leaves of classes without monotone constraints can be smoothed");
  }
  const auto weight_span = weights_of(weights, n_rows);
  const auto count_span = span_of(counts, n_rows, "counts");
  return run_monitored(progress, [&](Monitor& monitor) {
    return grow_forest(binned, target, weight_span, count_span, tree_options, options, monitor);
  });
}

Forest join(const std::vector<const Forest*>& forests) {
  if (forests.empty()) throw nb::value_error("give at least one forest");
  check_made(forests, "a forest");
  Forest joined{forests[0]->info, {}};
  for (const Forest* forest : forests) {
    const ForestInfo& info = forest->info;
    if (info.criterion != joined.info.criterion || info.n_classes != joined.info.n_classes ||
        info.is_classification != joined.info.is_classification) {
      throw nb::value_error("forests that are joined must predict the same");
    }
    for (const auto& tree : forest->trees) joined.add(tree);
  }
  return joined;
}

Forest part_of(const Forest& self, std::size_t begin, std::size_t end) {
  if (begin > end || end > self.n_trees()) throw nb::index_error("no such trees");
  Forest part{self.info, {}};
  part.info.kinds.clear();
  for (std::size_t i = begin; i < end; ++i) part.add(self.trees[i]);
  return part;
}

Forest from_trees(const std::vector<const TreeObject*>& trees, const std::string& criterion,
                  const std::vector<std::uint32_t>& n_classes, bool keep_all) {
  if (trees.empty()) throw nb::value_error("give at least one tree");
  check_made(trees, "a tree");
  Forest forest;
  ForestInfo& info = forest.info;
  info.n_features = trees[0]->tree().n_features;
  info.n_values = trees[0]->tree().n_values;
  info.criterion = criterion_of(criterion);
  info.is_classification = !n_classes.empty();
  info.n_classes = n_classes;
  std::uint64_t n_values = 0;
  for (const std::uint32_t n : n_classes) {
    if (n == 0) throw nb::value_error("an output needs at least one class");
    n_values += n;
  }
  if (is_class_criterion(info.criterion) != info.is_classification ||
      (info.is_classification && n_values != info.n_values)) {
    throw nb::value_error("the criterion and n_classes do not fit the values of the trees");
  }
  keep_all = keep_all || info.criterion == Criterion::kAbsoluteError;
  for (const TreeObject* tree : trees) {
    forest.add(std::make_shared<CompactTree>(compact(tree->tree(), info, keep_all)));
  }
  return forest;
}

// ---- what a forest knows ----

TreeObject tree_of(const Forest& self, std::size_t index) {
  if (index >= self.n_trees()) throw nb::index_error("no such tree");
  return TreeObject(expand(*self.trees[index], self.info));
}

template <typename Number>
auto counts_of(const Forest& self, Number number) {
  std::vector<std::int64_t> counts;
  for (const auto& tree : self.trees) counts.push_back(static_cast<std::int64_t>(number(*tree)));
  return to_array(std::move(counts));
}

auto importances(const Forest& self, std::int64_t n_threads) {
  const std::size_t threads = checked_threads(n_threads);
  auto out = empty_array<double>({self.n_trees(), self.info.n_features});
  const std::vector<double> decreases = run_monitored(
      nb::none(), [&](Monitor& monitor) { return impurity_decreases(self, threads, monitor); });
  std::copy(decreases.begin(), decreases.end(), out.data());
  return out;
}

// ---- prediction ----

std::span<const double> checked_tree_weights(const Forest& self,
                                             const std::optional<Vector<double>>& tree_weights) {
  if (!tree_weights) return {};
  if (tree_weights->shape(0) != self.n_trees()) {
    throw nb::value_error("tree_weights must have one entry a tree");
  }
  const std::span<const double> weights{tree_weights->data(), tree_weights->shape(0)};
  check_finite(weights, "tree_weights");
  return weights;
}

void check_hard(const Forest& self, bool hard) {
  if (hard && !self.info.is_classification) throw nb::value_error("only classes can be voted for");
}

auto predict_table(const Forest& self, const TableObject& table, bool hard,
                   const std::optional<Vector<double>>& tree_weights,
                   const std::optional<std::vector<std::uint32_t>>& stages,
                   std::int64_t n_threads) {
  const std::size_t threads = checked_threads(n_threads);
  check_table(self, table.view());
  Combination combination;
  check_hard(self, hard);
  combination.hard = hard;
  combination.tree_weights = checked_tree_weights(self, tree_weights);
  const std::size_t n_rows = table.view().n_rows;
  const std::size_t n_values = self.info.n_values;
  const std::size_t n_stages = stages ? stages->size() : 1;
  if (stages) {
    const bool is_sound = !stages->empty() && std::is_sorted(stages->begin(), stages->end()) &&
                          stages->back() <= self.n_trees();
    if (!is_sound) throw nb::value_error("stages must be ascending numbers of trees");
    combination.stages = *stages;
  }
  auto out = stages ? empty_array<double>({n_stages, n_rows, n_values})
                    : empty_array<double>({n_rows, n_values});
  run_monitored(nb::none(), [&](Monitor& monitor) {
    predict(self, table.view(), combination, {out.data(), n_stages * n_rows * n_values}, threads,
            monitor);
  });
  return out;
}

auto predict_each_tree(const Forest& self, const TableObject& table, std::int64_t n_threads) {
  const std::size_t threads = checked_threads(n_threads);
  check_table(self, table.view());
  auto out = empty_array<double>({table.view().n_rows, self.n_trees(), self.info.n_values});
  run_monitored(nb::none(), [&](Monitor& monitor) {
    predict_each(self, table.view(), {out.data(), out.size()}, threads, monitor);
  });
  return out;
}

auto apply_table(const Forest& self, const TableObject& table, bool leaf_numbers,
                 std::int64_t n_threads) {
  const std::size_t threads = checked_threads(n_threads);
  check_table(self, table.view());
  auto out = empty_array<std::uint32_t>({table.view().n_rows, self.n_trees()});
  run_monitored(nb::none(), [&](Monitor& monitor) {
    apply(self, table.view(), leaf_numbers ? Reached::kLeafNumber : Reached::kNode,
          {out.data(), out.size()}, threads, monitor);
  });
  return out;
}

auto contributions_of_table(const Forest& self, const TableObject& table, bool hard,
                            const std::optional<Vector<double>>& tree_weights,
                            std::int64_t n_threads) {
  const std::size_t threads = checked_threads(n_threads);
  check_table(self, table.view());
  check_hard(self, hard);
  const std::span<const double> weights = checked_tree_weights(self, tree_weights);
  auto out = empty_array<double>(
      {table.view().n_rows, std::size_t{self.info.n_features} + 1, self.info.n_values});
  run_monitored(nb::none(), [&](Monitor& monitor) {
    contributions(self, table.view(), hard, weights, {out.data(), out.size()}, threads, monitor);
  });
  return out;
}

}  // namespace

void register_forest(nb::module_& m) {
  nb::class_<Forest> forest(m, "Forest",
                            "Many trees in little memory; see src/core/forest/forest.hpp.");
  forest
      .def_static("from_trees", &from_trees, nb::arg("trees"), nb::arg("criterion"),
                  nb::arg("n_classes"), nb::arg("keep_all") = false,
                  "A forest of grown trees; n_classes is empty for regression.")
      .def_static("join", &join, nb::arg("forests"),
                  "All trees of some forests, one after another.")
      .def_prop_ro("n_trees", &Forest::n_trees)
      .def_prop_ro("n_features", [](const Forest& self) { return self.info.n_features; })
      .def_prop_ro("n_values", [](const Forest& self) { return self.info.n_values; })
      .def_prop_ro("n_bytes",
                   [](const Forest& self) {
                     std::size_t n_bytes = 0;
                     for (const auto& tree : self.trees) n_bytes += tree->n_bytes();
                     return n_bytes;
                   })
      .def(
          "node_counts",
          [](const Forest& self) {
            return counts_of(self, [](const CompactTree& tree) { return tree.tree.n_nodes(); });
          },
          "Number of nodes of each tree.")
      .def(
          "leaf_counts",
          [](const Forest& self) {
            return counts_of(self, [](const CompactTree& tree) { return tree.n_leaves; });
          },
          "Number of leaves of each tree.")
      .def_prop_ro(
          "has_leaf_masks", &has_leaf_masks,
          "Whether many rows find their leaves by masks, see src/core/forest/leaf_masks.hpp.")
      .def("part", &part_of, nb::arg("begin"), nb::arg("end"), "Some of the trees, shared.")
      .def("tree", &tree_of, nb::arg("index"), "A tree with the statistics of all its nodes.")
      .def("impurity_decreases", &importances, nb::arg("n_threads") = 1,
           "Weighted decrease of impurity at the splits of each feature, n_trees x n_features.")
      .def("predict", &predict_table, nb::arg("table"), nb::kw_only(), nb::arg("hard") = false,
           nb::arg("tree_weights") = nb::none(), nb::arg("stages") = nb::none(),
           nb::arg("n_threads") = 1,
           "Sums of the trees' values or votes, n_rows x n_values; with stages one for each.")
      .def("predict_each", &predict_each_tree, nb::arg("table"), nb::arg("n_threads") = 1,
           "Values of each tree, n_rows x n_trees x n_values.")
      .def("contributions", &contributions_of_table, nb::arg("table"), nb::kw_only(),
           nb::arg("hard") = false, nb::arg("tree_weights") = nb::none(), nb::arg("n_threads") = 1,
           "What each feature adds to predict, and last the mean: "
           "n_rows x (n_features + 1) x n_values.")
      .def("apply", &apply_table, nb::arg("table"), nb::arg("leaf_numbers") = false,
           nb::arg("n_threads") = 1,
           "Leaf of each row in each tree: numbers of nodes, or of leaves.");
  register_forest_arrays(forest);
  register_forest_samples(forest);
  m.def("grow_forest", &grow, nb::arg("dataset"), nb::arg("n_trees"), nb::kw_only(),
        nb::arg("classes") = nb::none(), nb::arg("n_classes") = std::vector<std::uint32_t>(),
        nb::arg("reals") = nb::none(), nb::arg("weights") = nb::none(),
        nb::arg("counts") = nb::none(), nb::arg("settings") = nb::dict(), nb::arg("first_tree") = 0,
        nb::arg("tree_seed") = 0, nb::arg("plan") = nb::none(), nb::arg("row_seed") = 0,
        nb::arg("feature_plan") = nb::none(), nb::arg("feature_seed") = 0,
        nb::arg("balance_classes") = false, nb::arg("ccp_alpha") = 0.0,
        nb::arg("leaf_smoothing") = 0.0, nb::arg("use_records") = true, nb::arg("n_threads") = 1,
        nb::arg("progress") = nb::none(),
        "Grow trees first_tree, first_tree + 1, ... of a forest; progress counts trees.");
}

}  // namespace committee
