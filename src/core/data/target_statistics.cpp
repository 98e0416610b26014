#include "data/target_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "base/quantize.hpp"

namespace committee {

namespace {

constexpr int kBits = 62;

// What is known of a level so far, on the grids: levels of the same rows, in whatever order, have
// the same mean to the last bit, and no bin lies between them.
struct Sum {
  std::int64_t target = 0;
  std::int64_t weight = 0;
};

// Factors that bring numbers to the grids; powers of two, so that going back is exact.
struct Grids {
  double target = 1.0;
  double weight = 1.0;

  double mean(const Sum& sum, double smoothing) const {
    const double total = static_cast<double>(sum.weight) / weight + smoothing;
    return total > 0.0 ? static_cast<double>(sum.target) / target / total : 0.0;
  }
};

double factor_of(double sum_of_magnitudes) {
  constexpr int kMost = 1000;  // of numbers below 1e-280 only the first digits are kept
  return std::ldexp(1.0, std::min(grid_exponent(sum_of_magnitudes, kBits), kMost));
}

double weight_of(const LevelTarget& target, std::size_t row) {
  return target.weights.empty() ? 1.0 : target.weights[row];
}

Grids grids_of(const LevelTarget& target) {
  double targets = 0.0;
  double weights = 0.0;
  for (std::size_t row = 0; row < target.levels.size(); ++row) {
    const double weight = weight_of(target, row);
    targets += std::abs(weight * target.targets[row]);
    weights += weight;
  }
  if (!std::isfinite(targets + weights)) throw std::invalid_argument("a target is not finite");
  return {factor_of(targets), factor_of(weights)};
}

void check(const LevelTarget& target, std::size_t n_levels) {
  const std::size_t n_rows = target.levels.size();
  const bool is_out = std::any_of(target.levels.begin(), target.levels.end(), [&](auto level) {
    return level < -1 || level >= static_cast<std::int64_t>(n_levels);
  });
  if (is_out) throw std::invalid_argument("a level is out of range");
  std::vector<bool> is_there(n_rows, false);
  for (const std::uint32_t row : target.order) {
    if (row >= n_rows || is_there[row]) {
      throw std::invalid_argument("a row is out of range or there twice");
    }
    is_there[row] = true;
  }
}

}  // namespace

void ordered_means(const LevelTarget& target, double smoothing, std::span<double> of_rows,
                   std::span<double> of_levels) {
  const std::size_t n_levels = of_levels.size() - 2;
  check(target, n_levels);
  const Grids grids = grids_of(target);
  std::vector<Sum> sums(n_levels + 2);
  const auto place = [&](std::size_t row) {
    const std::int32_t level = target.levels[row];
    return level < 0 ? n_levels + 1 : static_cast<std::size_t>(level);
  };
  for (const std::uint32_t row : target.order) {
    const double weight = weight_of(target, row);
    if (weight == 0.0) continue;
    Sum& sum = sums[place(row)];
    of_rows[row] = grids.mean(sum, smoothing);
    sum.target += std::llrint(weight * target.targets[row] * grids.target);
    sum.weight += std::llrint(weight * grids.weight);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) of_levels[i] = grids.mean(sums[i], smoothing);
  for (std::size_t row = 0; row < target.weights.size(); ++row) {
    if (target.weights[row] == 0.0) of_rows[row] = of_levels[place(row)];
  }
}

}  // namespace committee
