#include "data/target.hpp"

#include "base/quantize.hpp"

namespace committee {

Entries make_entries(std::size_t n_rows, std::span<const double> weights,
                     std::span<const std::uint32_t> counts) {
  const bool is_whole = weights.empty() || are_repetitions(weights);
  const auto weight_of = [&](std::size_t row) { return weights.empty() ? 1.0 : weights[row]; };
  const auto count_of = [&](std::size_t row) {
    if (!counts.empty()) return counts[row];
    return is_whole ? static_cast<std::uint32_t>(weight_of(row)) : 1U;
  };
  Entries entries;
  entries.weights_are_repetitions = is_whole;
  bool has_repetitions = false;
  std::size_t n_entries = 0;
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (weight_of(row) == 0.0) continue;
    ++n_entries;
    if (static_cast<double>(count_of(row)) != weight_of(row)) {
      entries.weights_are_repetitions = false;
    }
    if (count_of(row) != 1) has_repetitions = true;
  }
  entries.rows.reserve(n_entries);
  entries.weights.reserve(n_entries);
  if (has_repetitions) entries.repetitions.reserve(n_entries);
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (weight_of(row) == 0.0) continue;
    entries.rows.push_back(static_cast<std::uint32_t>(row));
    entries.weights.push_back(weight_of(row));
    if (has_repetitions) entries.repetitions.push_back(count_of(row));
  }
  return entries;
}

}  // namespace committee
