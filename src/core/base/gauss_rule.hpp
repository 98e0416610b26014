// Gauss-Legendre quadrature: the integral of a polynomial over [0, 1] as a weighted sum of a few of
// its values. n points are exact up to degree 2n - 1, and all weights are positive.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace committee {

struct GaussRule {
  std::vector<double> points;  // ascending, strictly between 0 and 1
  std::vector<double> weights;

  std::size_t n_points() const { return points.size(); }
};

// For 0 <= x <= 2, by the series: the same on every processor, which functions of C are not.
inline double cosine(double x) {
  double sum = 1.0;
  for (int k = 26; k > 0; k -= 2) sum = 1.0 - sum * x * x / (k * (k - 1));
  return sum;
}

// The points are the zeros of the Legendre polynomial P_n, found by Newton's method from the usual
// asymptotic guess; they lie symmetrically, so half of them are looked for.
inline GaussRule make_gauss_rule(std::size_t n) {
  GaussRule rule{std::vector<double>(n), std::vector<double>(n)};
  const auto degree = static_cast<double>(n);
  for (std::size_t i = 0; i < (n + 1) / 2; ++i) {
    double x = cosine(std::numbers::pi * (static_cast<double>(i) + 0.75) / (degree + 0.5));
    if (2 * i + 1 == n) x = 0.0;
    double slope = 0.0;
    for (int round = 0; round < 8; ++round) {  // the error is squared by each
      double value = 1.0;
      double before = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        const auto order = static_cast<double>(k);
        const double next = ((2.0 * order + 1.0) * x * value - order * before) / (order + 1.0);
        before = value;
        value = next;
      }
      slope = degree * (x * value - before) / (x * x - 1.0);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-16) break;
    }
    const double weight = 1.0 / ((1.0 - x * x) * slope * slope);
    rule.points[i] = (1.0 - x) / 2.0;
    rule.points[n - 1 - i] = (1.0 + x) / 2.0;
    rule.weights[i] = rule.weights[n - 1 - i] = weight;
  }
  return rule;
}

}  // namespace committee
