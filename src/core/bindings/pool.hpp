#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_pool(nanobind::module_& m);

}  // namespace committee
