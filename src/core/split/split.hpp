// A split of a node, and the limits it has to keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "data/binned_dataset.hpp"
#include "tree/tree.hpp"

namespace committee {

constexpr std::uint32_t kNoCode = 0xFFFFFFFFU;

// The range a node's prediction must stay in because of monotone constraints above it.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  double clip(double value) const { return value < low ? low : (value > high ? high : value); }
  bool contains(double value) const { return low <= value && value <= high; }

  // Those of a child where the prediction must rise (direction 1) or fall (-1) from child 0 to
  // child 1: neither may pass the middle of their predictions. Direction 0 adds no limit.
  Bounds of_child(std::uint32_t child, int direction, double left_value, double right_value) const {
    Bounds bounds = *this;
    if (direction == 0) return bounds;
    const bool is_lower_side = (child == 0) == (direction > 0);
    (is_lower_side ? bounds.high : bounds.low) = left_value / 2 + right_value / 2;
    return bounds;
  }
};

// A threshold that no value exceeds: only missing ones go right.
inline Value highest_value(FeatureKind kind) {
  if (kind == FeatureKind::kInteger) return {.integer = std::numeric_limits<std::int64_t>::max()};
  return {.real = std::numeric_limits<double>::infinity()};
}

// A threshold t with low <= t < high: the middle, where there is one.
inline Value middle(FeatureKind kind, Value low, Value high) {
  if (kind == FeatureKind::kInteger) {
    const std::uint64_t gap =
        static_cast<std::uint64_t>(high.integer) - static_cast<std::uint64_t>(low.integer);
    return {.integer =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(low.integer) + gap / 2)};
  }
  const double threshold = std::midpoint(low.real, high.real);
  // Neighbouring doubles and infinities have no middle of their own.
  return {.real = low.real <= threshold && threshold < high.real ? threshold : low.real};
}

struct Split {
  double score = -std::numeric_limits<double>::infinity();  // of the children, less the penalty
  double penalty = 0.0;   // taken off because of the number of levels
  double decrease = 0.0;  // of weighted impurity, in the units of the weights
  std::uint32_t feature = 0;
  SplitKind kind = SplitKind::kReal;
  std::uint32_t default_child = 0;  // where missing values and unseen levels go
  // Threshold splits, in codes of the node's block: last_left and first_right occur in the node,
  // nothing between them does. first_right is kNoCode when only missing values go right.
  std::uint32_t last_left = 0;
  std::uint32_t first_right = kNoCode;
  bool has_threshold = false;  // drawn at random; otherwise it is put in the middle of the gap
  Value threshold{.real = 0.0};
  // Category splits: the child of each code of the block; kNoChild when it does not occur.
  std::vector<std::uint32_t> child_of_code;
  std::uint32_t n_children = 2;
  double left_value = 0.0;  // predictions of the children, for monotone constraints
  double right_value = 0.0;

  bool exists() const { return score > -std::numeric_limits<double>::infinity(); }
};

}  // namespace committee
