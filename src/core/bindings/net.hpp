// The Python classes NetShape, NetTrainer and Net.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

namespace nb = nanobind;

void register_net(nb::module_& m);

}  // namespace committee
