// Poisson deviance without cancellation.
#pragma once

#include <cmath>

namespace committee {

// (1 + d) log(1 + d) - d for d >= -1: half the unit deviance of a mean that is off by the
// fraction d. Close to d = 0 the parts cancel to d^2 / 2, so the series is summed there.
inline double half_deviance(double d) {
  if (d <= -1.0) return 1.0;
  if (std::abs(d) > 0.0625) return (1.0 + d) * std::log1p(d) - d;
  double power = d * d;
  double sum = 0.0;
  for (int k = 2; k < 18; ++k) {  // 0.0625^16 is below the rounding error
    sum += power / (k * (k - 1));
    power *= -d;
  }
  return sum;
}

}  // namespace committee
