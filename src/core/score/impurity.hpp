// Impurities of sets of rows in float64, and how those of children merge into their parent's.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "base/portable_math.hpp"
#include "score/criterion.hpp"

namespace committee {

// Of one output, from the shares of its classes.
inline double class_impurity(Criterion criterion, std::span<const double> shares) {
  return visit_class_criterion(criterion, [&]<Criterion kCriterion>(CriterionConstant<kCriterion>) {
    using Of = CriterionOf<kCriterion>;
    double terms = 0.0;
    for (const double share : shares) terms = Of::join(terms, Of::term(share));
    return std::max(0.0, Of::pure_score(1.0) - Of::score(terms, 1.0));
  });
}

// Weighted mean and sum of squared deviations. The mean is `mean + rest`, so that targets such as
// 1e12 +- 1 keep their spread: `rest` is what rounding took off the mean.
struct Moments {
  double weight = 0.0;
  double mean = 0.0;
  double rest = 0.0;
  double squares = 0.0;
};

inline void shift_mean(Moments& moments, double change) {
  const double rest = moments.rest + change;
  const double mean = moments.mean + rest;
  const double moved = mean - moments.mean;  // two-sum: mean + rest stays what it was
  moments.rest = (moments.mean - (mean - moved)) + (rest - moved);
  moments.mean = mean;
}

// Chan, Golub and LeVeque 1979.
inline void merge(Moments& into, const Moments& other) {
  const double weight = into.weight + other.weight;
  const double difference = (other.mean - into.mean) + (other.rest - into.rest);
  into.squares += other.squares + difference * difference * (into.weight * (other.weight / weight));
  shift_mean(into, difference * (other.weight / weight));
  into.weight = weight;
}

// Poisson: (1 + d) log(1 + d) - d for d >= -1, half the unit deviance of a mean that is off by the
// fraction d. Close to d = 0 the parts cancel to d^2 / 2, so the series is summed there.
inline double half_deviance(double d) {
  if (d <= -1.0) return 1.0;
  if (std::abs(d) > 0.0625) return (1.0 + d) * log1p_of(d) - d;
  double power = d * d;
  double sum = 0.0;
  for (int k = 2; k < 18; ++k) {  // 0.0625^16 is below the rounding error
    sum += power / (k * (k - 1));
    power *= -d;
  }
  return sum;
}

}  // namespace committee
