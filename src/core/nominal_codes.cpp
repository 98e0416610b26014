#include "nominal_codes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace committee {
namespace {

template <typename T>
std::int32_t interval_of(std::span<const T> edges, T value) {
  return static_cast<std::int32_t>(std::lower_bound(edges.begin(), edges.end(), value) -
                                   edges.begin());
}

}  // namespace

void nominal_codes(const TableView& table, std::size_t feature, std::span<const double> edges,
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
      out[row] = std::isnan(value) ? missing_level : interval_of(edges, value);
    }
    return;
  }
  // An integer is at most an edge if it is at most the whole part of it: exact beyond 2^53.
  std::vector<std::int64_t> whole;
  for (const double edge : edges) {
    const Integer up = ceil_to_integer(edge);
    const bool is_whole = static_cast<double>(up.value) == edge;
    const bool is_lowest = up.value == std::numeric_limits<std::int64_t>::min();
    whole.push_back(is_whole || is_lowest ? up.value : up.value - 1);
  }
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    const Integer value = read_integer(column, row);
    out[row] = value.is_missing ? missing_level
                                : interval_of(std::span<const std::int64_t>(whole), value.value);
  }
}

}  // namespace committee
