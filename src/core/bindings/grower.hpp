// The Python class BinnedDataset and the function grow_tree.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/binned_dataset.hpp"
#include "data/target.hpp"
#include "split/grow_options.hpp"

namespace committee {

namespace nb = nanobind;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The values of an array with one entry a row; nothing for None.
template <typename T>
std::span<const T> span_of(const std::optional<Vector<T>>& array, std::size_t n_rows,
                           const char* name) {
  if (!array) return {};
  if (array->shape(0) != n_rows) {
    throw nb::value_error((std::string(name) + " must have one entry a row").c_str());
  }
  return {array->data(), array->shape(0)};
}

// A dataset and the Table it may read values from.
struct DatasetObject {
  nb::object table;
  BinnedDataset dataset;
};

// The target of a fit: class codes, or reals.
Target make_target(std::size_t n_rows, const std::optional<Matrix<std::int32_t>>& classes,
                   const std::vector<std::uint32_t>& n_classes,
                   const std::optional<Matrix<double>>& reals);

Criterion criterion_of(const std::string& name);

// Fields of GrowOptions that Python gives by name; what is not given keeps its default. The
// criterion has to fit the target.
GrowOptions options_of(const nb::dict& settings, std::size_t n_features, const Target& target);

void register_grower(nb::module_& m);

}  // namespace committee
