#include "score_kernels.hpp"

#include <atomic>
#include <stdexcept>

#include "simd.hpp"

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

COMMITTEE_INLINE Cut best_gini_cut_code(const std::int32_t* __restrict left_weight,
                                        const std::int32_t* __restrict left_ones, std::size_t begin,
                                        std::size_t end, double total_weight, double total_ones,
                                        double* __restrict scores) {
  for (std::size_t i = begin; i < end; ++i) {
    scores[i] = gini_cut_score(static_cast<double>(left_weight[i]),
                               static_cast<double>(left_ones[i]), total_weight, total_ones);
  }
  return first_largest(scores, begin, end);
}

COMMITTEE_INLINE Cut best_squared_cut_code(const double* __restrict left_weight,
                                           const double* __restrict left_sum,
                                           const double* __restrict right_sum, std::size_t begin,
                                           std::size_t end, double total_weight, double mean,
                                           double* __restrict scores) {
  for (std::size_t i = begin; i < end; ++i) {
    scores[i] = squared_cut_score(left_weight[i], left_sum[i], right_sum[i], total_weight, mean);
  }
  return first_largest(scores, begin, end);
}

bool processor_has_avx2() {
#ifdef COMMITTEE_HAS_AVX2
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

std::atomic<bool>& avx2_switch() {
  static std::atomic<bool> uses{processor_has_avx2()};
  return uses;
}

}  // namespace

bool uses_avx2() { return avx2_switch().load(std::memory_order_relaxed); }

COMMITTEE_TWICE(Cut, best_gini_cut,
                (const std::int32_t* left_weight, const std::int32_t* left_ones, std::size_t begin,
                 std::size_t end, double total_weight, double total_ones, double* scores),
                (left_weight, left_ones, begin, end, total_weight, total_ones, scores))

COMMITTEE_TWICE(Cut, best_squared_cut,
                (const double* left_weight, const double* left_sum, const double* right_sum,
                 std::size_t begin, std::size_t end, double total_weight, double mean,
                 double* scores),
                (left_weight, left_sum, right_sum, begin, end, total_weight, mean, scores))

std::string simd_level() { return uses_avx2() ? "avx2" : "scalar"; }

void set_simd_level(const std::string& level) {
  if (level == "scalar") {
    avx2_switch().store(false);
  } else if (level == "auto") {
    avx2_switch().store(processor_has_avx2());
  } else if (level == "avx2" && processor_has_avx2()) {
    avx2_switch().store(true);
  } else {
    throw std::invalid_argument("no such instruction set on this processor: " + level);
  }
}

}  // namespace committee
