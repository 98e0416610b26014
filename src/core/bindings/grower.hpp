// The Python class BinnedDataset and the function grow_tree.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_grower(nanobind::module_& m);

}  // namespace committee
