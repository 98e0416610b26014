// Weighted quantiles of groups of rows, as losses/arithmetic.py defines them: the least value such
// that the rows of that value or less hold the share q of the weight, and the middle of two values
// where they hold exactly q.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace committee {

// The quantile of each group; zero for a group without rows. Rows of weight zero are absent, and
// no weights are equal ones. Linear in the rows where weights are equal.
void group_quantiles(std::span<const double> values, std::span<const double> weights,
                     std::span<const std::uint32_t> groups, double share,
                     std::span<double> quantiles);

}  // namespace committee
