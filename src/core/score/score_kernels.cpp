#include "score/score_kernels.hpp"

#include <atomic>
#include <stdexcept>

#include "base/simd.hpp"

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

COMMITTEE_INLINE Cut best_share_cut_code(const std::int64_t* __restrict left_weight,
                                         const std::int64_t* __restrict left_ones,
                                         std::size_t begin, std::size_t end,
                                         const ShareTotals& totals, double* __restrict scores) {
  const ShareTotals own = totals;  // in registers: scores might be it, for all the compiler knows
  for (std::size_t i = begin; i < end; ++i) {
    scores[i] = share_cut_score(left_weight[i], left_ones[i], own);
  }
  return first_largest(scores, begin, end);
}

// Only AVX-512 makes doubles of 64-bit integers in vectors.
COMMITTEE_AVX512 Cut best_share_cut_avx512(const std::int64_t* left_weight,
                                           const std::int64_t* left_ones, std::size_t begin,
                                           std::size_t end, const ShareTotals& totals,
                                           double* scores) {
  return best_share_cut_code(left_weight, left_ones, begin, end, totals, scores);
}

enum Level { kScalar, kAvx2, kAvx512 };
constexpr const char* kLevelNames[] = {"scalar", "avx2", "avx512"};

// The best that the processor has.
Level best_level() {
#ifdef COMMITTEE_HAS_AVX2
  if (__builtin_cpu_supports("avx2") == 0) return kScalar;
  const bool has_avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  return has_avx512 ? kAvx512 : kAvx2;
#else
  return kScalar;
#endif
}

std::atomic<Level>& level_switch() {
  static std::atomic<Level> level{best_level()};
  return level;
}

}  // namespace

bool uses_avx2() { return level_switch().load(std::memory_order_relaxed) >= kAvx2; }
bool uses_avx512() { return level_switch().load(std::memory_order_relaxed) >= kAvx512; }

COMMITTEE_TWICE(Cut, best_gini_cut,
                (const std::int32_t* left_weight, const std::int32_t* left_ones, std::size_t begin,
                 std::size_t end, double total_weight, double total_ones, double* scores),
                (left_weight, left_ones, begin, end, total_weight, total_ones, scores))

COMMITTEE_TWICE(Cut, best_squared_cut,
                (const double* left_weight, const double* left_sum, const double* right_sum,
                 std::size_t begin, std::size_t end, double total_weight, double mean,
                 double* scores),
                (left_weight, left_sum, right_sum, begin, end, total_weight, mean, scores))

Cut best_share_cut(const std::int64_t* left_weight, const std::int64_t* left_ones,
                   std::size_t begin, std::size_t end, const ShareTotals& totals, double* scores) {
  return uses_avx512() ? best_share_cut_avx512(left_weight, left_ones, begin, end, totals, scores)
                       : best_share_cut_code(left_weight, left_ones, begin, end, totals, scores);
}

std::string simd_level() { return kLevelNames[level_switch().load()]; }

void set_simd_level(const std::string& level) {
  if (level == "auto") return level_switch().store(best_level());
  for (const Level each : {kScalar, kAvx2, kAvx512}) {
    if (level == kLevelNames[each] && each <= best_level()) return level_switch().store(each);
  }
  throw std::invalid_argument("no such instruction set on this processor: " + level);
}

}  // namespace committee
