// How many of the thresholds of a feature lie below a value.
//
// With the thresholds t_0 < t_1 < ... of a feature sorted, value <= t_j says the same as
// rank(value) <= j, whatever the type of the value: one search replaces every later comparison of
// a double by one of small integers, exactly.
//
// A value first finds its bucket, by a product and a rounding. Both keep order, so that thresholds
// of lower buckets lie below the value and those of higher buckets do not; the few of its own
// bucket are searched in as many steps for every value, without a branch to guess. With AVX-512, a
// few hundred thresholds of single precision fit into registers and are searched there instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace committee {

// The rank of a missing value; there are never so many thresholds.
constexpr std::uint16_t kMissingRank = 0xFFFF;
constexpr std::size_t kMaxThresholds = 0xFFFE;

template <typename T>  // float, double or std::int64_t
class ThresholdRanks {
 public:
  // Ascending thresholds, at most kMaxThresholds; neighbours may be equal.
  explicit ThresholdRanks(std::vector<T> thresholds);

  // Ranks of some values; NaN gets kMissingRank.
  void find(const T* values, std::size_t n_values, std::uint16_t* ranks) const;

 private:
  std::size_t bucket(T value) const;

  std::vector<T> thresholds_;          // and numbers that nothing exceeds, for the last steps
  std::vector<std::uint16_t> starts_;  // of each bucket: how many thresholds lower ones have
  T low_{};
  T scale_{};              // buckets per unit
  T top_{};                // the last bucket
  std::vector<T> levels_;  // for registers; empty if there are too many thresholds
  int n_steps_ = 0;
};

// The largest float that is not above a double: a float is <= one just when it is <= the other.
float round_down(double value);

}  // namespace committee
