// The kernels of record_kernels.hpp for nodes of few rows, inline: they are compiled into functions
// for every processor and for AVX2 (simd.hpp).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/simd.hpp"
#include "score/byte_cut.hpp"
#include "score/score_kernels.hpp"

namespace committee {

using Bytes = std::uint8_t __attribute__((vector_size(SmallNode::kLanes)));

// Spreads a weight over the lanes of a vector.
COMMITTEE_INLINE void spread(std::uint64_t value, std::uint8_t* out) {
  const Bytes lanes = Bytes{} + static_cast<std::uint8_t>(value & 0xFF);
  std::memcpy(out, &lanes, sizeof(lanes));
}

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

// Eight lanes at a time. Passed by reference: how vectors are passed depends on the processor.
constexpr std::size_t kFloats = 8;
using Floats = float __attribute__((vector_size(sizeof(float) * kFloats)));
using Ints = std::int32_t __attribute__((vector_size(sizeof(std::int32_t) * kFloats)));
using Words = std::uint64_t __attribute__((vector_size(sizeof(Ints))));
using SmallBytes = std::uint8_t __attribute__((vector_size(kFloats)));

template <typename Vector, typename T>
COMMITTEE_INLINE void load(const T* from, Vector& vector) {
  std::memcpy(&vector, from, sizeof(Vector));
}

COMMITTEE_INLINE bool has_any(const Ints& mask) {
  const auto words = reinterpret_cast<Words>(mask);
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

// Calls visit(i) for the scores that come close to the largest, ascending; false if there is no
// score, or none that reaches `floor`. `largest` holds the largest of each lane.
constexpr float kScreenSlack = 2e-6F;
template <typename Visit>
COMMITTEE_INLINE bool visit_close(const Floats& largest, const float* scores, std::size_t n,
                                  float floor, Visit&& visit) {
  float best = largest[0];
  for (std::size_t lane = 1; lane < kFloats; ++lane) {
    best = largest[lane] > best ? largest[lane] : best;
  }
  if (best < floor) return false;
  const float bar = best - best * kScreenSlack;
  for (std::size_t i = 0; i < n; i += kFloats) {
    Floats lanes;
    load(scores + i, lanes);
    if (!has_any(lanes >= bar)) continue;
    for (std::size_t lane = 0; lane < kFloats; ++lane) {
      if (scores[i + lane] >= bar) visit(i + lane);
    }
  }
  return true;
}

// The scores of eight cuts in single precision, -1 for cuts that break the limits. All terms are
// positive, so nothing cancels: the relative error is below kScreenSlack.
class Screen {
 public:
  explicit COMMITTEE_INLINE Screen(const GiniNode& node)
      : total_weight_(static_cast<std::int32_t>(node.total_weight)),
        total_ones_(static_cast<std::int32_t>(node.total_ones)),
        min_weight_(static_cast<std::int32_t>(std::ceil(node.min_weight))) {
    largest_ -= 1.0F;
  }

  COMMITTEE_INLINE void look(const Ints& weight, const Ints& ones, float* out) {
    const Ints other_weight = total_weight_ - weight;
    const Floats n = __builtin_convertvector(weight, Floats);
    const Floats m = __builtin_convertvector(other_weight, Floats);
    const Floats a = __builtin_convertvector(ones, Floats);
    const Floats b = __builtin_convertvector(total_ones_ - ones, Floats);
    const Floats score = (a * a * m + b * b * n) / (n * m);
    const Ints is_allowed = (weight >= min_weight_) & (other_weight >= min_weight_);
    const Floats limited = is_allowed ? score : Floats{} - 1.0F;
    largest_ = limited > largest_ ? limited : largest_;
    std::memcpy(out, &limited, sizeof(limited));
  }

  template <typename Visit>
  COMMITTEE_INLINE bool for_each_promising(const float* scores, std::size_t n, float floor,
                                           Visit&& visit) const {
    return visit_close(largest_, scores, n, floor, visit);
  }

 private:
  std::int32_t total_weight_;
  std::int32_t total_ones_;
  std::int32_t min_weight_;
  Floats largest_{};
};

COMMITTEE_INLINE double exact_score(double weight, double ones, const GiniNode& node) {
  if (!node.sums_squares) {
    return gini_cut_score(weight, ones, node.total_weight, node.total_ones);
  }
  const double zeros = weight - ones;
  const double other_weight = node.total_weight - weight;
  const double other_ones = node.total_ones - ones;
  const double other_zeros = other_weight - other_ones;
  return (zeros * zeros + ones * ones) / weight +
         (other_zeros * other_zeros + other_ones * other_ones) / other_weight;
}

// What the screen says at least of a cut that is better than node.best_score.
COMMITTEE_INLINE double screen_floor(const GiniNode& node) {
  const double value =
      (node.best_score - (node.total_weight - 2 * node.total_ones)) / 2 - 1e-9 * node.total_weight;
  return value > 0.0 ? value * (1 - 2 * kScreenSlack) : 0.0;
}

COMMITTEE_INLINE ByteCut best_small_gini_cut_code(const SmallNode& rows, const std::uint8_t* codes,
                                                  const GiniNode& node) {
  alignas(32) std::array<std::uint8_t, kSmallNodeRows> weights;
  alignas(32) std::array<std::uint8_t, kSmallNodeRows> ones;
  alignas(32) std::array<float, kSmallNodeRows> rough;
  compare_pairs(rows, codes, weights.data(), ones.data());
  const std::size_t padded = (rows.n_rows + kFloats - 1) / kFloats * kFloats;
  for (std::size_t i = rows.n_rows; i < padded; ++i) weights[i] = 0;  // refused
  Screen screen(node);
  for (std::size_t i = 0; i < padded; i += kFloats) {
    SmallBytes weight;
    SmallBytes one;
    load(weights.data() + i, weight);
    load(ones.data() + i, one);
    screen.look(__builtin_convertvector(weight, Ints), __builtin_convertvector(one, Ints),
                rough.data() + i);
  }
  ByteCut best;
  best.score = -1.0;
  const auto floor = static_cast<float>(screen_floor(node));
  best.exists = screen.for_each_promising(rough.data(), padded, floor, [&](std::size_t i) {
    const auto weight = static_cast<double>(weights[i]);
    const double score = exact_score(weight, static_cast<double>(ones[i]), node);
    const bool is_better = score > best.score || (score == best.score && codes[i] < best.last_left);
    if (!is_better) return;
    best.score = score;
    best.last_left = codes[i];
    best.left_weight = weight;
  });
  return best;
}

// Compares all pairs of (code, position), sixteen at a time.
COMMITTEE_INLINE void sort_codes_code(const std::uint8_t* codes, std::size_t n,
                                      std::uint8_t* order) {
  constexpr std::size_t kShorts = 16;
  using Shorts = std::int16_t __attribute__((vector_size(sizeof(std::int16_t) * kShorts)));
  alignas(32) std::array<std::int16_t, kSmallNodeRows> keys;
  alignas(32) std::array<std::int16_t, kSmallNodeRows> ranks;
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = static_cast<std::int16_t>(codes[i] * kSmallNodeRows + i);
  }
  for (std::size_t first = 0; first < n; first += kShorts) {
    for (std::size_t i = n; i < first + kShorts; ++i) keys[i] = 0;
    Shorts own;
    load(keys.data() + first, own);
    Shorts rank{};
    for (std::size_t i = 0; i < n; ++i) rank -= own > keys[i];
    std::memcpy(ranks.data() + first, &rank, sizeof(rank));
  }
  for (std::size_t i = 0; i < n; ++i) {
    order[static_cast<std::size_t>(ranks[i])] = static_cast<std::uint8_t>(i);
  }
}

COMMITTEE_INLINE void fill_small_node_code(SmallNode& node, std::span<const std::uint64_t> packed) {
  node.n_rows = packed.size();
  for (std::size_t row = 0; row < packed.size(); ++row) {
    spread(packed[row], node.weights.data() + row * SmallNode::kLanes);
    spread(packed[row] >> 32, node.ones.data() + row * SmallNode::kLanes);
  }
}

}  // namespace committee
