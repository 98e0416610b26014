#include "boost/boost_state.hpp"

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
  }
}

void BoostState::weigh(std::span<const double> row_weights) {
  weights.assign(row_weights.begin(), row_weights.end());
  counts = counts_of(weights, are_repetitions);
}

}  // namespace committee
