// Means of a target by level of a category, such that no row sees its own target.
//
// Rows come one after the other in a given order. A row gets the smoothed mean of the rows of its
// level that came before it; a level, as new rows see it, gets that of all rows. The smoothing is
// so many more rows with a target of zero, so that targets should have a mean of zero.
#pragma once

#include <cstdint>
#include <span>

namespace committee {

struct LevelTarget {
  std::span<const std::int32_t> levels;  // of each row, -1 where it is missing
  std::span<const std::uint32_t> order;  // rows of positive weight, each once
  std::span<const double> targets;
  std::span<const double> weights;  // empty: each row once
};

// `of_levels` has a number for each level, then one for levels that did not occur (zero), then one
// for missing values. Rows of weight zero are absent: they get what a new row would get.
// Throws std::invalid_argument for a level or a row that is out of range, or a row named twice.
void ordered_means(const LevelTarget& target, double smoothing, std::span<double> of_rows,
                   std::span<double> of_levels);

}  // namespace committee
