#include "quinlan.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>

#include "arguments.hpp"
#include "arrays.hpp"
#include "data/nominal_codes.hpp"
#include "gil.hpp"
#include "grower.hpp"
#include "monitor.hpp"
#include "quinlan/interval_cuts.hpp"
#include "quinlan/quinlan_grower.hpp"
#include "table.hpp"
#include "tree.hpp"
#include "tree/share_walk.hpp"

namespace committee {
namespace {

QuinlanOptions quinlan_options(const nb::dict& settings) {
  QuinlanOptions options;
  for (const auto& [key, value] : settings) {
    const std::string name = setting_name(key);
    if (name == "use_ratio") {
      read_setting(name, value, options.use_ratio);
    } else if (name == "corrects_thresholds") {
      read_setting(name, value, options.corrects_thresholds);
    } else if (name == "groups_levels") {
      read_setting(name, value, options.groups_levels);
    } else if (name == "min_weight_leaf") {
      read_setting(name, value, options.min_weight_leaf);
    } else if (name == "min_weight_split") {
      read_setting(name, value, options.min_weight_split);
    } else if (name == "min_gain") {
      read_setting(name, value, options.min_gain);
    } else if (name == "max_depth") {
      read_setting(name, value, options.max_depth);
    } else if (name == "prunes") {
      read_setting(name, value, options.prunes);
    } else if (name == "raises") {
      read_setting(name, value, options.raises);
    } else if (name == "confidence") {
      read_setting(name, value, options.error.confidence);
    } else if (name == "deviate") {
      const auto deviate = setting_of<double>(name, value);
      options.error.deviate_squared = deviate * deviate;
    } else if (name == "records") {
      read_setting(name, value, options.records);
    } else if (name == "n_threads") {
      read_setting(name, value, options.n_threads);
    } else {
      throw nb::value_error(("unknown setting " + name).c_str());
    }
  }
  // Branches without weight would have no shares.
  if (!(options.min_weight_leaf > 0.0)) throw nb::value_error("min_weight_leaf must be above 0");
  return options;
}

template <typename T, typename Get>
auto gather(const std::vector<T>& items, Get&& get) {
  std::vector<decltype(get(items.front()))> values;
  values.reserve(items.size());
  for (const T& item : items) values.push_back(get(item));
  return to_array(std::move(values));
}

// What was written down while growing, as one array a field; candidates of node i are those from
// first_candidate[i] to first_candidate[i + 1].
nb::dict growth_arrays(const std::vector<NodeGrowth>& growth) {
  nb::dict result;
  result["outcome"] =
      gather(growth, [](const auto& g) { return static_cast<std::uint8_t>(g.outcome); });
  result["leaf_estimate"] = gather(growth, [](const auto& g) { return g.leaf_estimate; });
  result["subtree_estimate"] = gather(growth, [](const auto& g) { return g.subtree_estimate; });
  result["chosen"] = gather(growth, [](const auto& g) { return g.chosen; });
  std::vector<std::int64_t> first{0};
  std::vector<Candidate> all;
  for (const NodeGrowth& node : growth) {
    for (const Candidate& candidate : node.candidates) all.push_back(candidate);
    first.push_back(static_cast<std::int64_t>(all.size()));
  }
  result["first_candidate"] = to_array(std::move(first));
  result["feature"] = gather(all, [](const auto& c) { return c.feature; });
  result["is_possible"] =
      gather(all, [](const auto& c) { return static_cast<std::uint8_t>(c.exists); });
  result["known"] = gather(all, [](const auto& c) { return c.known; });
  result["entropy"] = gather(all, [](const auto& c) { return c.entropy; });
  result["gain"] = gather(all, [](const auto& c) { return c.gain; });
  result["correction"] = gather(all, [](const auto& c) { return c.correction; });
  result["split_information"] = gather(all, [](const auto& c) { return c.split_information; });
  result["threshold"] = gather(all, [](const auto& c) { return c.threshold; });
  result["n_branches"] = gather(all, [](const auto& c) { return c.n_branches; });
  return result;
}

nb::tuple grow(const DatasetObject& self, const std::optional<Matrix<std::int32_t>>& classes,
               const std::vector<std::uint32_t>& n_classes,
               const std::optional<Vector<double>>& weights, const nb::dict& settings,
               nb::object progress) {
  const BinnedDataset& binned = spread_dataset(self);
  const std::size_t n_rows = binned.n_rows();
  const Target target = make_target(n_rows, classes, n_classes, std::nullopt);
  if (target.n_outputs != 1) throw nb::value_error("the target must have one column");
  const QuinlanOptions options = quinlan_options(settings);
  const auto weight_span = weights_of(weights, n_rows);
  QuinlanTree grown = run_monitored(progress, [&](Monitor& monitor) {
    const Entries entries = make_entries(n_rows, weight_span, {});
    if (entries.size() == 0) throw std::invalid_argument("no row has a positive weight");
    return grow_quinlan(binned, target, entries, options, monitor);
  });
  const nb::dict growth = growth_arrays(grown.growth);
  return nb::make_tuple(TreeObject(std::move(grown.tree)), growth);
}

nb::object cuts_of(const DatasetObject& self, std::size_t feature,
                   const std::optional<Matrix<std::int32_t>>& classes,
                   const std::vector<std::uint32_t>& n_classes,
                   const std::optional<Vector<double>>& weights) {
  const std::size_t n_rows = self.dataset.n_rows();
  if (feature >= self.dataset.n_features()) throw nb::index_error("no such feature");
  if (self.dataset.feature(feature).kind == FeatureKind::kCategory) {
    throw nb::value_error("a category has no cuts");
  }
  const Target target = make_target(n_rows, classes, n_classes, std::nullopt);
  if (target.n_outputs != 1) throw nb::value_error("the target must have one column");
  const auto weight_span = weights_of(weights, n_rows);
  const std::vector<Value> cuts = run_monitored(nb::none(), [&](Monitor& monitor) {
    const Entries entries = make_entries(n_rows, weight_span, {});
    return interval_cuts(self.dataset, feature, target, entries, monitor);
  });
  if (self.dataset.feature(feature).kind == FeatureKind::kInteger) {
    return nb::cast(gather(cuts, [](const Value& cut) { return cut.integer; }));
  }
  return nb::cast(gather(cuts, [](const Value& cut) { return cut.real; }));
}

std::size_t threads_of(std::int64_t n_threads) {
  if (n_threads < 1) throw nb::value_error("n_threads must be an int >= 1");
  return static_cast<std::size_t>(n_threads);
}

auto predict_table(const TreeObject& tree, const TableObject& table, std::int64_t n_threads) {
  const std::size_t threads = threads_of(n_threads);
  tree.check_table(table.view());
  auto out = empty_array<double>({table.view().n_rows, tree.tree().n_values});
  run_monitored(nb::none(), [&](Monitor& monitor) {
    predict_shares(tree.tree(), table.view(), {out.data(), out.size()}, threads, monitor);
  });
  return out;
}

auto apply_table(const TreeObject& tree, const TableObject& table, std::int64_t n_threads) {
  const std::size_t threads = threads_of(n_threads);
  tree.check_table(table.view());
  auto out = empty_array<std::uint32_t>({table.view().n_rows});
  run_monitored(nb::none(), [&](Monitor& monitor) {
    apply_shares(tree.tree(), table.view(), {out.data(), out.size()}, threads, monitor);
  });
  return out;
}

nb::tuple path_of_table(const TreeObject& tree, const TableObject& table) {
  tree.check_table(table.view());
  SharePath path = run_monitored(
      nb::none(), [&](Monitor& monitor) { return share_path(tree.tree(), table.view(), monitor); });
  return nb::make_tuple(to_array(std::move(path.offsets)), to_array(std::move(path.indices)),
                        to_array(std::move(path.shares)));
}

auto branches_of_node(const TreeObject& tree, const TableObject& table, std::uint32_t node) {
  tree.check_table(table.view());
  if (node >= tree.tree().n_nodes() || tree.tree().nodes[node].is_leaf()) {
    throw nb::index_error("no such inner node");
  }
  auto out = empty_array<std::int32_t>({table.view().n_rows});
  const WithoutGil without_gil;
  node_branches(tree.tree(), table.view(), node, {out.data(), out.size()});
  return out;
}

// `cuts` is an array of the type of the feature; nothing of it is read for a category.
template <typename T>
auto codes_of_table(const TableObject& table, std::size_t feature, const Vector<T>& cuts,
                    std::int32_t missing_level) {
  if (feature >= table.view().n_features()) throw nb::index_error("no such feature");
  constexpr auto kKind = std::is_same_v<T, double> ? FeatureKind::kReal : FeatureKind::kInteger;
  const FeatureKind kind = table.view().kinds[feature];
  if (kind != FeatureKind::kCategory && kind != kKind) {
    throw nb::value_error("cuts must be float64 for a real feature, int64 for an integer one");
  }
  Cuts spans;
  if constexpr (kKind == FeatureKind::kReal) {
    spans.reals = {cuts.data(), cuts.shape(0)};
  } else {
    spans.integers = {cuts.data(), cuts.shape(0)};
  }
  auto out = empty_array<std::int32_t>({table.view().n_rows});
  const WithoutGil without_gil;
  nominal_codes(table.view(), feature, spans, missing_level, {out.data(), out.size()});
  return out;
}

}  // namespace

void register_quinlan(nb::module_& m) {
  m.def("grow_quinlan", &grow, nb::arg("dataset"), nb::kw_only(), nb::arg("classes"),
        nb::arg("n_classes"), nb::arg("weights") = nb::none(), nb::arg("settings") = nb::dict(),
        nb::arg("progress") = nb::none(),
        "Grow a tree after Quinlan; return it with what was written down while growing.");
  m.def("predict_shares", &predict_table, nb::arg("tree"), nb::arg("table"), nb::arg("n_threads"),
        "Values of the ends of each row's walk, weighed by its shares.");
  m.def("apply_shares", &apply_table, nb::arg("tree"), nb::arg("table"), nb::arg("n_threads"),
        "The node where the largest share of each row ends.");
  m.def("share_path", &path_of_table, nb::arg("tree"), nb::arg("table"),
        "Offsets, nodes and shares of the nodes that each row passes.");
  m.def("node_branches", &branches_of_node, nb::arg("tree"), nb::arg("table"), nb::arg("node"),
        "The branch of a node that each row would take, -1 for none.");
  m.def("interval_cuts", &cuts_of, nb::arg("dataset"), nb::arg("feature"), nb::kw_only(),
        nb::arg("classes"), nb::arg("n_classes"), nb::arg("weights") = nb::none(),
        "Where to cut a numeric feature into intervals, by minimal description length.");
  const char* const doc = "A feature as levels: of a category, or of intervals.";
  m.def("nominal_codes", &codes_of_table<double>, nb::arg("table"), nb::arg("feature"),
        nb::arg("cuts").noconvert(), nb::arg("missing_level"), doc);
  m.def("nominal_codes", &codes_of_table<std::int64_t>, nb::arg("table"), nb::arg("feature"),
        nb::arg("cuts").noconvert(), nb::arg("missing_level"), doc);
}

}  // namespace committee
