#include "score/statistic.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/quantize.hpp"

namespace committee {
namespace {

// Weights as whole numbers of a unit. No row vanishes: the smallest weight is one unit. A row that
// counts twice has twice the number of one repetition, so that it adds what two rows add.
std::vector<std::int64_t> whole_weights(const Entries& entries,
                                        std::span<const std::uint32_t> which, int& exponent) {
  std::vector<std::int64_t> weights(which.size());
  exponent = 0;
  if (!entries.weights_are_repetitions) {
    double total = 0.0;
    for (const std::uint32_t entry : which) total += entries.weights[entry];
    exponent = grid_exponent(total, 52);
  }
  for (std::size_t row = 0; row < which.size(); ++row) {
    const double weight = entries.weights[which[row]];
    const std::uint32_t n = std::max(entries.repetitions_of(which[row]), 1U);
    weights[row] = entries.weights_are_repetitions
                       ? static_cast<std::int64_t>(weight)
                       : n * std::max<std::int64_t>(to_grid(weight / n, exponent), 1);
  }
  return weights;
}

// Two classes, weights that count repetitions.
void add_two_classes(RowStatistics& rows, const Target& target, const Entries& entries,
                     std::span<const std::uint32_t> which) {
  rows.packed.resize(which.size());
  for (std::size_t row = 0; row < which.size(); ++row) {
    const auto weight =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(entries.weights[which[row]]));
    const auto code = static_cast<std::uint64_t>(target.classes[entries.rows[which[row]]]);
    rows.packed[row] = weight << 32 * code | weight;
  }
}

void add_classes(RowStatistics& rows, const Target& target, const Entries& entries,
                 std::span<const std::uint32_t> which, std::vector<std::int64_t> weights) {
  rows.first_class = {0};
  for (const std::uint32_t n : target.n_classes) {
    rows.first_class.push_back(rows.first_class.back() + n);
  }
  rows.cell_size = rows.first_class.back();
  rows.slots.resize(which.size() * target.n_outputs);
  for (std::size_t row = 0; row < which.size(); ++row) {
    const std::size_t source = std::size_t{entries.rows[which[row]]} * target.n_outputs;
    for (std::size_t output = 0; output < target.n_outputs; ++output) {
      rows.slots[row * target.n_outputs + output] =
          rows.first_class[output] + static_cast<std::uint32_t>(target.classes[source + output]);
    }
  }
  rows.weights = std::move(weights);
}

void add_sums(RowStatistics& rows, const Target& target, const Entries& entries,
              std::span<const std::uint32_t> which, std::span<const std::int64_t> weights,
              bool count_positives) {
  const std::size_t n_sums = 1 + target.n_outputs;
  rows.cell_size = n_sums + (count_positives ? target.n_outputs : 0);
  rows.sums.resize(which.size() * rows.cell_size);
  rows.targets.resize(which.size() * target.n_outputs);
  for (std::size_t row = 0; row < which.size(); ++row) {
    rows.sums[row * rows.cell_size] = weights[row];
    const std::size_t source = std::size_t{entries.rows[which[row]]} * target.n_outputs;
    std::copy_n(target.reals.begin() + static_cast<std::ptrdiff_t>(source), target.n_outputs,
                rows.targets.begin() + static_cast<std::ptrdiff_t>(row * target.n_outputs));
  }
  for (std::size_t output = 0; output < target.n_outputs; ++output) {
    const auto value = [&](std::size_t row) {
      return rows.targets[row * target.n_outputs + output];
    };
    double low = value(0);
    double high = low;
    double total_weight = 0.0;
    for (std::size_t row = 0; row < which.size(); ++row) {
      low = std::min(low, value(row));
      high = std::max(high, value(row));
      total_weight += entries.weights[which[row]];
    }
    // The middle of the range does not depend on the order of rows, nor on their repetitions.
    const double centre = low / 2 + high / 2;
    const double reach = std::max(std::abs(high - centre), std::abs(low - centre));
    // Two exponents, because the product of weight and reach may leave the range of doubles.
    const int reach_exponent = grid_exponent(reach, 0);
    const int exponent = grid_exponent(total_weight * std::ldexp(reach, reach_exponent), 62);
    rows.centres.push_back(centre);
    rows.reaches.push_back(reach);
    rows.sum_exponents.push_back(reach_exponent + exponent);
    if (count_positives) {
      for (std::size_t row = 0; row < which.size(); ++row) {
        rows.sums[row * rows.cell_size + n_sums + output] = value(row) > 0.0 ? 1 : 0;
      }
    }
    for (std::size_t row = 0; row < which.size(); ++row) {
      const double scaled = std::ldexp(value(row) - centre, reach_exponent);
      // A row of weight two must add exactly twice what two rows add, so repetitions multiply the
      // rounded target. Other weights enter as they were rounded: weight and sum of a light row
      // must tell the same target.
      const std::int64_t n = entries.weights_are_repetitions
                                 ? weights[row]
                                 : std::max<std::int64_t>(entries.repetitions_of(which[row]), 1);
      const auto one = static_cast<double>(weights[row] / n);
      rows.sums[row * rows.cell_size + 1 + output] =
          n * to_grid(scaled * std::ldexp(one, -rows.weight_exponent), exponent);
    }
  }
}

}  // namespace

RowStatistics make_statistics(const Target& target, const Entries& entries,
                              std::span<const std::uint32_t> which,
                              const StatisticOptions& options) {
  RowStatistics rows;
  rows.layout = options.layout;
  rows.weight_magnitude = options.weight_magnitude;
  rows.target_magnitude = options.target_magnitude;
  rows.n_outputs = target.n_outputs;
  if (rows.layout == StatisticLayout::kBinaryCounts) {
    add_two_classes(rows, target, entries, which);
    return rows;
  }
  std::vector<std::int64_t> weights = whole_weights(entries, which, rows.weight_exponent);
  if (options.count_rows && !entries.weights_are_repetitions) {
    rows.repetitions.reserve(which.size());
    for (const std::uint32_t entry : which) {
      rows.repetitions.push_back(entries.repetitions_of(entry));
    }
  }
  if (!entries.weights_are_repetitions) {
    for (const std::uint32_t entry : which) {
      rows.row_weights.push_back(entries.weights[entry]);
      rows.total_weight += entries.weights[entry];
    }
  }
  if (target.is_classification) {
    add_classes(rows, target, entries, which, std::move(weights));
  } else {
    add_sums(rows, target, entries, which, weights, options.count_positives);
  }
  return rows;
}

bool is_too_coarse(const RowStatistics& rows, std::span<const std::uint32_t> which) {
  constexpr double kLight = 1.0 / 1024;
  if (!rows.row_weights.empty()) {
    double weight = 0.0;
    for (const std::uint32_t row : which) weight += rows.row_weights[row];
    if (weight < kLight * rows.total_weight) return true;
  }
  for (std::size_t output = 0; output < rows.reaches.size(); ++output) {
    double low = rows.targets[which[0] * rows.n_outputs + output];
    double high = low;
    for (const std::uint32_t row : which) {
      const double value = rows.targets[row * rows.n_outputs + output];
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (is_blurred(low, high, rows.reaches[output])) return true;
  }
  return false;
}

bool take_statistics(const RowStatistics& parent, std::span<const std::uint32_t> parent_rows,
                     RowStatistics& rows) {
  if (parent.layout != StatisticLayout::kBinaryCounts) return false;
  rows.layout = parent.layout;
  rows.weight_magnitude = parent.weight_magnitude;
  rows.packed.resize(parent_rows.size());
  for (std::size_t row = 0; row < parent_rows.size(); ++row) {
    rows.packed[row] = parent.packed[parent_rows[row]];
  }
  return true;
}

std::int64_t count_repetitions(const RowStatistics& rows, std::span<const std::uint32_t> which,
                               bool are_neighbours) {
  std::int64_t total = 0;
  if (rows.layout == StatisticLayout::kBinaryCounts) {
    std::uint64_t sum = 0;
    if (are_neighbours) {
      for (const std::uint64_t row : std::span(rows.packed).subspan(which[0], which.size())) {
        sum += row;
      }
      return static_cast<std::int64_t>(sum & 0xFFFFFFFFULL);
    }
    for (const std::uint32_t row : which) sum += rows.packed[row];
    return static_cast<std::int64_t>(sum & 0xFFFFFFFFULL);
  }
  if (rows.layout == StatisticLayout::kClassCounts) {
    for (const std::uint32_t row : which) total += rows.weights[row];
  } else {
    for (const std::uint32_t row : which) total += rows.sums[row * rows.cell_size];
  }
  return total;
}

}  // namespace committee
