#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_ranking(nanobind::module_& m);

}  // namespace committee
