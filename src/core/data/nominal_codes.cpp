#include "data/nominal_codes.hpp"

#include <algorithm>
#include <cmath>

namespace committee {
namespace {

template <typename T>
std::int32_t interval_of(std::span<const T> cuts, T value) {
  return static_cast<std::int32_t>(std::lower_bound(cuts.begin(), cuts.end(), value) -
                                   cuts.begin());
}

}  // namespace

void nominal_codes(const TableView& table, std::size_t feature, const Cuts& cuts,
                   std::int32_t missing_level, std::span<std::int32_t> out) {
  const ColumnView& column = table.columns[feature];
  if (table.kinds[feature] == FeatureKind::kCategory) {
    for (std::size_t row = 0; row < table.n_rows; ++row) {
      const std::int32_t level = read_level(column, row);
      out[row] = level == -1 ? missing_level : level;
    }
    return;
  }
  if (table.kinds[feature] == FeatureKind::kReal) {
    for (std::size_t row = 0; row < table.n_rows; ++row) {
      const double value = read_real(column, row);
      out[row] = std::isnan(value) ? missing_level : interval_of(cuts.reals, value);
    }
    return;
  }
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    const Integer value = read_integer(column, row);
    out[row] = value.is_missing ? missing_level : interval_of(cuts.integers, value.value);
  }
}

}  // namespace committee
