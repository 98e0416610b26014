// The function ordered_means.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_target_statistics(nanobind::module_& m);

}  // namespace committee
