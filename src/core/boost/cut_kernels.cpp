#include "boost/cut_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/simd.hpp"

#ifdef COMMITTEE_HAS_AVX2
#include <immintrin.h>
#endif

namespace committee {
namespace {

constexpr std::size_t kLanes = 4;
using Longs = std::int64_t __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(32)));

constexpr std::size_t kMostLanes = 8;
constexpr std::size_t kMostCuts = 256 + kMostLanes;  // with room for whole vectors

// The cuts that differ: what is on the left of each, and the code it is behind.
struct Cuts {
  std::size_t n = 0;
  alignas(64) std::array<std::int64_t, kMostCuts> left;
  std::array<std::uint16_t, kMostCuts> code;  // of sparse cells
};

// Exact for numbers below 2^51: their bits are put into the mantissa of 1.5 * 2^52. By reference:
// how vectors are passed depends on the processor.
COMMITTEE_INLINE void to_doubles(const Longs& whole, Doubles& out) {
  constexpr double kMagic = 6755399441055744.0;
  out = reinterpret_cast<Doubles>(whole + std::bit_cast<std::int64_t>(kMagic)) - kMagic;
}

std::int64_t sum_before(const std::int64_t* cells, const CutScan& scan) {
  std::int64_t left = scan.start;
  for (std::size_t i = 0; i < scan.begin; ++i) left += cells[i];
  return left;
}

void list_all(const std::int64_t* cells, const CutScan& scan, Cuts& cuts) {
  std::int64_t left = sum_before(cells, scan);
  cells += scan.begin;
  cuts.n = scan.end - scan.begin;
  std::size_t i = 0;
  for (; i + 4 <= cuts.n; i += 4) {
    const std::int64_t two = cells[i] + cells[i + 1];
    const std::int64_t three = two + cells[i + 2];
    cuts.left[i] = left + cells[i];
    cuts.left[i + 1] = left + two;
    cuts.left[i + 2] = left + three;
    left += three + cells[i + 3];
    cuts.left[i + 3] = left;
  }
  for (; i < cuts.n; ++i) cuts.left[i] = left += cells[i];
}

// Only behind codes that the node has; and the first cut, for rows that add nothing may be what
// makes its left side large enough.
void list_present(const std::int64_t* cells, const CutScan& scan, Cuts& cuts) {
  std::int64_t left = sum_before(cells, scan);
  std::size_t n = 0;
  for (std::size_t i = scan.begin; i < scan.end; ++i) {
    left += cells[i];
    cuts.left[n] = left;
    cuts.code[n] = static_cast<std::uint16_t>(i);
    n += cells[i] != 0 || i == scan.begin ? 1 : 0;
  }
  cuts.n = n;
}

// The largest score; those of all cuts are written.
COMMITTEE_INLINE double score_cuts_code(const CutScan& scan, const Cuts& cuts, double* scores) {
  const std::int64_t mask = (std::int64_t{1} << scan.shift) - 1;
  const auto total_gradient = static_cast<double>(scan.total >> scan.shift);
  const auto total_hessian = static_cast<double>(scan.total & mask);
  const Longs position{0, 1, 2, 3};
  Doubles largest = Doubles{} - 1.0;
  for (std::size_t i = 0; i < cuts.n; i += kLanes) {
    Longs packed;
    std::memcpy(&packed, cuts.left.data() + i, sizeof(packed));
    Doubles g;
    Doubles h;
    to_doubles(packed >> scan.shift, g);
    to_doubles(packed & mask, h);
    const Doubles other_g = total_gradient - g;
    const Doubles other_h = total_hessian - h;
    const Doubles n = h + scan.l2;
    const Doubles m = other_h + scan.l2;
    const Doubles score = (g * g * m + other_g * other_g * n) / (n * m);
    const Longs is_cut = position < static_cast<std::int64_t>(cuts.n - i);
    const Longs is_allowed = (h >= scan.min_hessian) & (other_h >= scan.min_hessian) & is_cut;
    const Doubles limited = is_allowed ? score : Doubles{} - 1.0;
    largest = limited > largest ? limited : largest;
    std::memcpy(scores + i, &limited, sizeof(limited));
  }
  return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

COMMITTEE_TWICE(double, score_cuts, (const CutScan& scan, const Cuts& cuts, double* scores),
                (scan, cuts, scores))

#ifdef COMMITTEE_HAS_AVX2
// The same with eight lanes; in intrinsics, for compilers make poor code of selections here.
COMMITTEE_AVX512 double score_cuts_avx512(const CutScan& scan, const Cuts& cuts, double* scores) {
  const std::int64_t all_hessian_bits = (std::int64_t{1} << scan.shift) - 1;
  const __m512i hessian_bits = _mm512_set1_epi64(all_hessian_bits);
  const __m128i shift = _mm_cvtsi32_si128(scan.shift);
  const __m512d total_g = _mm512_set1_pd(static_cast<double>(scan.total >> scan.shift));
  const __m512d total_h = _mm512_set1_pd(static_cast<double>(scan.total & all_hessian_bits));
  const __m512d l2 = _mm512_set1_pd(scan.l2);
  const __m512d min_hessian = _mm512_set1_pd(scan.min_hessian);
  const __m512d none = _mm512_set1_pd(-1.0);
  constexpr __mmask8 kAll = 0xFF;  // masked forms: compilers warn about the others
  __m512d largest = none;
  for (std::size_t i = 0; i < cuts.n; i += 8) {
    const __m512i packed = _mm512_load_si512(cuts.left.data() + i);
    const __m512d g = _mm512_cvtepi64_pd(_mm512_mask_sra_epi64(packed, kAll, packed, shift));
    const __m512d h = _mm512_cvtepi64_pd(_mm512_and_si512(packed, hessian_bits));
    const __m512d other_g = total_g - g;
    const __m512d other_h = total_h - h;
    const __m512d n = h + l2;
    const __m512d m = other_h + l2;
    const __m512d score = (g * g * m + other_g * other_g * n) / (n * m);
    const std::size_t n_left = cuts.n - i;
    auto is_cut = static_cast<__mmask8>(n_left >= 8 ? 0xFFU : (1U << n_left) - 1U);
    is_cut = _mm512_mask_cmp_pd_mask(is_cut, h, min_hessian, _CMP_GE_OQ);
    is_cut = _mm512_mask_cmp_pd_mask(is_cut, other_h, min_hessian, _CMP_GE_OQ);
    const __m512d limited = _mm512_mask_mov_pd(none, is_cut, score);
    largest = _mm512_mask_max_pd(largest, kAll, limited, largest);
    _mm512_store_pd(scores + i, limited);
  }
  alignas(64) std::array<double, 8> lanes;
  _mm512_store_pd(lanes.data(), largest);
  return *std::max_element(lanes.begin(), lanes.end());
}

// The same: these cells are pushed together, then added up.
COMMITTEE_AVX512 void list_present_avx512(const std::int64_t* cells, const CutScan& scan,
                                          Cuts& cuts) {
  std::int64_t left = sum_before(cells, scan);
  const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  std::size_t n = 0;
  for (std::size_t i = scan.begin; i < scan.end; i += 8) {
    const std::size_t n_left = scan.end - i;
    const auto are_there = static_cast<__mmask8>(n_left >= 8 ? 0xFFU : (1U << n_left) - 1U);
    const __m512i values = _mm512_maskz_loadu_epi64(are_there, cells + i);
    const unsigned is_first = i == scan.begin ? 1U : 0U;
    const auto is_present =
        static_cast<__mmask8>(_mm512_test_epi64_mask(values, values) | is_first);
    const __m512i codes = lanes + _mm512_set1_epi64(static_cast<long long>(i));
    _mm512_storeu_si512(cuts.left.data() + n, _mm512_maskz_compress_epi64(is_present, values));
    const __m512i kept = _mm512_maskz_compress_epi64(is_present, codes);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(cuts.code.data() + n),
                     _mm512_maskz_cvtepi64_epi16(0xFF, kept));
    n += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(is_present)));
  }
  cuts.n = n;
  for (std::size_t i = 0; i < n; ++i) cuts.left[i] = left += cuts.left[i];
}
#endif

// The first cut with the largest score.
PackedCut first_best(const CutScan& scan, const Cuts& cuts, const double* scores, double largest) {
  PackedCut best;
  best.score = largest;
  if (best.score < 0.0) return best;
  std::size_t i = 0;
  while (scores[i] != best.score) ++i;
  best.left = cuts.left[i];
  if (scan.is_sparse) {
    best.first = cuts.code[i];
    best.last = i + 1 < cuts.n ? cuts.code[i + 1] - std::size_t{1} : scan.end - 1;
  } else {
    best.first = best.last = scan.begin + i;
    while (++i < cuts.n && cuts.left[i] == best.left) ++best.last;
  }
  return best;
}

}  // namespace

PackedCut best_packed_cut(const std::int64_t* cells, const CutScan& scan) {
  Cuts cuts;
  alignas(64) std::array<double, kMostCuts> scores;
  auto* list_sparse = &list_present;
  auto* score = &score_cuts;
#ifdef COMMITTEE_HAS_AVX2
  if (uses_avx512()) {
    list_sparse = &list_present_avx512;
    score = &score_cuts_avx512;
  }
#endif
  (scan.is_sparse ? list_sparse : &list_all)(cells, scan, cuts);
  // The last vector reads beyond the cuts.
  std::fill_n(cuts.left.begin() + static_cast<std::ptrdiff_t>(cuts.n), kMostLanes, 0);
  return first_best(scan, cuts, scores.data(), score(scan, cuts, scores.data()));
}

}  // namespace committee
