// Looks for the best split of a node among its features.
//
// Candidates are visited in a fixed order and only a strictly better one replaces the best, so
// ties go to the first feature (in table order, or in drawn order when features are drawn) and to
// the lowest threshold, whatever the number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/monitor.hpp"
#include "base/random.hpp"
#include "base/simd.hpp"
#include "score/block.hpp"
#include "split/grow_options.hpp"
#include "split/split.hpp"

namespace committee {

// Features known to be constant in a node, and so in all nodes below it. Tables of more features
// than fit are looked at anew in each node.
class ConstantFeatures {
 public:
  bool has(std::uint32_t feature) const {
    return feature < kMost && ((words_[feature / 64] >> (feature % 64)) & 1U) != 0;
  }
  void add(std::uint32_t feature) {
    if (feature < kMost) words_[feature / 64] |= std::uint64_t{1} << (feature % 64);
  }

 private:
  static constexpr std::uint32_t kMost = 256;
  std::array<std::uint64_t, kMost / 64> words_{};
};

struct NodeView {
  const Block* block = nullptr;
  std::span<const std::uint32_t> rows;
  double n_counted = 0.0;  // rows, repetitions included
  Bounds bounds;
  std::uint64_t key = 0;                  // of the node's random numbers
  ConstantFeatures* constants = nullptr;  // grows as features are looked at
};

class Splitter {
 public:
  virtual ~Splitter() = default;
  // A split that does not exist when the node is pure or no split keeps the limits.
  virtual Split find(const NodeView& node, std::size_t n_threads, Monitor& monitor) = 0;
};

// Statistics by code and a scan over them: every criterion but absolute error.
std::unique_ptr<Splitter> make_histogram_splitter(const FitData& data, const GrowOptions& options);

// Absolute error, whose best prediction is a median.
std::unique_ptr<Splitter> make_median_splitter(const FitData& data, const GrowOptions& options);

inline std::unique_ptr<Splitter> make_splitter(const FitData& data, const GrowOptions& options) {
  return options.criterion == Criterion::kAbsoluteError ? make_median_splitter(data, options)
                                                        : make_histogram_splitter(data, options);
}

// The features that a node looks at, batch after batch: all in order, or drawn ones. Drawing goes
// on past max_features, one feature at a time, until some split has been found, as scikit-learn
// does. Keep one for each thread: a draw costs no more than the features it looks at.
class FeatureDraw {
 public:
  // Calls try_batch(features) until it returns a split that exists.
  using TryBatch = std::function<Split(std::span<const std::uint32_t>)>;
  Split search(const NodeView& node, const GrowOptions& options, const TryBatch& try_batch);

  // The same for any caller: try_batch(features) returns whether it found a split. `key` is that
  // of the node, varies(feature) is whether its rows differ in it, has_codes(feature) whether
  // any rows do. Inline, so that kernels inside are compiled for the caller's processor.
  template <typename HasCodes, typename Varies, typename Try>
  COMMITTEE_INLINE void draw(std::uint64_t key, std::size_t n_features, const GrowOptions& options,
                             HasCodes&& has_codes, Varies&& varies, Try&& try_batch) {
    start(n_features, options);
    const auto n_all = static_cast<std::uint32_t>(features_.size());
    std::uint32_t* const features = features_.data();
    std::uint32_t* const batch = batch_.data();
    std::size_t n_batch = 0;
    Random random(key);
    if (options.max_features >= n_all) {
      // Steps of one length round a circle of a prime number of places visit each place once, and
      // of two features each is the first as often as the other: ties need no true shuffle, which
      // would take a tenth of the time of a forest. Places beyond the features are empty.
      std::uint32_t place = 0;
      std::uint32_t step = 1;
      if (options.shuffle_features) {
        place = random.below(n_places_);
        step += random.below(n_places_ - 1);
      }
      for (std::uint32_t i = 0; i < n_places_; ++i) {
        const std::uint32_t feature = features[place < n_all ? place : 0];
        batch[n_batch] = feature;
        n_batch += (place < n_all) & has_codes(feature) ? 1 : 0;
        place += step;
        place -= place >= n_places_ ? n_places_ : 0;
      }
      try_batch(std::span<const std::uint32_t>(batch, n_batch));
      return;
    }
    std::uint32_t n_swapped = 0;
    std::uint32_t n_counted = 0;
    bool is_found = false;
    for (std::uint32_t i = 0; i < n_all && !is_found; ++i) {
      const std::uint32_t other = i + random.below(n_all - i);
      const std::uint32_t feature = features[other];
      features[other] = features[i];
      features[i] = feature;
      swapped_[n_swapped++] = other;
      const bool is_useful = options.count_constant ? has_codes(feature) : varies(feature);
      batch[n_batch] = feature;  // counts if it is useful
      n_batch += is_useful ? 1 : 0;
      n_counted += is_useful || options.count_constant ? 1 : 0;
      if ((n_counted >= options.max_features || i + 1 == n_all) && n_batch > 0) {
        is_found = try_batch(std::span<const std::uint32_t>(batch, n_batch));
        n_batch = 0;
      }
    }
    while (n_swapped > 0) {  // back in order, so that a draw depends on the key alone
      --n_swapped;
      std::swap(features[n_swapped], features[swapped_[n_swapped]]);
    }
  }

 private:
  void start(std::size_t n_features, const GrowOptions& options);

  std::vector<std::uint32_t> features_;  // all to draw from, in order between two searches
  std::vector<std::uint32_t> swapped_;   // as many, and so in a batch
  std::vector<std::uint32_t> batch_;     // room for one more
  std::uint32_t n_places_ = 0;           // the least prime that is not below their number
};

// Tries features one by one, or side by side with the results compared in order.
using TryFeature = std::function<void(std::uint32_t, Split&)>;
Split try_features(std::span<const std::uint32_t> features, const NodeView& node,
                   std::size_t n_threads, Monitor& monitor, const TryFeature& try_feature);

// The least weight of a leaf, in units of the block's grid: min_weight_leaf with some slack for
// the rounding of weights, and min_rows_leaf where weights count rows.
double least_leaf_weight(const FitData& data, const GrowOptions& options, const NodeView& node);

// A random cut of the present codes of a threshold feature, `example` giving a block row for
// each: sets last_left, first_right and the threshold. Uniform between the node's smallest and
// largest value, as DrawnCuts does it from the codes of bins.
void draw_threshold(const FitData& data, const NodeView& node, std::uint32_t feature,
                    std::span<const std::uint32_t> present, std::span<const std::uint32_t> example,
                    Split& split);

}  // namespace committee
