#include "record_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "score_kernels.hpp"
#include "simd.hpp"

namespace committee {

void SmallNode::fill(std::span<const std::uint64_t> packed) {
  n_rows = packed.size();
  for (std::size_t row = 0; row < n_rows; ++row) {
    std::memset(weights.data() + row * kLanes, static_cast<int>(packed[row] & 0xFF), kLanes);
    std::memset(ones.data() + row * kLanes, static_cast<int>((packed[row] >> 32) & 0xFF), kLanes);
  }
}

namespace {

constexpr double kRefused = -std::numeric_limits<double>::infinity();

#if defined(__GNUC__) || defined(__clang__)
using Bytes = std::uint8_t __attribute__((vector_size(SmallNode::kLanes)));

// left_weights[i], left_ones[i]: sums of the rows whose code is not larger than that of row i.
COMMITTEE_INLINE void compare_pairs(const SmallNode& rows, const std::uint8_t* codes,
                                    std::uint8_t* left_weights, std::uint8_t* left_ones) {
  for (std::size_t first = 0; first < rows.n_rows; first += SmallNode::kLanes) {
    Bytes own;
    std::memcpy(&own, codes + first, sizeof(own));
    Bytes weights{};
    Bytes ones{};
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
      const std::uint8_t code = codes[row];
      const auto is_left = reinterpret_cast<Bytes>(own >= code);
      Bytes weight;
      Bytes one;
      std::memcpy(&weight, rows.weights.data() + row * SmallNode::kLanes, sizeof(weight));
      std::memcpy(&one, rows.ones.data() + row * SmallNode::kLanes, sizeof(one));
      weights += is_left & weight;
      ones += is_left & one;
    }
    std::memcpy(left_weights + first, &weights, sizeof(weights));
    std::memcpy(left_ones + first, &ones, sizeof(ones));
  }
}
#else
inline void compare_pairs(const SmallNode& rows, const std::uint8_t* codes,
                          std::uint8_t* left_weights, std::uint8_t* left_ones) {
  std::fill_n(left_weights, kSmallNodeRows, std::uint8_t{0});
  std::fill_n(left_ones, kSmallNodeRows, std::uint8_t{0});
  for (std::size_t row = 0; row < rows.n_rows; ++row) {
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      if (codes[row] > codes[i]) continue;
      left_weights[i] += rows.weights[row * SmallNode::kLanes];
      left_ones[i] += rows.ones[row * SmallNode::kLanes];
    }
  }
}
#endif

COMMITTEE_INLINE double limited_score(double weight, double ones, const GiniNode& node) {
  const double score = gini_cut_score(weight, ones, node.total_weight, node.total_ones);
  const bool is_allowed =
      (weight >= node.min_weight) & (node.total_weight - weight >= node.min_weight);
  return is_allowed ? score : kRefused;
}

COMMITTEE_INLINE double largest_of(const double* scores, std::size_t n) {
  double lanes[8];
  std::fill_n(lanes, 8, kRefused);
  for (std::size_t i = 0; i < n; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) {
      lanes[lane] = scores[i + lane] > lanes[lane] ? scores[i + lane] : lanes[lane];
    }
  }
  double largest = lanes[0];
  for (const double lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

COMMITTEE_INLINE ByteCut best_small_gini_cut_code(const SmallNode& rows, const std::uint8_t* codes,
                                                  const GiniNode& node) {
  alignas(32) std::array<std::uint8_t, kSmallNodeRows> weights;
  alignas(32) std::array<std::uint8_t, kSmallNodeRows> ones;
  alignas(32) std::array<double, kSmallNodeRows> scores;
  compare_pairs(rows, codes, weights.data(), ones.data());
  const std::size_t padded = (rows.n_rows + 7) / 8 * 8;
  for (std::size_t i = rows.n_rows; i < padded; ++i) weights[i] = 0;  // refused
  const GiniNode limits = node;
  for (std::size_t i = 0; i < padded; ++i) {
    scores[i] = limited_score(static_cast<double>(weights[i]), static_cast<double>(ones[i]), limits);
  }
  ByteCut best;
  best.score = largest_of(scores.data(), padded);
  best.exists = best.score > kRefused;
  if (!best.exists) return best;
  best.last_left = kByteCodes;
  for (std::size_t i = 0; i < rows.n_rows; ++i) {
    if (scores[i] == best.score && codes[i] < best.last_left) {
      best.last_left = codes[i];
      best.left_weight = static_cast<double>(weights[i]);
    }
  }
  return best;
}

COMMITTEE_INLINE ByteCut best_table_gini_cut_code(std::uint64_t* table, std::size_t n_codes,
                                                  const GiniNode& node) {
  alignas(32) std::array<double, kByteCodes> scores;
  alignas(32) std::array<std::uint64_t, kByteCodes> lefts;
  const std::size_t padded = (n_codes + 7) / 8 * 8;
  std::uint64_t left = 0;
  for (std::size_t code = 0; code < padded; ++code) {
    left += table[code];
    lefts[code] = left;
  }
  std::memset(table, 0, padded * sizeof(std::uint64_t));
  const GiniNode limits = node;
  for (std::size_t code = 0; code < padded; ++code) {
    const auto weight = static_cast<std::int32_t>(lefts[code] & 0xFFFFFFFFULL);
    const auto ones = static_cast<std::int32_t>(lefts[code] >> 32);
    scores[code] = limited_score(static_cast<double>(weight), static_cast<double>(ones), limits);
  }
  ByteCut best;
  best.score = largest_of(scores.data(), padded);
  best.exists = best.score > kRefused;
  if (!best.exists) return best;
  // An empty code repeats the score of the code before it, so the first one is present.
  while (scores[best.last_left] != best.score) ++best.last_left;
  best.left_weight = static_cast<double>(lefts[best.last_left] & 0xFFFFFFFFULL);
  return best;
}

template <std::size_t kFeatures>
void add_to_tables(const std::uint8_t* records, std::size_t stride,
                   std::span<const std::uint64_t> packed, const std::uint32_t* features,
                   std::uint64_t* tables) {
  std::array<const std::uint8_t*, kFeatures> codes;
  for (std::size_t i = 0; i < kFeatures; ++i) codes[i] = records + features[i];
  std::size_t offset = 0;
  for (const std::uint64_t row : packed) {
    for (std::size_t i = 0; i < kFeatures; ++i) tables[i * kTableCells + codes[i][offset]] += row;
    offset += stride;
  }
}

}  // namespace

COMMITTEE_TWICE(ByteCut, best_small_gini_cut,
                (const SmallNode& rows, const std::uint8_t* codes, const GiniNode& node),
                (rows, codes, node))

COMMITTEE_TWICE(ByteCut, best_table_gini_cut,
                (std::uint64_t * table, std::size_t n_codes, const GiniNode& node),
                (table, n_codes, node))

void add_records(const std::uint8_t* records, std::size_t stride,
                 std::span<const std::uint64_t> packed, std::span<const std::uint32_t> features,
                 std::uint64_t* tables) {
  switch (features.size()) {
    case 1:
      return add_to_tables<1>(records, stride, packed, features.data(), tables);
    case 2:
      return add_to_tables<2>(records, stride, packed, features.data(), tables);
    case 3:
      return add_to_tables<3>(records, stride, packed, features.data(), tables);
    default:
      return add_to_tables<4>(records, stride, packed, features.data(), tables);
  }
}

}  // namespace committee
