#include "boost/boost_state.hpp"

#include <algorithm>
#include <cstddef>

#include "base/quantize.hpp"

namespace committee {
namespace {

// How often each row counts; empty: once.
std::vector<std::uint32_t> counts_of(std::span<const double> weights, bool are_whole) {
  if (weights.empty()) return {};
  std::vector<std::uint32_t> counts;
  counts.reserve(weights.size());
  for (const double weight : weights) {
    counts.push_back(are_whole ? static_cast<std::uint32_t>(weight) : 1U);
  }
  return counts;
}

// Whether some feature has a code for each of its values.
bool is_exact(const BinnedDataset& binned) {
  for (std::size_t i = 0; i < binned.n_features(); ++i) {
    const BinnedFeature& feature = binned.feature(i);
    if (feature.kind != FeatureKind::kCategory && feature.column.n_codes() >= 2 &&
        feature.low.empty()) {
      return true;
    }
  }
  return false;
}

// Marks sparse features no split of which has enough rows: one side has none of the rest. Draws
// know nothing of this. Empty where rows count several times, and so often as is drawn later.
std::vector<std::uint8_t> too_rare_features(const ByteColumns& columns, std::int64_t min_rows_leaf,
                                            bool rows_count_once) {
  std::vector<std::uint8_t> marks;
  if (!rows_count_once) return marks;
  for (std::size_t feature = 0; feature < columns.size(); ++feature) {
    const SparseCodes* const sparse = columns.column(feature).sparse;
    if (sparse == nullptr) continue;
    const auto n_rest = std::count(sparse->codes.begin(), sparse->codes.end(), sparse->rest);
    if (static_cast<std::int64_t>(sparse->codes.size()) - n_rest >= min_rows_leaf) continue;
    marks.resize(columns.size());
    marks[feature] = 1;
  }
  return marks;
}

}  // namespace

BoostState::BoostState(const BinnedDataset& binned, const BoostOptions& boost_options,
                       std::span<const double> row_weights)
    : dataset(binned),
      options(boost_options),
      weights(row_weights.begin(), row_weights.end()),
      are_repetitions(committee::are_repetitions(weights)),
      counts(counts_of(weights, are_repetitions)),
      columns(binned, weights.empty() ? std::vector<double>(binned.n_rows(), 1.0) : weights),
      leaves(binned.n_rows(), 0U) {
  if (is_exact(binned)) {
    sorted.emplace(binned, options.n_threads);
    marks.resize(binned.n_rows());
  } else {
    records = make_record_groups(columns.all(), binned.n_rows(), options.n_threads);
    too_rare =
        too_rare_features(columns, options.min_rows_leaf, weights.empty() || !are_repetitions);
  }
}

void BoostState::weigh(std::span<const double> row_weights) {
  weights.assign(row_weights.begin(), row_weights.end());
  counts = counts_of(weights, are_repetitions);
}

}  // namespace committee
