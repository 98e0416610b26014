// The values of a column in rank order, sorted only where they are read.
//
// Values are thrown into buckets of equal width between the smallest and the largest one. Finding
// 255 quantiles then sorts a few hundred buckets instead of the whole column, and the bucket of a
// value determines its bin but for the few buckets that a bin edge cuts.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace committee {

class BucketedValues {
 public:
  static constexpr std::uint32_t kBuckets = 4096;
  static constexpr std::uint32_t kMissing = kBuckets;  // the bucket of NaN

  void assign(std::span<const double> values) {
    find_range(values);
    buckets_.resize(values.size());
    for (std::size_t i = 0; i < values.size();
         ++i) {  // alone in its loop, so that it is vector code
      buckets_[i] = static_cast<std::uint16_t>(bucket_of(values[i]));
    }
    std::array<std::uint32_t, kBuckets + 2> counts{};
    for (const std::uint16_t bucket : buckets_) ++counts[bucket + 1U];
    for (std::size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
    std::copy_n(counts.begin(), begins_.size(), begins_.begin());
    sorted_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) sorted_[counts[buckets_[i]]++] = values[i];
    is_sorted_.fill(false);
  }

  std::size_t n_present() const { return begins_[kMissing]; }

  // The bucket of each value given to assign.
  std::span<const std::uint16_t> buckets() const { return buckets_; }

  std::uint32_t bucket_of(double value) const {
    double position = (value - low_) * scale_;
    position = position > 0.0 ? position : 0.0;  // also -inf
    position = position < kBuckets - 1.0 ? position : kBuckets - 1.0;
    return value == value ? static_cast<std::uint32_t>(position) : kMissing;
  }

  // The present value of this rank.
  double at(std::size_t rank) {
    sort_bucket(bucket_of_rank(rank));
    return sorted_[rank];
  }

  // The ranks that have the same value as this one: [begin, end).
  struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Run run_of(std::size_t rank) {
    const std::uint32_t bucket = bucket_of_rank(rank);
    sort_bucket(bucket);
    const double* const first = sorted_.data();
    const auto [begin, end] =
        std::equal_range(first + begins_[bucket], first + begins_[bucket + 1], sorted_[rank]);
    return {static_cast<std::size_t>(begin - first), static_cast<std::size_t>(end - first)};
  }

 private:
  void find_range(std::span<const double> values) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double value : values) {  // infinities are clamped to the outer buckets
      low = value < low && value > -std::numeric_limits<double>::infinity() ? value : low;
      high = value > high && value < std::numeric_limits<double>::infinity() ? value : high;
    }
    low_ = low <= high ? low : 0.0;
    scale_ = low < high ? kBuckets / (high - low) : 0.0;
    if (!std::isfinite(scale_)) scale_ = 0.0;  // one bucket then holds all
  }

  std::uint32_t bucket_of_rank(std::size_t rank) const {
    const auto end = begins_.begin() + kMissing + 1;
    return static_cast<std::uint32_t>(
        std::upper_bound(begins_.begin(), end, static_cast<std::uint32_t>(rank)) - begins_.begin() -
        1);
  }

  void sort_bucket(std::uint32_t bucket) {
    if (is_sorted_[bucket]) return;
    is_sorted_[bucket] = true;
    double* const begin = sorted_.data() + begins_[bucket];
    double* const end = sorted_.data() + begins_[bucket + 1];
    if (!std::all_of(begin, end, [&](double value) { return value == *begin; })) {
      std::sort(begin, end);
    }
  }

  double low_ = 0.0;
  double scale_ = 0.0;
  std::vector<double> sorted_;  // bucket by bucket, each sorted when it is looked at
  std::vector<std::uint16_t> buckets_;
  std::array<std::uint32_t, kBuckets + 1> begins_{};  // first rank of each bucket
  std::array<bool, kBuckets> is_sorted_{};
};

}  // namespace committee
