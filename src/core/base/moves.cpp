#include "base/moves.hpp"

#include <algorithm>
#include <bit>

#include "base/simd.hpp"

#if defined(COMMITTEE_HAS_AVX2)
#include <immintrin.h>
#endif

namespace committee {
namespace {

// A store writes a whole vector, of which the items that belong there come first. On the left it
// ends before the items that are still to be read; on the right there is room for one.
constexpr std::size_t kVector = 64;

template <typename T>
void divide_one_by_one(T* items, const std::uint8_t* goes_left, std::size_t begin, std::size_t end,
                       T*& left, T*& right) {
  for (std::size_t i = begin; i < end; ++i) {
    const T item = items[i];
    *left = item;
    *right = item;
    left += goes_left[i];
    right += 1 - goes_left[i];
  }
}

#if defined(COMMITTEE_HAS_AVX2)

COMMITTEE_AVX512 std::size_t divide_vectors(std::uint32_t* items, const std::uint8_t* goes_left,
                                            std::size_t n_items, std::uint32_t*& left,
                                            std::uint32_t*& right) {
  constexpr std::size_t kLanes = kVector / sizeof(std::uint32_t);
  std::size_t i = 0;
  for (; i + kLanes <= n_items; i += kLanes) {
    const __m128i sides = _mm_loadu_si128(reinterpret_cast<const __m128i*>(goes_left + i));
    const __mmask16 mask = _mm_test_epi8_mask(sides, sides);
    const __m512i own = _mm512_loadu_si512(items + i);
    _mm512_storeu_si512(left, _mm512_maskz_compress_epi32(mask, own));
    _mm512_storeu_si512(right, _mm512_maskz_compress_epi32(_knot_mask16(mask), own));
    const auto n_left = static_cast<std::size_t>(std::popcount(static_cast<unsigned>(mask)));
    left += n_left;
    right += kLanes - n_left;
  }
  return i;
}

COMMITTEE_AVX512 std::size_t divide_vectors(std::uint64_t* items, const std::uint8_t* goes_left,
                                            std::size_t n_items, std::uint64_t*& left,
                                            std::uint64_t*& right) {
  constexpr std::size_t kLanes = kVector / sizeof(std::uint64_t);
  std::size_t i = 0;
  for (; i + kLanes <= n_items; i += kLanes) {
    const __m128i sides = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(goes_left + i));
    const auto mask = static_cast<__mmask8>(_mm_test_epi8_mask(sides, sides));
    const __m512i own = _mm512_loadu_si512(items + i);
    _mm512_storeu_si512(left, _mm512_maskz_compress_epi64(mask, own));
    _mm512_storeu_si512(right, _mm512_maskz_compress_epi64(_knot_mask8(mask), own));
    const auto n_left = static_cast<std::size_t>(std::popcount(static_cast<unsigned>(mask)));
    left += n_left;
    right += kLanes - n_left;
  }
  return i;
}

#else

template <typename T>
std::size_t divide_vectors(T*, const std::uint8_t*, std::size_t, T*&, T*&) {
  return 0;
}

#endif

template <typename T>
void divide_by_sides(T* items, const std::uint8_t* goes_left, std::size_t n_items,
                     std::vector<std::byte>& scratch) {
  const std::size_t n_bytes = n_items * sizeof(T) + kVector;
  if (scratch.size() < n_bytes) scratch.resize(n_bytes);
  T* const others = reinterpret_cast<T*>(scratch.data());
  T* left = items;
  T* right = others;
  const std::size_t n_done =
      uses_avx512() ? divide_vectors(items, goes_left, n_items, left, right) : 0;
  divide_one_by_one(items, goes_left, n_done, n_items, left, right);
  std::copy(others, right, left);
}

}  // namespace

void divide_numbers(std::uint32_t* items, const std::uint8_t* goes_left, std::size_t n_items,
                    std::vector<std::byte>& scratch) {
  divide_by_sides(items, goes_left, n_items, scratch);
}

void divide_numbers(std::uint64_t* items, const std::uint8_t* goes_left, std::size_t n_items,
                    std::vector<std::byte>& scratch) {
  divide_by_sides(items, goes_left, n_items, scratch);
}

}  // namespace committee
