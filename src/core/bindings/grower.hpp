// The Python class BinnedDataset and the function grow_tree.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "data/binned_dataset.hpp"
#include "data/target.hpp"
#include "split/grow_options.hpp"

namespace committee {

namespace nb = nanobind;

// A dataset and the Table it may read values from.
struct DatasetObject {
  nb::object table;
  BinnedDataset dataset;
};

// The dataset, of which every row has its codes: ValueError where those of sparse columns are not
// spread out.
const BinnedDataset& spread_dataset(const DatasetObject& self);

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
