// Impurities of sets of rows in float64, and how those of children merge into their parent's.
#pragma once

#include <algorithm>
#include <span>

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

}  // namespace committee
