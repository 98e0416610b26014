#include "forest/leaf_mask_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "base/simd.hpp"
#include "forest/threshold_ranks.hpp"

#ifdef COMMITTEE_HAS_AVX2
#include <immintrin.h>
#endif

namespace committee {
namespace {

template <std::size_t kWidth>
struct VectorOf;
template <>
struct VectorOf<16> {
  using Bytes = std::uint8_t __attribute__((vector_size(16)));
};
template <>
struct VectorOf<32> {
  using Bytes = std::uint8_t __attribute__((vector_size(32)));
};
template <>
struct VectorOf<64> {
  using Bytes = std::uint8_t __attribute__((vector_size(64)));
};

// The leaves among eight that no question rules out, a byte for each row.
template <std::size_t kVectors, typename Bytes>
COMMITTEE_INLINE void ask(const LeafQuestion* questions, LeafByte range,
                          const std::uint8_t* columns, Bytes* left) {
  for (std::size_t v = 0; v < kVectors; ++v) left[v] = ~Bytes{};
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const LeafQuestion question = questions[i];
    const std::uint8_t* const codes = columns + question.column;
    for (std::size_t v = 0; v < kVectors; ++v) {
      Bytes code;
      std::memcpy(&code, codes + v * sizeof(Bytes), sizeof(Bytes));
      left[v] &= reinterpret_cast<Bytes>(code <= question.most) | question.mask;
    }
  }
}

// Rows go by so many at a time that a question, once loaded, serves several vectors.
template <std::size_t kWidth, std::size_t kVectors>
COMMITTEE_INLINE void find_leaves_by(const LeafQuestion* questions, std::span<const LeafByte> bytes,
                                     const std::uint8_t* columns, std::size_t n_rows,
                                     std::uint8_t* leaves) {
  using Bytes = typename VectorOf<kWidth>::Bytes;
  static_assert(kMaskedRows % (kWidth * kVectors) == 0);
  for (std::size_t row = 0; row < n_rows; row += kWidth * kVectors) {
    Bytes bits[kVectors] = {};
    Bytes first[kVectors] = {};
    for (std::size_t i = bytes.size(); i-- > 0;) {
      Bytes left[kVectors];
      ask<kVectors>(questions, bytes[i], columns + row, left);
      // The lowest byte with a bit is the one that counts.
      const auto place = static_cast<std::uint8_t>(i * kLeavesPerByte);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto is_empty = reinterpret_cast<Bytes>(left[v] == 0);
        bits[v] = (bits[v] & is_empty) | left[v];
        first[v] = (first[v] & is_empty) | (place & ~is_empty);
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Bytes lowest = bits[v] & -bits[v];
      Bytes leaf = first[v];
      leaf |= reinterpret_cast<Bytes>((lowest & 0xAA) != 0) & 1;
      leaf |= reinterpret_cast<Bytes>((lowest & 0xCC) != 0) & 2;
      leaf |= reinterpret_cast<Bytes>((lowest & 0xF0) != 0) & 4;
      std::memcpy(leaves + row + v * kWidth, &leaf, kWidth);
    }
  }
}

COMMITTEE_AVX2 void find_leaves_avx2(const LeafQuestion* questions, std::span<const LeafByte> bytes,
                                     const std::uint8_t* columns, std::size_t n_rows,
                                     std::uint8_t* leaves) {
  find_leaves_by<32, 4>(questions, bytes, columns, n_rows, leaves);
}

COMMITTEE_AVX512 void find_leaves_avx512(const LeafQuestion* questions,
                                         std::span<const LeafByte> bytes,
                                         const std::uint8_t* columns, std::size_t n_rows,
                                         std::uint8_t* leaves) {
  find_leaves_by<64, 4>(questions, bytes, columns, n_rows, leaves);
}

#ifdef COMMITTEE_HAS_AVX2
// The table in four registers: no row waits for memory.
COMMITTEE_AVX512 void add_from_registers(const double* values, const std::uint8_t* leaves,
                                         std::size_t n_rows, double* sums) {
  static_assert(kLeafTable == 32);
  const __m512d a = _mm512_loadu_pd(values);
  const __m512d b = _mm512_loadu_pd(values + 8);
  const __m512d c = _mm512_loadu_pd(values + 16);
  const __m512d d = _mm512_loadu_pd(values + 24);
  for (std::size_t i = 0; i < n_rows; i += 8) {
    std::int64_t eight;
    std::memcpy(&eight, leaves + i, 8);
    const __m512i leaf = _mm512_maskz_cvtepu8_epi64(0xFF, _mm_cvtsi64_si128(eight));
    const __m512d low = _mm512_permutex2var_pd(a, leaf, b);
    const __m512d high = _mm512_permutex2var_pd(c, leaf, d);
    const __mmask8 is_high = _mm512_test_epi64_mask(leaf, _mm512_set1_epi64(16));
    const __m512d value = _mm512_mask_mov_pd(low, is_high, high);
    _mm512_storeu_pd(sums + i, _mm512_add_pd(_mm512_loadu_pd(sums + i), value));
  }
}
#endif

void add_from_memory(const double* __restrict values, const std::uint8_t* __restrict leaves,
                     std::size_t n_rows, double* __restrict sums) {
  for (std::size_t i = 0; i < n_rows; ++i) sums[i] += values[leaves[i]];
}

COMMITTEE_INLINE void write_codes_code(const std::uint16_t* __restrict ranks, std::uint32_t first,
                                       bool missing_is_low, std::uint8_t* __restrict codes) {
  const auto low = static_cast<std::uint16_t>(first);
  const auto step = static_cast<std::uint8_t>(missing_is_low ? 1 : 0);
  for (std::size_t i = 0; i < kMaskedRows; ++i) {
    const std::uint16_t rank = ranks[i];
    const auto above = static_cast<std::uint16_t>(rank > low ? rank - low : 0);
    const auto code = static_cast<std::uint8_t>(above < kRanksPerColumn ? above : kRanksPerColumn);
    // A step up takes the largest code round to zero.
    codes[i] = static_cast<std::uint8_t>((rank == kMissingRank ? 255 : code) + step);
  }
}

}  // namespace

COMMITTEE_TWICE(void, write_codes,
                (const std::uint16_t* ranks, std::uint32_t first, bool missing_is_low,
                 std::uint8_t* codes),
                (ranks, first, missing_is_low, codes))

void find_leaves(const LeafQuestion* questions, std::span<const LeafByte> bytes,
                 const std::uint8_t* columns, std::size_t n_rows, std::uint8_t* leaves) {
  if (uses_avx512()) {
    find_leaves_avx512(questions, bytes, columns, n_rows, leaves);
  } else if (uses_avx2()) {
    find_leaves_avx2(questions, bytes, columns, n_rows, leaves);
  } else {
    find_leaves_by<16, 8>(questions, bytes, columns, n_rows, leaves);
  }
}

void add_leaf_values(const double* values, std::size_t n_leaves, const std::uint8_t* leaves,
                     std::size_t n_rows, double* sums) {
#ifdef COMMITTEE_HAS_AVX2
  if (n_leaves <= kLeafTable && uses_avx512()) {
    return add_from_registers(values, leaves, n_rows, sums);
  }
#else
  static_cast<void>(n_leaves);
#endif
  add_from_memory(values, leaves, n_rows, sums);
}

}  // namespace committee
