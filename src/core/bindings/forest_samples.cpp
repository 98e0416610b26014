#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "forest.hpp"
#include "forest/out_of_bag.hpp"
#include "forest/permutation.hpp"
#include "forest/quantiles.hpp"
#include "grower.hpp"
#include "monitor.hpp"
#include "table.hpp"

namespace committee {
namespace {

template <typename T, int kDimensions>
using Writable = nb::ndarray<T, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;

// The target of a table's rows, as the forest was grown on.
Target target_for(const Forest& forest, const TableView& table,
                  const std::optional<Matrix<std::int32_t>>& classes,
                  const std::optional<Matrix<double>>& reals) {
  Target target = make_target(table.n_rows, classes, forest.info.n_classes, reals);
  if (target.is_classification != forest.info.is_classification ||
      target.n_values() != forest.info.n_values) {
    throw nb::value_error("the target is not what the forest was grown on");
  }
  return target;
}

LeftOut left_out_rows(const TableView& table, const SamplingPlan& plan, std::uint64_t row_seed,
                      const std::optional<Vector<double>>& weights) {
  if (plan.n_rows() != table.n_rows) {
    throw nb::value_error("the plan must be for the rows of the table");
  }
  return {plan, row_seed, weights_of(weights, table.n_rows)};
}

using Losses = std::tuple<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, double>>;

Losses to_arrays(const std::vector<TreeLoss>& losses) {
  std::vector<double> means;
  std::vector<double> weights;
  for (const TreeLoss& loss : losses) {
    means.push_back(loss.loss);
    weights.push_back(loss.weight);
  }
  return {to_array(std::move(means)), to_array(std::move(weights))};
}

Losses add_left_out(const Forest& self, const TableObject& table, const SamplingPlan& plan,
                    std::uint64_t row_seed, const Writable<double, 2>& sums,
                    const Writable<std::uint32_t, 1>& n_votes, std::size_t begin,
                    std::optional<std::size_t> end,
                    const std::optional<Matrix<std::int32_t>>& classes,
                    const std::optional<Matrix<double>>& reals,
                    const std::optional<Vector<double>>& weights, bool hard, std::int64_t n_threads,
                    nb::object progress) {
  const std::size_t threads = checked_threads(n_threads);
  const TableView& view = table.view();
  check_table(self, view);
  const Target target = target_for(self, view, classes, reals);
  const LeftOut left_out = left_out_rows(view, plan, row_seed, weights);
  const Range trees{begin, end.value_or(self.n_trees())};
  if (trees.begin > trees.end || trees.end > self.n_trees()) throw nb::index_error("no such trees");
  if (sums.shape(0) != view.n_rows || sums.shape(1) != self.info.n_values ||
      n_votes.shape(0) != view.n_rows) {
    throw nb::value_error("sums must be n_rows x n_values, n_votes n_rows");
  }
  if (hard && !self.info.is_classification) throw nb::value_error("only classes can be voted for");
  return to_arrays(run_monitored(progress, [&](Monitor& monitor) {
    return add_out_of_bag(self, view, target, left_out, trees, hard, {sums.data(), sums.size()},
                          {n_votes.data(), n_votes.size()}, threads, monitor);
  }));
}

Loss loss_of(const std::string& name, bool is_classification) {
  if (is_classification && name == "error") return Loss::kError;
  if (is_classification && name == "brier") return Loss::kBrier;
  if (!is_classification && name == "squared_error") return Loss::kSquaredError;
  throw nb::value_error(("the loss must be error or brier for classes, squared_error for reals; "
                         "got " +
                         name)
                            .c_str());
}

auto permute(const Forest& self, const TableObject& table, const SamplingPlan& plan,
             std::uint64_t row_seed, const Vector<std::uint32_t>& groups, std::uint32_t n_groups,
             std::uint64_t seed, const std::string& loss,
             const std::optional<Matrix<std::int32_t>>& classes,
             const std::optional<Matrix<double>>& reals,
             const std::optional<Vector<double>>& weights, std::int64_t n_threads,
             nb::object progress) {
  const TableView& view = table.view();
  check_table(self, view);
  const Target target = target_for(self, view, classes, reals);
  const LeftOut left_out = left_out_rows(view, plan, row_seed, weights);
  PermutationOptions options;
  options.loss = loss_of(loss, self.info.is_classification);
  options.group_of_feature = {groups.data(), groups.shape(0)};
  options.n_groups = n_groups;
  options.seed = seed;
  options.n_threads = checked_threads(n_threads);
  if (groups.shape(0) != self.info.n_features) {
    throw nb::value_error("groups must have one entry a feature");
  }
  if (n_groups > self.info.n_features) throw nb::value_error("n_groups must not exceed features");
  for (const std::uint32_t group : options.group_of_feature) {
    if (group > n_groups) throw nb::value_error("groups must hold numbers up to n_groups");
  }
  const PermutationLosses losses = run_monitored(progress, [&](Monitor& monitor) {
    return permute_features(self, view, target, left_out, options, monitor);
  });
  auto increases = empty_array<double>({self.n_trees(), n_groups});
  std::copy(losses.increases.begin(), losses.increases.end(), increases.data());
  auto [means, total_weights] = to_arrays(losses.trees);
  return std::make_tuple(increases, means, total_weights);
}

auto members(const Forest& self, const TableObject& table, const SamplingPlan* plan,
             std::uint64_t row_seed, const std::optional<Vector<double>>& weights,
             std::int64_t n_threads, nb::object progress) {
  const std::size_t threads = checked_threads(n_threads);
  const TableView& view = table.view();
  check_table(self, view);
  if (plan != nullptr && plan->n_rows() != view.n_rows) {
    throw nb::value_error("the plan must be for the rows of the table");
  }
  const auto weight_span = weights_of(weights, view.n_rows);
  LeafMembers found = run_monitored(progress, [&](Monitor& monitor) {
    return leaf_members(self, view, plan, row_seed, weight_span, threads, monitor);
  });
  return std::make_tuple(to_array(std::move(found.offsets)), to_array(std::move(found.rows)),
                         to_array(std::move(found.counts)));
}

auto quantiles_of(
    const Forest& self, const TableObject& table,
    const std::tuple<Vector<std::uint64_t>, Vector<std::uint32_t>, Vector<std::uint32_t>>& members,
    const Vector<double>& targets, const Vector<double>& quantiles,
    const std::optional<Vector<double>>& weights, std::int64_t n_threads, nb::object progress) {
  const std::size_t threads = checked_threads(n_threads);
  check_table(self, table.view());
  const auto& [offsets, rows, counts] = members;
  const MembersView view{{offsets.data(), offsets.shape(0)},
                         {rows.data(), rows.shape(0)},
                         {counts.data(), counts.shape(0)}};
  const std::size_t n_training = targets.shape(0);
  check_members(self, view, n_training);
  check_finite(std::span(targets.data(), n_training), "targets");
  const auto weight_span = weights_of(weights, n_training);
  const std::span<const double> shares{quantiles.data(), quantiles.shape(0)};
  for (const double share : shares) {
    if (!(share >= 0.0 && share <= 1.0)) throw nb::value_error("quantiles must be in [0, 1]");
  }
  auto out = empty_array<double>({table.view().n_rows, shares.size()});
  run_monitored(progress, [&](Monitor& monitor) {
    predict_quantiles(self, table.view(), view, {targets.data(), n_training}, weight_span, shares,
                      {out.data(), out.size()}, threads, monitor);
  });
  return out;
}

}  // namespace

void register_forest_samples(nb::class_<Forest>& forest) {
  forest
      .def("add_out_of_bag", &add_left_out, nb::arg("table"), nb::arg("plan"), nb::arg("row_seed"),
           nb::arg("sums").noconvert(), nb::arg("n_votes").noconvert(), nb::kw_only(),
           nb::arg("begin") = 0, nb::arg("end") = nb::none(), nb::arg("classes") = nb::none(),
           nb::arg("reals") = nb::none(), nb::arg("weights") = nb::none(), nb::arg("hard") = false,
           nb::arg("n_threads") = 1, nb::arg("progress") = nb::none(),
           "Add what trees say about the rows they left out; the loss and weight of each tree.")
      .def("permute_features", &permute, nb::arg("table"), nb::arg("plan"), nb::arg("row_seed"),
           nb::kw_only(), nb::arg("groups"), nb::arg("n_groups"), nb::arg("seed"), nb::arg("loss"),
           nb::arg("classes") = nb::none(), nb::arg("reals") = nb::none(),
           nb::arg("weights") = nb::none(), nb::arg("n_threads") = 1,
           nb::arg("progress") = nb::none(),
           "Increase of each tree's out-of-bag loss by permuting groups of features.")
      .def("leaf_members", &members, nb::arg("table"), nb::arg("plan") = nb::none(),
           nb::arg("row_seed") = 0, nb::kw_only(), nb::arg("weights") = nb::none(),
           nb::arg("n_threads") = 1, nb::arg("progress") = nb::none(),
           "Training rows in each leaf of each tree: offsets, rows, counts.")
      .def("predict_quantiles", &quantiles_of, nb::arg("table"), nb::arg("members"),
           nb::arg("targets"), nb::arg("quantiles"), nb::kw_only(), nb::arg("weights") = nb::none(),
           nb::arg("n_threads") = 1, nb::arg("progress") = nb::none(),
           "Quantiles of the targets in the leaves of each row, n_rows x n_quantiles.");
}

}  // namespace committee
