#include "base/row_matches.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/simd.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 32;
constexpr std::size_t kMostInByte = 255;  // columns that one lane counts before it overflows
constexpr std::size_t kPanel = 64;        // rows on the right that stay in the cache

using Bytes = std::uint8_t __attribute__((vector_size(kLanes)));

COMMITTEE_INLINE std::uint32_t sum_of(const Bytes& counts) {
  std::array<std::uint64_t, kLanes / 8> words;
  std::memcpy(words.data(), &counts, kLanes);
  constexpr std::uint64_t kEven = 0x00FF00FF00FF00FFULL;
  std::uint64_t sums = 0;  // four of 16 bits
  for (const std::uint64_t word : words) sums += (word & kEven) + ((word >> 8) & kEven);
  return static_cast<std::uint32_t>((sums * 0x0001000100010001ULL) >> 48);
}

COMMITTEE_INLINE std::uint32_t count_matches(const std::uint8_t* left, const std::uint8_t* right,
                                             std::size_t n_columns) {
  std::uint32_t total = 0;
  std::size_t k = 0;
  while (k + kLanes <= n_columns) {
    const std::size_t end = std::min(n_columns, k + kMostInByte * kLanes);
    Bytes counts = {};
    for (; k + kLanes <= end; k += kLanes) {
      Bytes a;
      Bytes b;
      std::memcpy(&a, left + k, kLanes);
      std::memcpy(&b, right + k, kLanes);
      counts -= reinterpret_cast<Bytes>(a == b);  // -1 where they are equal
    }
    total += sum_of(counts);
  }
  for (; k < n_columns; ++k) total += left[k] == right[k] ? 1 : 0;
  return total;
}

COMMITTEE_INLINE void count_rows_code(const std::uint8_t* left, CodeMatrix right,
                                      std::size_t n_columns, std::uint32_t* out) {
  for (std::size_t j = 0; j < right.n_rows; ++j) {
    out[j] = count_matches(left, right.codes + j * n_columns, n_columns);
  }
}
COMMITTEE_TWICE(void, count_rows,
                (const std::uint8_t* left, CodeMatrix right, std::size_t n_columns,
                 std::uint32_t* out),
                (left, right, n_columns, out))

}  // namespace

void count_row_matches(CodeMatrix left, CodeMatrix right, std::size_t n_columns,
                       std::size_t n_threads, std::uint32_t* out) {
  constexpr std::size_t kMinRows = 16;
  const std::size_t n_chunks = chunk_count(left.n_rows, kMinRows, n_threads);
  parallel_parts(n_chunks, n_threads, [&](std::size_t chunk) {
    const Range rows = chunk_range(left.n_rows, n_chunks, chunk);
    for (std::size_t begin = 0; begin < right.n_rows; begin += kPanel) {
      const CodeMatrix panel{right.codes + begin * n_columns,
                             std::min(kPanel, right.n_rows - begin)};
      for (std::size_t i = rows.begin; i < rows.end; ++i) {
        count_rows(left.codes + i * n_columns, panel, n_columns, out + i * right.n_rows + begin);
      }
    }
  });
}

}  // namespace committee
