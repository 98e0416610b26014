#include "score_kernels.hpp"

#include <atomic>
#include <stdexcept>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define COMMITTEE_HAS_AVX2 1
#define COMMITTEE_TARGET_AVX2 __attribute__((target("avx2")))
#define COMMITTEE_INLINE inline __attribute__((always_inline))
#else
#define COMMITTEE_INLINE inline
#endif

namespace committee {
namespace {

// The first of the largest scores. Eight running maxima, so that the loop becomes vector code.
COMMITTEE_INLINE Cut first_largest(const double* scores, std::size_t begin, std::size_t end) {
  constexpr std::size_t kLanes = 8;
  double largest = scores[begin];
  std::size_t i = begin;
  if (end - begin >= 4 * kLanes) {
    double lanes[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = scores[begin + lane];
    for (; i + kLanes <= end; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = scores[i + lane] > lanes[lane] ? scores[i + lane] : lanes[lane];
      }
    }
    for (const double lane : lanes) largest = lane > largest ? lane : largest;
  }
  for (; i < end; ++i) largest = scores[i] > largest ? scores[i] : largest;
  std::size_t index = begin;
  while (index + 1 < end && scores[index] != largest) ++index;
  return {index, largest};
}

COMMITTEE_INLINE Cut gini_cut(const std::int32_t* __restrict left_weight,
                              const std::int32_t* __restrict left_ones, std::size_t begin,
                              std::size_t end, double total_weight, double total_ones,
                              double* __restrict scores) {
  for (std::size_t i = begin; i < end; ++i) {
    scores[i] = gini_cut_score(static_cast<double>(left_weight[i]),
                               static_cast<double>(left_ones[i]), total_weight, total_ones);
  }
  return first_largest(scores, begin, end);
}

COMMITTEE_INLINE Cut squared_cut(const double* __restrict left_weight,
                                 const double* __restrict left_sum, std::size_t begin,
                                 std::size_t end, double total_weight, double total_sum,
                                 double mean, double* __restrict scores) {
  for (std::size_t i = begin; i < end; ++i) {
    scores[i] = squared_cut_score(left_weight[i], left_sum[i], total_weight, total_sum, mean);
  }
  return first_largest(scores, begin, end);
}

#ifdef COMMITTEE_HAS_AVX2
COMMITTEE_TARGET_AVX2 Cut gini_cut_avx2(const std::int32_t* left_weight,
                                        const std::int32_t* left_ones, std::size_t begin,
                                        std::size_t end, double total_weight, double total_ones,
                                        double* scores) {
  return gini_cut(left_weight, left_ones, begin, end, total_weight, total_ones, scores);
}

COMMITTEE_TARGET_AVX2 Cut squared_cut_avx2(const double* left_weight, const double* left_sum,
                                           std::size_t begin, std::size_t end, double total_weight,
                                           double total_sum, double mean, double* scores) {
  return squared_cut(left_weight, left_sum, begin, end, total_weight, total_sum, mean, scores);
}

bool processor_has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
#else
bool processor_has_avx2() { return false; }
#endif

std::atomic<bool>& uses_avx2() {
  static std::atomic<bool> uses{processor_has_avx2()};
  return uses;
}

}  // namespace

Cut best_gini_cut(const std::int32_t* left_weight, const std::int32_t* left_ones, std::size_t begin,
                  std::size_t end, double total_weight, double total_ones, double* scores) {
#ifdef COMMITTEE_HAS_AVX2
  if (uses_avx2().load(std::memory_order_relaxed)) {
    return gini_cut_avx2(left_weight, left_ones, begin, end, total_weight, total_ones, scores);
  }
#endif
  return gini_cut(left_weight, left_ones, begin, end, total_weight, total_ones, scores);
}

Cut best_squared_cut(const double* left_weight, const double* left_sum, std::size_t begin,
                     std::size_t end, double total_weight, double total_sum, double mean,
                     double* scores) {
#ifdef COMMITTEE_HAS_AVX2
  if (uses_avx2().load(std::memory_order_relaxed)) {
    return squared_cut_avx2(left_weight, left_sum, begin, end, total_weight, total_sum, mean,
                            scores);
  }
#endif
  return squared_cut(left_weight, left_sum, begin, end, total_weight, total_sum, mean, scores);
}

std::string simd_level() { return uses_avx2().load() ? "avx2" : "scalar"; }

void set_simd_level(const std::string& level) {
  if (level == "scalar") {
    uses_avx2().store(false);
  } else if (level == "auto") {
    uses_avx2().store(processor_has_avx2());
  } else if (level == "avx2" && processor_has_avx2()) {
    uses_avx2().store(true);
  } else {
    throw std::invalid_argument("no such instruction set on this processor: " + level);
  }
}

}  // namespace committee
