// The Python class SamplingPlan: which rows a member of an ensemble draws.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

void register_sampling(nanobind::module_& m);

}  // namespace committee
