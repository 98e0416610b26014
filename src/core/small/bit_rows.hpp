// What is known of the rows of a small subtree whose nodes are sets of bits, one bit a row.
//
// Each kind of rows has the score of a node cut in two. Scores are those of class_scores.hpp and
// sum_scores.hpp, bit for bit.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"
#include "score/block.hpp"
#include "score/byte_cut.hpp"
#include "score/class_scores.hpp"
#include "split/grow_options.hpp"

namespace committee {

using RowBits = std::uint64_t;  // kSmallNodeRows of them

// Calls visit(row) for each row of a set, ascending.
template <typename Visit>
COMMITTEE_INLINE void for_each_bit(RowBits rows, Visit&& visit) {
  for (; rows != 0; rows &= rows - 1) visit(static_cast<std::size_t>(std::countr_zero(rows)));
}

struct BitCut {
  double score = 0.0;
  double left_weight = 0.0;
};

// Whole weights of rows, bit by bit: the rows whose weight has a bit of value 2^k are a set.
class BitWeights {
 public:
  COMMITTEE_INLINE void clear() {
    planes_ = {};
    n_planes_ = 1;
  }
  // Weights of all rows together are at most kSmallNodeWeight.
  COMMITTEE_INLINE void add(std::size_t row, std::uint64_t weight) {
    planes_[0] |= (weight & 1) << row;
    for (std::size_t k = 1; weight >> k != 0; ++k) {
      planes_[k] |= (weight >> k & 1) << row;
      n_planes_ = k + 1 > n_planes_ ? k + 1 : n_planes_;
    }
  }
  COMMITTEE_INLINE std::int64_t of(RowBits rows) const {
    std::int64_t sum = std::popcount(rows & planes_[0]);
    for (std::size_t k = 1; k < n_planes_; ++k) {
      sum += std::int64_t{std::popcount(rows & planes_[k])} << k;
    }
    return sum;
  }

 private:
  static constexpr std::size_t kMostPlanes = 8;
  static_assert(kSmallNodeWeight < 1 << kMostPlanes);
  std::array<RowBits, kMostPlanes> planes_{};
  std::size_t n_planes_ = 1;
};

// Two classes.
template <Criterion kCriterion>
class BinaryBits {
  using Score = BinaryScore<kCriterion>;

 public:
  static bool serves(const FitData& data, const GrowOptions& options) {
    return data.statistics.layout == StatisticLayout::kBinaryCounts &&
           options.criterion == kCriterion;
  }

  COMMITTEE_INLINE bool prepare(const RowStatistics& rows, std::size_t begin, std::size_t n_rows) {
    const std::uint64_t* const packed = rows.packed.data() + begin;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < n_rows; ++i) total += packed[i];
    if (static_cast<std::int64_t>(total & 0xFFFFFFFFULL) > kSmallNodeWeight) return false;
    weights_.clear();
    ones_ = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      weights_.add(i, packed[i] & 0xFFFFFFFFULL);
      ones_ |= static_cast<RowBits>(packed[i] >> 32 != 0) << i;
    }
    return true;
  }

  COMMITTEE_INLINE void start(RowBits node) {
    total_ = weights_.of(node);
    total_ones_ = weights_.of(node & ones_);
  }
  COMMITTEE_INLINE std::int64_t weight() const { return total_; }
  COMMITTEE_INLINE bool is_pure() const { return total_ones_ == 0 || total_ones_ == total_; }
  COMMITTEE_INLINE static bool is_too_coarse() { return false; }

  COMMITTEE_INLINE BitCut cut(RowBits left, RowBits) const {
    const std::int64_t weight = weights_.of(left);
    const std::int64_t ones = weights_.of(left & ones_);
    BitCut result{0.0, static_cast<double>(weight)};
    if constexpr (Score::has_kernel()) {
      const auto total = static_cast<double>(total_);
      const auto total_ones = static_cast<double>(total_ones_);
      const double value =
          gini_cut_score(result.left_weight, static_cast<double>(ones), total, total_ones);
      result.score = gini_score(value, total, total_ones);
    } else {
      const auto left_cell = static_cast<std::uint64_t>(weight | ones << 32);
      const auto right_cell =
          static_cast<std::uint64_t>((total_ - weight) | (total_ones_ - ones) << 32);
      result.score = Score::score(&left_cell) + Score::score(&right_cell);
    }
    return result;
  }

 private:
  BitWeights weights_;
  RowBits ones_ = 0;  // rows of the second class
  std::int64_t total_ = 0;
  std::int64_t total_ones_ = 0;
};

// Any number of classes, Gini; up to kClassLanes of them in a subtree.
class ClassBits {
 public:
  static bool serves(const FitData& data, const GrowOptions& options) {
    return data.statistics.layout == StatisticLayout::kClassCounts && data.target.n_outputs == 1 &&
           options.criterion == Criterion::kGini && data.target.n_classes[0] <= 64;
  }

  COMMITTEE_INLINE bool prepare(const RowStatistics& rows, std::size_t begin, std::size_t n_rows) {
    const std::uint32_t* const slots = rows.slots.data() + begin;
    const std::int64_t* const weights = rows.weights.data() + begin;
    std::int64_t total = 0;
    std::uint64_t classes = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      total += weights[i];
      classes |= std::uint64_t{1} << slots[i];
    }
    n_classes_ = static_cast<std::size_t>(std::popcount(classes));
    if (total > kSmallNodeWeight || n_classes_ > kClassLanes) return false;
    weights_.clear();
    members_ = {};
    for (std::size_t i = 0; i < n_rows; ++i) {
      const std::uint64_t below = (std::uint64_t{1} << slots[i]) - 1;
      weights_.add(i, static_cast<std::uint64_t>(weights[i]));
      members_[static_cast<std::size_t>(std::popcount(classes & below))] |= RowBits{1} << i;
    }
    return true;
  }

  COMMITTEE_INLINE void start(RowBits node) {
    weight_ = weights_.of(node);
    for (std::size_t i = 0; i < n_classes_; ++i) totals_[i] = weights_.of(node & members_[i]);
  }
  COMMITTEE_INLINE std::int64_t weight() const { return weight_; }
  COMMITTEE_INLINE bool is_pure() const {
    std::size_t n_present = 0;
    for (std::size_t i = 0; i < n_classes_; ++i) n_present += totals_[i] != 0 ? 1 : 0;
    return n_present < 2;
  }
  COMMITTEE_INLINE static bool is_too_coarse() { return false; }

  COMMITTEE_INLINE BitCut cut(RowBits left, RowBits) const {
    // Squares of sums of at most kSmallNodeWeight: exact, in integers as in doubles.
    std::int64_t squares = 0;
    std::int64_t other_squares = 0;
    for (std::size_t i = 0; i < n_classes_; ++i) {
      const std::int64_t own = weights_.of(left & members_[i]);
      const std::int64_t other = totals_[i] - own;
      squares += own * own;
      other_squares += other * other;
    }
    const auto weight = static_cast<double>(weights_.of(left));
    return {static_cast<double>(squares) / weight +
                static_cast<double>(other_squares) / (static_cast<double>(weight_) - weight),
            weight};
  }

 private:
  BitWeights weights_;
  std::array<RowBits, kClassLanes> members_{};  // of the classes, numbered without gaps
  std::size_t n_classes_ = 0;
  std::int64_t weight_ = 0;
  std::array<std::int64_t, kClassLanes> totals_{};
};

// One target, squared error.
class SquaredBits {
 public:
  static bool serves(const FitData& data, const GrowOptions& options) {
    return data.statistics.layout == StatisticLayout::kTargetSums && data.target.n_outputs == 1 &&
           options.criterion == Criterion::kSquaredError;
  }

  COMMITTEE_INLINE bool prepare(const RowStatistics& rows, std::size_t begin, std::size_t) {
    rows_ = reinterpret_cast<const SumCell*>(rows.sums.data()) + begin;
    targets_ = rows.targets.data() + begin;
    reach_ = rows.reaches[0];
    return true;
  }

  COMMITTEE_INLINE void start(RowBits node) {
    double low = targets_[std::countr_zero(node)];
    double high = low;
    sums_ = {};
    for_each_bit(node, [&](std::size_t row) __attribute__((always_inline)) {
      add(row, sums_);
      const double target = targets_[row];
      low = target < low ? target : low;
      high = target > high ? target : high;
    });
    low_ = low;
    high_ = high;
    total_weight_ = static_cast<double>(sums_[0]);
    mean_ = static_cast<double>(sums_[1]) / total_weight_;
  }
  COMMITTEE_INLINE std::int64_t weight() const { return sums_[0]; }
  COMMITTEE_INLINE bool is_pure() const { return low_ == high_; }
  COMMITTEE_INLINE bool is_too_coarse() const { return is_blurred(low_, high_, reach_); }

  COMMITTEE_INLINE BitCut cut(RowBits left, RowBits right) const {
    // The sums are whole numbers: those of one side give those of the other.
    const bool adds_left = std::popcount(left) <= std::popcount(right);
    SumCell sums{};
    for_each_bit(adds_left ? left : right,
                 [&](std::size_t row) __attribute__((always_inline)) { add(row, sums); });
    if (!adds_left) sums = {sums_[0] - sums[0], sums_[1] - sums[1]};
    const auto weight = static_cast<double>(sums[0]);
    return {squared_cut_score(weight, static_cast<double>(sums[1]),
                              static_cast<double>(sums_[1] - sums[1]), total_weight_, mean_),
            weight};
  }

 private:
  COMMITTEE_INLINE void add(std::size_t row, SumCell& sums) const {
    sums[0] += rows_[row][0];
    sums[1] += rows_[row][1];
  }

  const SumCell* rows_ = nullptr;  // of the subtree
  const double* targets_ = nullptr;
  double reach_ = 0.0;
  SumCell sums_{};  // of the node
  double low_ = 0.0;
  double high_ = 0.0;
  double total_weight_ = 0.0;
  double mean_ = 0.0;
};

}  // namespace committee
