#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_csv(nanobind::module_& m);

}  // namespace committee
