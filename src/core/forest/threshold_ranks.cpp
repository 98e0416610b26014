#include "forest/threshold_ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/simd.hpp"

#ifdef COMMITTEE_HAS_AVX2
#include <immintrin.h>
#endif

namespace committee {
namespace {

// So many that most hold one threshold at most, and so few that they stay in the cache.
std::size_t bucket_count(std::size_t n_thresholds) {
  return std::bit_ceil(std::clamp<std::size_t>(4 * n_thresholds, 16, 4096));
}

template <typename T>
constexpr bool kHasBuckets = std::is_floating_point_v<T>;  // integers are rare: one bucket

// The place of a value among the buckets: NaN and what lies below them all in the first one.
template <typename T>
inline std::int32_t bucket_of(T value, T low, T scale, T top) {
  if constexpr (kHasBuckets<T>) {
    T place = (value - low) * scale;
    place = place > T{0} ? place : T{0};
    place = place < top ? place : top;
    return static_cast<std::int32_t>(place);
  } else {
    return 0;
  }
}

// Searches go by so many at a time.
constexpr std::size_t kTile = 64;

// Buckets of some values: a loop of its own, for then it is vector code.
template <typename T>
COMMITTEE_INLINE void find_buckets_of(const T* __restrict values, T low, T scale, T top,
                                      std::int32_t* __restrict buckets) {
  for (std::size_t i = 0; i < kTile; ++i) buckets[i] = bucket_of(values[i], low, scale, top);
}

COMMITTEE_INLINE void find_buckets_code(const float* values, float low, float scale, float top,
                                        std::int32_t* buckets) {
  find_buckets_of(values, low, scale, top, buckets);
}
COMMITTEE_TWICE(void, find_buckets,
                (const float* values, float low, float scale, float top, std::int32_t* buckets),
                (values, low, scale, top, buckets))

COMMITTEE_INLINE void find_buckets_code(const double* values, double low, double scale, double top,
                                        std::int32_t* buckets) {
  find_buckets_of(values, low, scale, top, buckets);
}
COMMITTEE_TWICE(void, find_buckets,
                (const double* values, double low, double scale, double top, std::int32_t* buckets),
                (values, low, scale, top, buckets))

// The rank of a value that has `start` thresholds in lower buckets.
template <int kSteps, typename T>
inline std::uint32_t search(const T* thresholds, std::uint32_t start, T value, int n_steps) {
  const int steps = kSteps > 0 ? kSteps : n_steps;
  std::uint32_t rank = start;
  for (int step = steps - 1; step >= 0; --step) {
    const auto is_above = static_cast<std::uint32_t>(thresholds[rank + (1U << step) - 1] < value);
    rank += is_above << step;
  }
  return rank;
}

template <int kSteps, typename T>
void find_ranks(const T* thresholds, const std::uint16_t* starts, T low, T scale, T top,
                int n_steps, const T* values, std::size_t n_values, std::uint16_t* ranks) {
  std::array<T, kTile> tile{};
  std::array<std::int32_t, kTile> buckets{};
  for (std::size_t begin = 0; begin < n_values; begin += kTile) {
    const std::size_t n = std::min(kTile, n_values - begin);
    const T* from = values + begin;
    if (n < kTile) from = std::copy_n(from, n, tile.data()) - n;
    if constexpr (kHasBuckets<T>) find_buckets(from, low, scale, top, buckets.data());
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t start = starts[buckets[i]];
      const std::uint32_t rank = search<kSteps>(thresholds, start, from[i], n_steps);
      const auto is_missing = static_cast<std::uint32_t>(from[i] != from[i]);
      ranks[begin + i] = static_cast<std::uint16_t>(rank | (0U - is_missing));
    }
  }
}

// ---- in registers ----

// A binary search by levels: level k holds the 2^k thresholds that a search may meet in step k. Few
// levels are searched by 16 values at a time without reading memory.
constexpr std::size_t kRegister = 16;  // floats
constexpr std::array<int, 3> kLevelCounts{5, 7, 8};

constexpr std::size_t level_size(int level) { return std::max(kRegister, std::size_t{1} << level); }

// The levels one after another; nothing for too many thresholds.
std::vector<float> levels_of(const std::vector<float>& thresholds) {
  const auto needed = static_cast<int>(std::bit_width(thresholds.size()));
  const auto* const found = std::lower_bound(kLevelCounts.begin(), kLevelCounts.end(), needed);
  if (found == kLevelCounts.end()) return {};
  std::vector<float> levels;
  for (int level = 0; level < *found; ++level) {
    const std::size_t step = std::size_t{1} << (*found - 1 - level);
    for (std::size_t i = 0; i < level_size(level); ++i) {
      const std::size_t place = (2 * i + 1) * step - 1;
      levels.push_back(place < thresholds.size() ? thresholds[place]
                                                 : std::numeric_limits<float>::infinity());
    }
  }
  return levels;
}

#ifdef COMMITTEE_HAS_AVX2
// The numbers at `places` of a level, below 2^kLevel.
template <int kLevel>
COMMITTEE_AVX512 inline __attribute__((always_inline)) __m512 look_up(const __m512* level,
                                                                      const __m512i& places) {
  if constexpr (kLevel <= 4) {
    return _mm512_maskz_permutexvar_ps(0xFFFF, places, level[0]);
  } else if constexpr (kLevel == 5) {
    return _mm512_permutex2var_ps(level[0], places, level[1]);
  } else {
    const __m512 low = look_up<kLevel - 1>(level, places);
    const __m512 high = look_up<kLevel - 1>(level + level_size(kLevel) / kRegister / 2, places);
    const __m512i half = _mm512_set1_epi32(1 << (kLevel - 1));
    return _mm512_mask_mov_ps(low, _mm512_test_epi32_mask(places, half), high);
  }
}

template <int kLevel, int kLevels>
COMMITTEE_AVX512 inline __attribute__((always_inline)) void descend(const __m512* levels,
                                                                    const __m512& values,
                                                                    __m512i& places) {
  if constexpr (kLevel < kLevels) {
    const __m512 thresholds = look_up<kLevel>(levels, places);
    const __mmask16 is_above = _mm512_cmp_ps_mask(thresholds, values, _CMP_LT_OQ);
    places = _mm512_add_epi32(places, places);
    places = _mm512_mask_add_epi32(places, is_above, places, _mm512_set1_epi32(1));
    descend<kLevel + 1, kLevels>(levels + level_size(kLevel) / kRegister, values, places);
  }
}

template <int kLevels>
COMMITTEE_AVX512 void find_in_registers(const float* levels, const float* values,
                                        std::size_t n_values, std::uint16_t* ranks) {
  constexpr std::size_t kRegisters = 5 + (std::size_t{1} << kLevels) / kRegister - 2;
  __m512 registers[kRegisters];
  for (std::size_t i = 0; i < kRegisters; ++i) {
    registers[i] = _mm512_loadu_ps(levels + i * kRegister);
  }
  for (std::size_t i = 0; i < n_values; i += kRegister) {
    const std::size_t n = std::min(kRegister, n_values - i);
    const auto is_there = static_cast<__mmask16>((1U << n) - 1);
    const __m512 some = _mm512_maskz_loadu_ps(is_there, values + i);
    __m512i places = _mm512_setzero_si512();
    descend<0, kLevels>(registers, some, places);
    const __mmask16 is_missing = _mm512_cmp_ps_mask(some, some, _CMP_UNORD_Q);
    places = _mm512_mask_mov_epi32(places, is_missing, _mm512_set1_epi32(kMissingRank));
    _mm256_mask_storeu_epi16(ranks + i, is_there, _mm512_maskz_cvtepi32_epi16(0xFFFF, places));
  }
}

// Returns whether it could.
bool find_by_levels(const std::vector<float>& levels, const float* values, std::size_t n_values,
                    std::uint16_t* ranks) {
  if (levels.empty() || !uses_avx512()) return false;
  const auto find = levels.size() == 5 * kRegister    ? find_in_registers<5>
                    : levels.size() == 11 * kRegister ? find_in_registers<7>
                                                      : find_in_registers<8>;
  find(levels.data(), values, n_values, ranks);
  return true;
}
#endif

}  // namespace

template <typename T>
std::size_t ThresholdRanks<T>::bucket(T value) const {
  return static_cast<std::size_t>(bucket_of(value, low_, scale_, top_));
}

template <typename T>
ThresholdRanks<T>::ThresholdRanks(std::vector<T> thresholds) : thresholds_(std::move(thresholds)) {
  if constexpr (std::is_same_v<T, float>) levels_ = levels_of(thresholds_);
  const std::size_t n_buckets = kHasBuckets<T> ? bucket_count(thresholds_.size()) : 1;
  top_ = static_cast<T>(n_buckets - 1);
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
  constexpr T kTop =
      kHasBuckets<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  thresholds_.insert(thresholds_.end(), std::size_t{1} << n_steps_, kTop);
}

template <typename T>
void ThresholdRanks<T>::find(const T* values, std::size_t n_values, std::uint16_t* ranks) const {
#ifdef COMMITTEE_HAS_AVX2
  if constexpr (std::is_same_v<T, float>) {
    if (find_by_levels(levels_, values, n_values, ranks)) return;
  }
#endif
  const auto find_by = [&](auto steps) {
    find_ranks<decltype(steps)::value>(thresholds_.data(), starts_.data(), low_, scale_, top_,
                                       n_steps_, values, n_values, ranks);
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
