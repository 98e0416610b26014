// The Python class Booster.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_booster(nanobind::module_& m);

}  // namespace committee
