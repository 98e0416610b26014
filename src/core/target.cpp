#include "target.hpp"

#include "quantize.hpp"

namespace committee {

Entries make_entries(std::size_t n_rows, std::span<const double> weights,
                     std::span<const std::uint32_t> counts) {
  Entries entries;
  const bool is_whole = weights.empty() || are_repetitions(weights);
  bool has_repetitions = !counts.empty();
  bool weights_are_counts = is_whole;
  for (std::size_t row = 0; row < n_rows; ++row) {
    const double weight = weights.empty() ? 1.0 : weights[row];
    if (weight == 0.0) continue;
    entries.rows.push_back(static_cast<std::uint32_t>(row));
    entries.weights.push_back(weight);
    const std::uint32_t count = !counts.empty() ? counts[row]
                                : is_whole      ? static_cast<std::uint32_t>(weight)
                                                : 1U;
    if (static_cast<double>(count) != weight) weights_are_counts = false;
    if (count != 1) has_repetitions = true;
    entries.repetitions.push_back(count);
  }
  if (!has_repetitions) entries.repetitions.clear();
  entries.weights_are_repetitions = weights_are_counts;
  return entries;
}

}  // namespace committee
