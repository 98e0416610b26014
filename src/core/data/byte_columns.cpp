#include "data/byte_columns.hpp"

#include <algorithm>
#include <numeric>

namespace committee {

namespace {
constexpr std::uint32_t kMostCodes = 255;  // the last of 256 is for missing values
}

ByteColumns::ByteColumns(const BinnedDataset& dataset, std::span<const double> weights)
    : n_rows_(dataset.n_rows()) {
  const std::size_t n_features = dataset.n_features();
  maps_.resize(n_features);
  own_.resize(n_features);
  for (std::size_t feature = 0; feature < n_features; ++feature) {
    const CodeColumn& column = dataset.feature(feature).column;
    columns_.push_back(column);
    const bool is_category = dataset.feature(feature).kind == FeatureKind::kCategory;
    if (is_category && column.n_codes() > 256) share_codes(column, weights, feature);
  }
}

void ByteColumns::share_codes(const CodeColumn& levels, std::span<const double> weights,
                              std::size_t feature) {
  const std::size_t n_rows = weights.size();
  std::vector<double> totals(levels.n_values, 0.0);
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::uint32_t level = levels.at(row);
    if (level < levels.n_values) totals[level] += weights[row];
  }
  std::vector<std::uint32_t> heaviest(levels.n_values);
  std::iota(heaviest.begin(), heaviest.end(), 0U);
  std::stable_sort(heaviest.begin(), heaviest.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return totals[a] > totals[b]; });
  std::vector<std::uint8_t>& map = maps_[feature];
  map.assign(levels.n_values, static_cast<std::uint8_t>(kMostCodes - 1));
  for (std::uint32_t code = 0; code + 1 < kMostCodes; ++code) {
    map[heaviest[code]] = static_cast<std::uint8_t>(code);
  }
  own_[feature] = std::make_unique_for_overwrite<std::uint8_t[]>(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::uint32_t level = levels.at(row);
    own_[feature][row] = level < levels.n_values ? map[level] : std::uint8_t{kMostCodes};
  }
  CodeColumn& column = columns_[feature];
  column.codes = own_[feature].get();
  column.width = 1;
  column.n_values = kMostCodes;
}

}  // namespace committee
