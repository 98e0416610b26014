#include "base/group_quantiles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace committee {
namespace {

// Sums of weights such as 0.1 are not exact; shares this close to q count as q.
constexpr double kSlack = 1e-12;

struct WeighedValue {
  double value;
  double weight;
};

// NaN is above all numbers, so that there always is an order.
bool is_less(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

// Halves first: the sum of two large values may overflow.
double middle_of(double low, double high) { return low == high ? low : low / 2 + high / 2; }

double plain_quantile(std::span<double> values, double share) {
  const auto size = static_cast<double>(values.size());
  const double target = share * size;
  const double slack = kSlack * size;
  const double place = std::clamp(std::ceil(target - slack) - 1, 0.0, size - 1);
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), found, values.end(), is_less);
  const bool is_at_edge = place + 1 <= target + slack && place + 1 < size;
  return is_at_edge ? middle_of(*found, *std::min_element(found + 1, values.end(), is_less))
                    : *found;
}

// Weights are put on an integer grid, fine enough that they add up to less than 2^62: a sum that
// does not depend on the order of equal values.
double weighted_quantile(std::span<WeighedValue> rows, double share) {
  std::sort(rows.begin(), rows.end(),
            [](const WeighedValue& a, const WeighedValue& b) { return is_less(a.value, b.value); });
  double largest = 0.0;
  for (const WeighedValue& row : rows) largest = std::max(largest, row.weight);
  int exponent = 0;
  std::frexp(largest, &exponent);
  const int power = 61 - static_cast<int>(std::bit_width(rows.size())) - exponent;
  std::uint64_t total = 0;
  const auto grid_of = [power](double weight) {
    return static_cast<std::uint64_t>(std::rint(std::ldexp(weight, power)));
  };
  for (const WeighedValue& row : rows) total += grid_of(row.weight);
  const double target = share * static_cast<double>(total);
  const double slack = kSlack * static_cast<double>(total);
  std::size_t found = 0;
  std::uint64_t below = grid_of(rows[0].weight);
  while (found + 1 < rows.size() && static_cast<double>(below) < target - slack) {
    below += grid_of(rows[++found].weight);
  }
  const bool is_at_edge = static_cast<double>(below) <= target + slack && found + 1 < rows.size();
  return is_at_edge ? middle_of(rows[found].value, rows[found + 1].value) : rows[found].value;
}

// Calls visit(row, its place), where the rows of a group are side by side. Moves each begin to the
// end of its group.
template <typename Visit>
void by_group(std::span<const double> weights, std::span<const std::uint32_t> groups,
              std::vector<std::size_t>& begins, Visit&& visit) {
  for (std::size_t row = 0; row < groups.size(); ++row) {
    if (weights.empty() || weights[row] > 0.0) visit(row, begins[groups[row]]++);
  }
}

bool are_equal(std::span<const double> weights) {
  double first = 0.0;
  for (const double weight : weights) {
    if (weight == 0.0) continue;
    if (first == 0.0) first = weight;
    if (weight != first) return false;
  }
  return true;
}

}  // namespace

void group_quantiles(std::span<const double> values, std::span<const double> weights,
                     std::span<const std::uint32_t> groups, double share,
                     std::span<double> quantiles) {
  std::vector<std::size_t> begins(quantiles.size() + 1, 0);
  for (std::size_t row = 0; row < groups.size(); ++row) {
    begins[groups[row] + 1] += weights.empty() || weights[row] > 0.0 ? 1 : 0;
  }
  for (std::size_t group = 0; group < quantiles.size(); ++group) begins[group + 1] += begins[group];
  const std::size_t n_present = begins.back();
  const auto for_each_group = [&](auto& sorted, auto&& quantile_of) {
    std::size_t begin = 0;
    for (std::size_t group = 0; group < quantiles.size(); ++group) {
      const std::size_t end = begins[group];
      quantiles[group] =
          begin == end ? 0.0 : quantile_of(std::span(sorted).subspan(begin, end - begin), share);
      begin = end;
    }
  };
  if (are_equal(weights)) {
    std::vector<double> sorted(n_present);
    by_group(weights, groups, begins,
             [&](std::size_t row, std::size_t place) { sorted[place] = values[row]; });
    for_each_group(sorted, plain_quantile);
    return;
  }
  std::vector<WeighedValue> sorted(n_present);
  by_group(weights, groups, begins, [&](std::size_t row, std::size_t place) {
    sorted[place] = {values[row], weights[row]};
  });
  for_each_group(sorted, weighted_quantile);
}

}  // namespace committee
