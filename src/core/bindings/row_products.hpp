#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_row_products(nanobind::module_& m);

}  // namespace committee
