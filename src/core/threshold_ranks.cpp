#include "threshold_ranks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace committee {
namespace {

constexpr std::size_t kBuckets = 1024;

template <typename T>
constexpr bool kHasBuckets = std::is_floating_point_v<T>;  // integers are rare: one bucket

// The place of a value among the buckets: NaN and what lies below them all in the first one.
template <typename T>
inline std::int32_t bucket_of(T value, T low, T scale) {
  if constexpr (kHasBuckets<T>) {
    constexpr T kTop = static_cast<T>(kBuckets - 1);
    T place = (value - low) * scale;
    place = place > T{0} ? place : T{0};
    place = place < kTop ? place : kTop;
    return static_cast<std::int32_t>(place);
  } else {
    return 0;
  }
}

// The rank of a value that has `start` thresholds in lower buckets.
template <int kSteps, typename T>
inline std::uint32_t search(const T* thresholds, std::uint32_t start, T value, int n_steps) {
  const int steps = kSteps > 0 ? kSteps : n_steps;
  std::uint32_t rank = start;
  for (int step = steps - 1; step >= 0; --step) {
    const std::uint32_t half = 1U << step;
    rank += thresholds[rank + half - 1] < value ? half : 0;
  }
  return rank;
}

template <int kSteps, typename T>
void find_ranks(const T* thresholds, const std::uint16_t* starts, T low, T scale, int n_steps,
                const T* values, std::size_t n_values, std::uint16_t* ranks) {
  for (std::size_t i = 0; i < n_values; ++i) {
    const T value = values[i];
    const std::uint32_t start = starts[bucket_of(value, low, scale)];
    const auto rank = static_cast<std::uint16_t>(search<kSteps>(thresholds, start, value, n_steps));
    ranks[i] = value == value ? rank : kMissingRank;
  }
}

}  // namespace

template <typename T>
std::size_t ThresholdRanks<T>::bucket(T value) const {
  return static_cast<std::size_t>(bucket_of(value, low_, scale_));
}

template <typename T>
ThresholdRanks<T>::ThresholdRanks(std::vector<T> thresholds) : thresholds_(std::move(thresholds)) {
  const std::size_t n_buckets = kHasBuckets<T> ? kBuckets : 1;
  if constexpr (kHasBuckets<T>) {
    const auto is_finite = [](T t) { return std::isfinite(t); };
    const auto first = std::find_if(thresholds_.begin(), thresholds_.end(), is_finite);
    const auto last = std::find_if(thresholds_.rbegin(), thresholds_.rend(), is_finite);
    if (first != thresholds_.end()) {
      low_ = *first;
      // Zero where the range overflows: then all share a bucket.
      scale_ = static_cast<T>(n_buckets) / (*last - *first);
    }
  }
  std::vector<std::uint32_t> counts(n_buckets);
  for (const T threshold : thresholds_) ++counts[bucket(threshold)];
  std::uint32_t n_before = 0;
  std::uint32_t most = 0;
  for (const std::uint32_t count : counts) {
    starts_.push_back(static_cast<std::uint16_t>(n_before));
    n_before += count;
    most = std::max(most, count);
  }
  n_steps_ = std::bit_width(most);
  constexpr T kTop = kHasBuckets<T> ? std::numeric_limits<T>::infinity()
                                    : std::numeric_limits<T>::max();
  thresholds_.insert(thresholds_.end(), std::size_t{1} << n_steps_, kTop);
}

template <typename T>
void ThresholdRanks<T>::find(const T* values, std::size_t n_values, std::uint16_t* ranks) const {
  const auto find_by = [&](auto steps) {
    find_ranks<decltype(steps)::value>(thresholds_.data(), starts_.data(), low_, scale_, n_steps_,
                                       values, n_values, ranks);
  };
  switch (n_steps_) {
    case 1:
      return find_by(std::integral_constant<int, 1>{});
    case 2:
      return find_by(std::integral_constant<int, 2>{});
    case 3:
      return find_by(std::integral_constant<int, 3>{});
    case 4:
      return find_by(std::integral_constant<int, 4>{});
    default:
      return find_by(std::integral_constant<int, 0>{});
  }
}

template class ThresholdRanks<float>;
template class ThresholdRanks<double>;
template class ThresholdRanks<std::int64_t>;

float round_down(double value) {
  const auto rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) <= value) return rounded;
  return std::nextafter(rounded, -std::numeric_limits<float>::infinity());
}

}  // namespace committee
