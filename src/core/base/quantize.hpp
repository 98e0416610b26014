// Real numbers as integers on a grid of a power of two, so that sums do not depend on order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace committee {

// Whether all weights are whole numbers with a sum below 2^31: then a weight is a number of
// repetitions and is used as it is.
inline bool are_repetitions(std::span<const double> weights) {
  double total = 0.0;
  for (const double weight : weights) {
    if (weight != std::floor(weight)) return false;
    total += weight;
  }
  return total < 2147483648.0;
}

// The exponent e for which numbers with the given sum of magnitudes, times 2^e, add up to less
// than 2^bits even after each has been rounded.
inline int grid_exponent(double sum_of_magnitudes, int bits) {
  if (!(sum_of_magnitudes > 0.0)) return 0;
  int exponent = 0;
  std::frexp(sum_of_magnitudes, &exponent);  // sum <= 2^exponent
  return bits - 1 - exponent;
}

inline std::int64_t to_grid(double value, int exponent) {
  return static_cast<std::int64_t>(std::llrint(std::ldexp(value, exponent)));
}

}  // namespace committee
