// Random cuts of features that are binned: a threshold, and the codes below it.
//
// A draw is a function of the node's key and the feature. The codes below a threshold are counted
// by comparing sixteen at a time: all where there are so few, else every sixteenth first.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "data/binned_dataset.hpp"

namespace committee {

COMMITTEE_INLINE double draw_between(double low, double high, Random& random) {
  return low + (high - low) * random.uniform();
}

COMMITTEE_INLINE std::int64_t draw_between(std::int64_t low, std::int64_t high, Random& random) {
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const auto step = static_cast<std::uint64_t>(random.uniform() * static_cast<double>(range));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + std::min(step, range - 1));
}

// The bounds of the bins of one feature. Empty for categories and for exact codes.
class DrawnCuts {
 public:
  explicit DrawnCuts(const BinnedFeature& feature)
      : low_(feature.low.data()),
        high_(feature.high.data()),
        n_codes_(static_cast<std::uint32_t>(feature.low.size())),
        is_integer_(feature.kind == FeatureKind::kInteger),
        is_empty_(feature.kind == FeatureKind::kCategory || feature.low.empty()) {
    const std::uint32_t step = n_codes_ > kStep ? kStep : 1;
    for (std::uint32_t i = 0; i < kStep; ++i) {
      const std::uint32_t code = i * step;
      if (!is_empty_ && code < n_codes_) {
        pivots_[i] = low_[code];
      } else if (is_integer_) {
        pivots_[i].integer = std::numeric_limits<std::int64_t>::max();
      } else {
        pivots_[i].real = std::numeric_limits<double>::infinity();
      }
    }
  }

  bool is_empty() const { return is_empty_; }
  bool is_integer() const { return is_integer_; }

  // Uniform between the largest value of one code and the smallest of another, a later one. `key`
  // is that of the node.
  COMMITTEE_INLINE Value draw(std::uint32_t feature, std::uint32_t smallest, std::uint32_t largest,
                              std::uint64_t key) const {
    Random random(derive_key(key, std::uint64_t{feature} + 1));
    Value threshold;
    if (is_integer_) {
      threshold.integer = draw_between(high_[smallest].integer, low_[largest].integer, random);
    } else {
      threshold.real = draw_between(high_[smallest].real, low_[largest].real, random);
    }
    return threshold;
  }
  bool is_finite(std::uint32_t smallest, std::uint32_t largest) const {
    return is_integer_ || std::isfinite(low_[largest].real - high_[smallest].real);
  }

  // Whether the bin of a code begins at or below the threshold.
  COMMITTEE_INLINE bool begins_below(std::uint32_t code, Value threshold) const {
    return is_integer_ ? low_[code].integer <= threshold.integer
                       : low_[code].real <= threshold.real;
  }

  // The last code before `largest` whose bin begins at or below the threshold; there is one.
  COMMITTEE_INLINE std::uint32_t last_below(Value threshold, std::uint32_t largest) const {
    const std::uint32_t last = is_integer_ ? last_of_all<std::int64_t>(threshold.integer)
                                           : last_of_all<double>(threshold.real);
    return std::min(last, largest - 1);
  }

  // Moves a drawn threshold out of the bin that it may have hit: to be at least the largest value
  // of the last code on the left of the node, and below the smallest value of its largest code.
  COMMITTEE_INLINE Value settle(Value threshold, std::uint32_t last_left,
                                std::uint32_t largest) const {
    const bool is_inside = is_integer_ ? threshold.integer < high_[last_left].integer
                                       : threshold.real < high_[last_left].real;
    return is_inside || begins_below(largest, threshold) ? high_[last_left] : threshold;
  }
  // The same if all that is known is that `cut` is last_below(threshold, largest): it need not be
  // a code of the node. has_code(code) is whether it has, last_before(code) the node's last one up
  // to it.
  template <typename HasCode, typename LastBefore>
  COMMITTEE_INLINE Value settle(Value threshold, std::uint32_t cut, std::uint32_t largest,
                                HasCode&& has_code, LastBefore&& last_before) const {
    if (begins_below(largest, threshold)) return high_[last_before(cut)];  // by rounding
    const Value settled = settle(threshold, cut, largest);
    const bool is_moved =
        is_integer_ ? settled.integer != threshold.integer : settled.real != threshold.real;
    return is_moved && has_code(cut) ? settled : threshold;
  }

 private:
  static constexpr std::uint32_t kStep = 16;

  // How many of sixteen numbers in ascending order are at most `threshold`.
  template <typename Number>
  COMMITTEE_INLINE static std::uint32_t count_below(const Value* numbers, Number threshold) {
    constexpr std::size_t kLanes = 4;
    using Reals = double __attribute__((vector_size(sizeof(Value) * kLanes)));
    using Counts = std::int64_t __attribute__((vector_size(sizeof(Value) * kLanes)));
    using Numbers = std::conditional_t<std::is_same_v<Number, double>, Reals, Counts>;
    Counts counts{};
    for (std::size_t i = 0; i < kStep; i += kLanes) {
      Numbers own;
      std::memcpy(&own, numbers + i, sizeof(own));
      counts -= own <= threshold;
    }
    return static_cast<std::uint32_t>((counts[0] + counts[1]) + (counts[2] + counts[3]));
  }

  template <typename Number>
  COMMITTEE_INLINE std::uint32_t last_of_all(Number threshold) const {
    const std::uint32_t last = count_below<Number>(pivots_.data(), threshold) - 1;
    if (n_codes_ <= kStep) return last;
    const std::uint32_t begin = std::min(last * kStep, n_codes_ - kStep);
    return begin + count_below<Number>(low_ + begin, threshold) - 1;
  }

  const Value* low_;
  const Value* high_;
  std::uint32_t n_codes_;
  bool is_integer_;
  bool is_empty_;
  std::array<Value, kStep> pivots_;  // of up to 256 codes
};

inline std::vector<DrawnCuts> make_drawn_cuts(const BinnedDataset& dataset) {
  std::vector<DrawnCuts> cuts;
  cuts.reserve(dataset.n_features());
  for (std::size_t i = 0; i < dataset.n_features(); ++i) cuts.emplace_back(dataset.feature(i));
  return cuts;
}

}  // namespace committee
