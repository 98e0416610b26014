// The Python class Forest and the function grow_forest.
#pragma once

#include <nanobind/nanobind.h>

#include "data/column.hpp"
#include "forest/forest.hpp"

namespace committee {

std::size_t checked_threads(std::int64_t n_threads);

// ValueError unless the forest can read the table.
void check_table(const Forest& forest, const TableView& table);

void register_forest(nanobind::module_& m);

// Methods that turn forests into arrays and back.
void register_forest_arrays(nanobind::class_<Forest>& forest);

// Methods about the rows that trees have learnt from or left out.
void register_forest_samples(nanobind::class_<Forest>& forest);

}  // namespace committee
