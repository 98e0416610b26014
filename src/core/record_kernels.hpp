// The best cut of a feature in a block of records, where codes are bytes.
//
// Two classes, Gini:
// A small node compares all pairs of its rows: no table to clear and to scan, and bytes go through
// a vector register 32 at a time. A larger node adds up its rows by code. Both look at the same
// cuts as the general search does. They are screened in single precision, and those that come
// close to the best are compared with the same arithmetic (gini_cut_score), so all give the same
// split.
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
  double score = 0.0;  // as gini_cut_score tells it; meaningless unless `exists`
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

// `packed` as in RowStatistics.
void fill_small_node(SmallNode& node, std::span<const std::uint64_t> packed);

// `codes` has room for kSmallNodeRows codes, those of the node first.
ByteCut best_small_gini_cut(const SmallNode& rows, const std::uint8_t* codes, const GiniNode& node);

// Adds the statistics of records to one table for each of up to four features. Tables have
// kByteCodes cells and follow each other at a distance of kTableCells.
constexpr std::size_t kTableCells = kByteCodes + 8;  // not a power of two: tables share cache sets
constexpr std::size_t kMaxTables = 4;
void add_records(const std::uint8_t* records, std::size_t stride,
                 std::span<const std::uint64_t> packed, std::span<const std::uint32_t> features,
                 std::uint64_t* tables);

// The best cut of a table, which is cleared. `n_codes` <= kByteCodes.
ByteCut best_table_gini_cut(std::uint64_t* table, std::size_t n_codes, const GiniNode& node);

// The smallest and the largest of some codes, at least one.
struct CodeRange {
  std::uint8_t smallest = 0;
  std::uint8_t largest = 0;
};
CodeRange range_of(std::span<const std::uint8_t> codes);

// The sum of the statistics of the rows whose code is at most `last_left`.
std::uint64_t sum_left(std::span<const std::uint8_t> codes, const std::uint64_t* packed,
                       std::uint8_t last_left);

// Up to eight classes, Gini. A cell holds the weight of each class; lanes beyond the last class
// stay zero.
constexpr std::size_t kClassLanes = 8;
using ClassCell = std::array<std::int32_t, kClassLanes>;
struct ClassNode {
  ClassCell totals{};
  double total_weight = 0.0;
  double min_weight = 1.0;
};
// Adds records to tables of up to four features, which follow each other: row i adds weights[i] to
// lane lanes[i] of the cell of its code.
void add_class_records(const std::uint8_t* records, std::size_t stride, std::size_t n_rows,
                       const std::uint8_t* lanes, const std::int64_t* weights,
                       std::span<const std::uint32_t> features, ClassCell* tables);

// The best cut of a table of `n_codes` cells, which is cleared; its score is the sum of squares
// over weights of both sides.
ByteCut best_table_class_cut(ClassCell* table, std::size_t n_codes, const ClassNode& node);

// The same for few rows in the order of their codes: sums of squares change by a little from one
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
    const double score =
        static_cast<double>(left_squares) / n + static_cast<double>(right_squares) / m;
    if (best.exists && !(score > best.score)) continue;
    best = {score, codes[row], next, n, true};
  }
  return best;
}

// One target: the same for cells of a weight and a sum, of which row i adds sums[i].
using SumCell = std::array<std::int64_t, 2>;
void add_sum_records(const std::uint8_t* records, std::size_t stride, std::span<const SumCell> sums,
                     std::span<const std::uint32_t> features, SumCell* tables);

// The positions 0 ... n - 1 in the order of their codes, equal codes in order of position.
// n <= kSmallNodeRows; `codes` and `order` have room for that many.
void sort_codes(const std::uint8_t* codes, std::size_t n, std::uint8_t* order);

}  // namespace committee
