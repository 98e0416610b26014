#include "target_statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace committee {

namespace {

// What is known of a level so far.
struct Sum {
  double target = 0.0;
  double weight = 0.0;

  double mean(double smoothing) const {
    const double total = weight + smoothing;
    return total > 0.0 ? target / total : 0.0;
  }
};

void check(const LevelTarget& target, std::size_t n_levels) {
  const std::size_t n_rows = target.levels.size();
  const bool is_out = std::any_of(target.levels.begin(), target.levels.end(), [&](auto level) {
    return level < -1 || level >= static_cast<std::int64_t>(n_levels);
  });
  if (is_out) throw std::invalid_argument("a level is out of range");
  if (std::any_of(target.order.begin(), target.order.end(), [&](auto r) { return r >= n_rows; })) {
    throw std::invalid_argument("a row is out of range");
  }
}

}  // namespace

void ordered_means(const LevelTarget& target, double smoothing, std::span<double> of_rows,
                   std::span<double> of_levels) {
  const std::size_t n_levels = of_levels.size() - 2;
  check(target, n_levels);
  std::vector<Sum> sums(n_levels + 2);
  const auto place = [&](std::size_t row) {
    const std::int32_t level = target.levels[row];
    return level < 0 ? n_levels + 1 : static_cast<std::size_t>(level);
  };
  for (const std::uint32_t row : target.order) {
    const double weight = target.weights.empty() ? 1.0 : target.weights[row];
    if (weight == 0.0) continue;
    Sum& sum = sums[place(row)];
    of_rows[row] = sum.mean(smoothing);
    sum.target += weight * target.targets[row];
    sum.weight += weight;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) of_levels[i] = sums[i].mean(smoothing);
  for (std::size_t row = 0; row < target.weights.size(); ++row) {
    if (target.weights[row] == 0.0) of_rows[row] = of_levels[place(row)];
  }
}

}  // namespace committee
