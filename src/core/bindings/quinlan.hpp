// Trees after Quinlan: growing, and predicting in shares.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_quinlan(nanobind::module_& m);

}  // namespace committee
