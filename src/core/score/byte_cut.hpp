// A cut of a feature whose codes are bytes, and what is known of a node that is cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace committee {

constexpr std::size_t kSmallNodeRows = 64;
constexpr std::int64_t kSmallNodeWeight = 255;  // sums of a small node fit a byte
constexpr std::size_t kByteCodes = 256;

struct ByteCut {
  double score = 0.0;  // as gini_cut_score computes it; meaningless unless `exists`
  std::uint32_t last_left = 0;
  std::uint32_t first_right = 0;  // the next code that occurs; not set for small nodes
  double left_weight = 0.0;
  bool exists = false;
};

// The two sums of a node and the least weight of a side. `sums_squares`: two of many classes, whose
// scores are sums of squares over weights instead of gini_cut_score.
struct GiniNode {
  double total_weight = 0.0;
  double total_ones = 0.0;
  double min_weight = 1.0;
  bool sums_squares = false;
  // A cut is looked for that is better than this, a sum of squares over weights (gini_score).
  double best_score = -std::numeric_limits<double>::infinity();
};

// Weights of the rows of a small node, each spread over 32 bytes.
struct SmallNode {
  static constexpr std::size_t kLanes = 32;
  std::size_t n_rows = 0;
  alignas(32) std::array<std::uint8_t, kSmallNodeRows * kLanes> weights;
  alignas(32) std::array<std::uint8_t, kSmallNodeRows * kLanes> ones;
};

struct CodeRange {
  std::uint8_t smallest = 0;
  std::uint8_t largest = 0;
};
// Up to eight classes, Gini. A cell holds the weight of each class; lanes beyond the last class
// stay zero.
constexpr std::size_t kClassLanes = 8;
using ClassCell = std::array<std::int32_t, kClassLanes>;
struct ClassNode {
  ClassCell totals{};
  double total_weight = 0.0;
  double min_weight = 1.0;
  double penalty = 0.0;  // taken off the scores
};
// The best cut of few rows in the order of their codes: sums of squares change by a little from one
// row to the next. Row i weighs weights[i] and is of the class of lane lanes[i].
template <typename Weight>
ByteCut best_sorted_class_cut(std::span<const std::uint8_t> order, const std::uint8_t* codes,
                              const std::uint8_t* lanes, const Weight* weights,
                              const ClassNode& node) {
  ByteCut best;
  std::array<std::int64_t, kClassLanes> left{};
  std::int64_t left_weight = 0;
  std::int64_t left_squares = 0;
  std::int64_t right_squares = 0;
  for (const std::int64_t total : node.totals) right_squares += total * total;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const std::size_t row = order[i];
    const std::int64_t weight = weights[row];
    const std::size_t lane = lanes[row];
    const std::int64_t right = node.totals[lane] - left[lane];
    left_squares += weight * (2 * left[lane] + weight);
    right_squares -= weight * (2 * right - weight);
    left[lane] += weight;
    left_weight += weight;
    const std::uint8_t next = codes[order[i + 1]];
    if (next == codes[row]) continue;
    const auto n = static_cast<double>(left_weight);
    const double m = node.total_weight - n;
    if (n < node.min_weight || m < node.min_weight) continue;
    const double score = static_cast<double>(left_squares) / n +
                         static_cast<double>(right_squares) / m - node.penalty;
    if (best.exists && !(score > best.score)) continue;
    best = {score, codes[row], next, n, true};
  }
  return best;
}

// One target: a weight and a sum.
using SumCell = std::array<std::int64_t, 2>;

}  // namespace committee
