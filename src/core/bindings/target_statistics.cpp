#include "target_statistics.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <span>

#include "arrays.hpp"
#include "base/group_quantiles.hpp"
#include "data/column.hpp"
#include "data/target_statistics.hpp"
#include "gil.hpp"

namespace committee {
namespace {

nb::tuple means_of(const Vector<std::int32_t>& levels, std::size_t n_levels,
                   const Vector<std::uint32_t>& order, const Vector<double>& targets,
                   const std::optional<Vector<double>>& weights, double smoothing) {
  const std::size_t n_rows = levels.shape(0);
  if (n_levels >= kMaxLevels) throw nb::value_error("n_levels must be an int below 65,536");
  if (!(smoothing >= 0.0)) throw nb::value_error("smoothing must not be negative");
  const LevelTarget target{.levels = {levels.data(), n_rows},
                           .order = {order.data(), order.shape(0)},
                           .targets = span_of(std::optional(targets), n_rows, "targets"),
                           .weights = weights_of(weights, n_rows)};
  check_finite(target.targets, "targets");
  auto of_rows = empty_array<double>({n_rows});
  auto of_levels = empty_array<double>({n_levels + 2});
  std::fill_n(of_rows.data(), n_rows, 0.0);
  {
    const WithoutGil free;
    ordered_means(target, smoothing, {of_rows.data(), n_rows}, {of_levels.data(), n_levels + 2});
  }
  return nb::make_tuple(of_rows, of_levels);
}

auto quantiles_of(const Vector<double>& values, const Vector<std::uint32_t>& groups,
                  std::size_t n_groups, double share,
                  const std::optional<Vector<double>>& weights) {
  const std::size_t n_rows = values.shape(0);
  if (!(share >= 0.0 && share <= 1.0)) throw nb::value_error("share must be in [0, 1]");
  const auto group_of_row = span_of(std::optional(groups), n_rows, "groups");
  const auto row_weights = weights_of(weights, n_rows);
  if (std::any_of(group_of_row.begin(), group_of_row.end(),
                  [&](std::uint32_t group) { return group >= n_groups; })) {
    throw nb::value_error("groups must be below n_groups");
  }
  auto quantiles = empty_array<double>({n_groups});
  const WithoutGil free;
  group_quantiles({values.data(), n_rows}, row_weights, group_of_row, share,
                  {quantiles.data(), n_groups});
  return quantiles;
}

}  // namespace

void register_target_statistics(nb::module_& m) {
  m.def("ordered_means", &means_of, nb::arg("levels"), nb::arg("n_levels"), nb::arg("order"),
        nb::arg("targets"), nb::arg("weights") = nb::none(), nb::kw_only(), nb::arg("smoothing"),
        "Means of the targets by level: of each row from those before it, and of each level.");
  m.def("group_quantiles", &quantiles_of, nb::arg("values"), nb::arg("groups"), nb::arg("n_groups"),
        nb::arg("share"), nb::arg("weights") = nb::none(),
        "The weighted quantile of each group of rows; zero for a group without rows.");
}

}  // namespace committee
