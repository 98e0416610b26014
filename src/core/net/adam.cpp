#include "net/adam.hpp"

#include <cmath>

#include "base/simd.hpp"

namespace committee {
namespace {

constexpr float kLeastRoot = 1e-8F;

COMMITTEE_INLINE void step_all_code(const AdamStep& step, const float* __restrict gradient,
                                    std::size_t n, float* __restrict parameters,
                                    float* __restrict first, float* __restrict second,
                                    float* __restrict average) {
  const float shrink = 1.0F - step.learning_rate * step.decay;
  const float rate = step.learning_rate * step.first_scale;
  for (std::size_t i = 0; i < n; ++i) {
    const float slope = gradient[i];
    first[i] = kFirstShare * first[i] + (1.0F - kFirstShare) * slope;
    second[i] = kSecondShare * second[i] + (1.0F - kSecondShare) * (slope * slope);
    const float root = std::sqrt(second[i] * step.second_scale) + kLeastRoot;
    parameters[i] = parameters[i] * shrink - rate * first[i] / root;
    average[i] = average[i] * step.averaging + parameters[i] * (1.0F - step.averaging);
  }
}

COMMITTEE_TWICE(void, step_all,
                (const AdamStep& step, const float* __restrict gradient, std::size_t n,
                 float* __restrict parameters, float* __restrict first, float* __restrict second,
                 float* __restrict average),
                (step, gradient, n, parameters, first, second, average))

}  // namespace

void adam_step(const AdamStep& step, std::span<const float> gradient, const AdamState& state) {
  step_all(step, gradient.data(), gradient.size(), state.parameters.data(), state.first.data(),
           state.second.data(), state.average.data());
}

}  // namespace committee
