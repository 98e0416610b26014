// Adam with decoupled weight decay, and a running mean of the parameters.
#pragma once

#include <cstddef>
#include <span>

namespace committee {

struct AdamStep {
  float learning_rate = 0.0F;
  float decay = 0.0F;         // of parameters, as a share for each unit of the learning rate
  float first_scale = 1.0F;   // both moments begin at zero and are divided by what they would be if
  float second_scale = 1.0F;  // all gradients were alike
  float averaging = 0.0F;     // share of the running mean that stays
};

// The state of some neighbouring parameters.
struct AdamState {
  std::span<float> parameters;
  std::span<float> first;   // running mean of gradients
  std::span<float> second;  // and of their squares
  std::span<float> average;
};

constexpr float kFirstShare = 0.9F;  // of the moments that stays in each step
constexpr float kSecondShare = 0.999F;

void adam_step(const AdamStep& step, std::span<const float> gradient, const AdamState& state);

}  // namespace committee
