// C4.5's pessimistic error: how many errors a leaf may be expected to make on rows like those it
// was grown on (Quinlan 1993, section 4.2).
//
// A leaf that errs on e of n training cases is given the upper confidence limit of a binomial
// probability, times n. Without errors the limit is exact; from one error on it is the normal
// approximation with continuity correction, and between none and one it is interpolated.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"
#include "base/vector_math.hpp"

namespace committee {

// base^exponent for a base in (0, 1] and an exponent that is not negative, the same on every
// processor.
inline double power_of(double base, double exponent) {
  Doubles x{};
  x[0] = std::min(exponent * log_of(base), 0.0);
  Doubles power;
  exp_of_negative(x, power);
  return power[0];
}

struct PessimisticError {
  double confidence = 0.25;
  double deviate_squared = 0.4549;  // of the normal law, at this confidence

  // Errors to expect, for e >= 0 errors among n > 0 cases.
  double expect(double n, double e) const { return e + added(n, e); }

 private:
  double added(double n, double e) const {
    if (e < 1e-6) return none(n);
    if (e < 0.9999) return none(n) + e * (some(n, 1.0) - none(n));
    return some(n, e);
  }
  double none(double n) const { return n * (1.0 - power_of(confidence, 1.0 / n)); }
  // Beyond n - 1/2 errors the approximation has no room left.
  double some(double n, double e) const {
    if (e + 0.5 >= n) return 0.67 * (n - e);
    const double errors = e + 0.5;
    const double root =
        std::sqrt(deviate_squared * (errors * (1.0 - errors / n) + deviate_squared / 4.0));
    const double limit = (errors + deviate_squared / 2.0 + root) / (n + deviate_squared);
    return n * limit - e;
  }
};

}  // namespace committee
