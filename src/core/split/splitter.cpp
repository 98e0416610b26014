#include "split/splitter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "split/drawn_cuts.hpp"

namespace committee {
namespace {

// Below this many row-feature visits a second thread costs more than it brings.
constexpr std::size_t kParallelVisits = std::size_t{1} << 16;

template <typename Number, typename Low, typename High>
Number draw_cut(std::span<const std::uint32_t> present, Low low, High high, Random& random,
                std::size_t& last_left) {
  const Number smallest = high(present.front());
  const Number largest = low(present.back());
  Number threshold{};
  if (std::isfinite(static_cast<double>(largest) - static_cast<double>(smallest))) {
    threshold = draw_between(smallest, largest, random);
    last_left = 0;
    std::size_t end = present.size() - 1;
    while (end - last_left > 1) {
      const std::size_t middle = (last_left + end) / 2;
      (low(present[middle]) <= threshold ? last_left : end) = middle;
    }
  } else {  // infinite values: any cut is as likely as another
    last_left = random.below(static_cast<std::uint32_t>(present.size() - 1));
    threshold = high(present[last_left]);
  }
  const Number floor = high(present[last_left]);
  return threshold >= floor && threshold < low(present[last_left + 1]) ? threshold : floor;
}

}  // namespace

Split try_features(std::span<const std::uint32_t> features, const NodeView& node,
                   std::size_t n_threads, Monitor& monitor, const TryFeature& try_feature) {
  Split best;
  if (n_threads < 2 || features.size() < 2 ||
      node.rows.size() * features.size() < kParallelVisits) {
    for (const std::uint32_t feature : features) {
      if (node.rows.size() >= kParallelVisits) monitor.check();
      try_feature(feature, best);
    }
    return best;
  }
  std::vector<Split> splits(features.size());
  parallel_for(
      features.size(), n_threads,
      [&](std::size_t i) {
        monitor.check();
        try_feature(features[i], splits[i]);
      },
      &monitor);
  for (Split& split : splits) {
    if (split.score > best.score) best = std::move(split);
  }
  return best;
}

namespace {

// Whether the rows of the node differ in a feature; mostly the first few tell.
bool varies(const NodeView& node, std::uint32_t feature) {
  const CodeColumn& column = node.block->columns[feature];
  if (column.n_codes() < 2 || node.constants->has(feature)) return false;
  const std::uint32_t first = column.at(node.rows[0]);
  const auto differs = [&](auto code_at) {
    for (std::size_t i = 1; i < node.rows.size(); ++i) {
      if (code_at(i) != first) return true;
    }
    return false;
  };
  bool is_varying = false;
  if (column.stride != 0) {
    const std::size_t stride = column.stride;
    const auto* codes = static_cast<const std::uint8_t*>(column.codes) + node.rows[0] * stride;
    is_varying = differs([=](std::size_t i) { return std::uint32_t{codes[i * stride]}; });
  } else {
    is_varying = differs([&](std::size_t i) { return column.at(node.rows[i]); });
  }
  if (!is_varying) node.constants->add(feature);
  return is_varying;
}

// The least prime that is at least `n`, and at least 2.
std::uint32_t prime_from(std::uint32_t n) {
  const auto is_prime = [](std::uint32_t candidate) {
    for (std::uint32_t i = 2; i * i <= candidate; ++i) {
      if (candidate % i == 0) return false;
    }
    return candidate > 1;
  };
  while (!is_prime(n)) ++n;
  return n;
}

}  // namespace

void FeatureDraw::start(std::size_t n_features, const GrowOptions& options) {
  if (!features_.empty()) return;
  features_ = options.allowed;
  if (features_.empty()) {
    features_.resize(n_features);
    std::iota(features_.begin(), features_.end(), 0U);
  }
  swapped_.resize(features_.size());
  batch_.resize(features_.size() + 1);
  n_places_ = prime_from(static_cast<std::uint32_t>(features_.size()));
}

Split FeatureDraw::search(const NodeView& node, const GrowOptions& options,
                          const TryBatch& try_batch) {
  const Block& block = *node.block;
  Split found;
  draw(
      node.key, block.columns.size(), options,
      [&](std::uint32_t feature) { return block.columns[feature].n_codes() >= 2; },
      [&](std::uint32_t feature) { return varies(node, feature); },
      [&](std::span<const std::uint32_t> features) {
        found = try_batch(features);
        return found.exists();
      });
  return found;
}

double least_leaf_weight(const FitData& data, const GrowOptions& options, const NodeView& node) {
  const double weight = std::ldexp(options.min_weight_leaf * (1 - kWeightSlack),
                                   node.block->statistics.weight_exponent);
  if (!data.entries.weights_are_repetitions) {
    return weight - static_cast<double>(node.rows.size());  // each may be rounded by a unit
  }
  return std::max(weight, static_cast<double>(options.min_rows_leaf));
}

void draw_threshold(const FitData& data, const NodeView& node, std::uint32_t feature,
                    std::span<const std::uint32_t> present, std::span<const std::uint32_t> example,
                    Split& split) {
  const auto table_row = [&](std::uint32_t code) {
    return std::size_t{data.entries.rows[node.block->entries[example[code]]]};
  };
  Random random(derive_key(node.key, std::uint64_t{feature} + 1));
  std::size_t last_left = 0;
  const BinnedDataset& dataset = *data.dataset;
  if (dataset.feature(feature).kind == FeatureKind::kInteger) {
    split.threshold.integer = draw_cut<std::int64_t>(
        present, [&](std::uint32_t code) { return dataset.low(feature, table_row(code)).integer; },
        [&](std::uint32_t code) { return dataset.high(feature, table_row(code)).integer; }, random,
        last_left);
  } else {
    split.threshold.real = draw_cut<double>(
        present, [&](std::uint32_t code) { return dataset.low(feature, table_row(code)).real; },
        [&](std::uint32_t code) { return dataset.high(feature, table_row(code)).real; }, random,
        last_left);
  }
  split.has_threshold = true;
  split.last_left = present[last_left];
  split.first_right = present[last_left + 1];
}

}  // namespace committee
