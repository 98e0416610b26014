// The Python class Forest and the function grow_forest.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_forest(nanobind::module_& m);

}  // namespace committee
