#include "data/sampling.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "base/random.hpp"
#include "sampling.hpp"

namespace committee {
namespace {

template <typename T>
std::vector<T> copy_of(const std::optional<Vector<T>>& array) {
  if (!array) return {};
  return std::vector<T>(array->data(), array->data() + array->shape(0));
}

SamplingPlan make_plan(std::size_t n_rows,
                       const std::vector<std::pair<Vector<std::uint32_t>, std::uint64_t>>& strata,
                       const std::optional<Vector<std::uint32_t>>& unit_of_row,
                       const std::optional<Vector<double>>& unit_weights, bool with_replacement,
                       std::uint32_t n_portions) {
  std::vector<Stratum> copied;
  // As a count of a unit has to fit.
  constexpr auto kMostDraws = std::numeric_limits<std::uint32_t>::max();
  for (const auto& [units, n_draws] : strata) {
    if (n_draws > kMostDraws) throw nb::value_error("a stratum can have at most 2**32 - 1 draws");
    copied.push_back({copy_of<std::uint32_t>(units), n_draws});
  }
  if (unit_weights) weights_of(unit_weights, unit_weights->shape(0), "unit_weights");
  return SamplingPlan(n_rows, copy_of(unit_of_row), copy_of(unit_weights), std::move(copied),
                      with_replacement, n_portions);
}

}  // namespace

void register_sampling(nb::module_& m) {
  nb::class_<SamplingPlan>(m, "SamplingPlan",
                           "Which rows the members of an ensemble draw; see sampling.hpp.")
      .def(nb::new_(&make_plan), nb::arg("n_rows"), nb::arg("strata"), nb::kw_only(),
           nb::arg("unit_of_row") = nb::none(), nb::arg("unit_weights") = nb::none(),
           nb::arg("with_replacement") = true, nb::arg("n_portions") = 0)
      .def_prop_ro("n_rows", &SamplingPlan::n_rows)
      .def(
          "draw",
          [](const SamplingPlan& self, std::uint64_t seed, std::uint64_t index) {
            std::vector<std::uint32_t> counts;
            self.draw(seed, index, counts);
            return to_array(std::move(counts));
          },
          nb::arg("seed"), nb::arg("index"),
          "How often member `index` of an ensemble with this seed draws each row.");
  m.def("derive_key", &derive_key, nb::arg("key"), nb::arg("index"),
        "The key of child number `index` of `key`.");
}

}  // namespace committee
