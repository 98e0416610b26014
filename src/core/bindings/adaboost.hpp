// The Python classes BoostedRows and StumpBooster.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_adaboost(nanobind::module_& m);

}  // namespace committee
