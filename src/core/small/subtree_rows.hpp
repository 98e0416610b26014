// What is known of the rows of a small subtree, and how a node of them is cut.
//
// Each kind of rows knows how to cut a node of them: best_cut looks at all cuts of a feature (it
// may say nothing where none is better than best_score), best_subset at the subsets of the levels
// of a category, of which it notes the sides of the rows (0: left) where one is better than the
// best so far. Scores are those of class_scores.hpp and sum_scores.hpp, bit for bit. Nothing scores
// more than `highest_score`.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/simd.hpp"
#include "score/block.hpp"
#include "score/byte_cut.hpp"
#include "score/class_scores.hpp"
#include "score/small_cuts.hpp"
#include "score/small_levels.hpp"
#include "split/grow_options.hpp"

namespace committee {

constexpr std::size_t kRows = kSmallNodeRows;
using Lanes = std::array<std::uint8_t, kRows>;  // one byte a row

// Rows up to `last_left` go left.
template <typename Places>
COMMITTEE_INLINE void note_sides(const Places& places, std::uint32_t last_left, std::size_t n_rows,
                                 Lanes& sides) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    sides[i] = static_cast<std::uint32_t>(places[i]) > last_left ? 1 : 0;
  }
}

// Two classes.
template <Criterion kCriterion>
class BinaryRows {
  using Score = BinaryScore<kCriterion>;

 public:
  static bool serves(const FitData& data, const GrowOptions& options) {
    return data.statistics.layout == StatisticLayout::kBinaryCounts &&
           options.criterion == kCriterion;
  }

  COMMITTEE_INLINE bool prepare(const RowStatistics& rows, std::size_t begin, std::size_t n_rows) {
    rows_ = rows.packed.data() + begin;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < n_rows; ++i) total += rows_[i];
    return static_cast<std::int64_t>(total & 0xFFFFFFFFULL) <= kSmallNodeWeight;
  }

  COMMITTEE_INLINE void start(const Lanes& lanes, std::size_t n_rows) {
    total_ = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      own_[i] = rows_[lanes[i]];
      total_ += own_[i];
    }
    n_rows_ = n_rows;
  }
  COMMITTEE_INLINE std::int64_t weight() const {
    return static_cast<std::int64_t>(total_ & 0xFFFFFFFFULL);
  }
  COMMITTEE_INLINE bool is_pure() const {
    return total_ >> 32 == 0 || total_ >> 32 == (total_ & 0xFFFFFFFFULL);
  }
  COMMITTEE_INLINE static bool is_too_coarse() { return false; }
  // A node that will be split.
  COMMITTEE_INLINE void start_search() {
    if constexpr (Score::has_kernel()) {
      fill_small_node_code(node_, std::span<const std::uint64_t>(own_).first(n_rows_));
    }
  }
  // And whose subsets of levels are looked at.
  COMMITTEE_INLINE void start_subsets() {
    for (std::size_t i = 0; i < n_rows_; ++i) {
      level_packed_[i] = static_cast<std::int32_t>((own_[i] & 0xFFFF) | (own_[i] >> 32 << 16));
    }
  }
  COMMITTEE_INLINE double impurity() const { return highest_score() - Score::score(&total_); }
  COMMITTEE_INLINE double highest_score() const {
    return CriterionOf<kCriterion>::pure_score(total_weight());
  }

  COMMITTEE_INLINE ByteCut best_cut(const std::uint8_t* codes, double min_weight,
                                    [[maybe_unused]] double best_score) const {
    if constexpr (Score::has_kernel()) {
      ByteCut cut = best_small_gini_cut_code(
          node_, codes, {total_weight(), ones(), min_weight, false, best_score});
      cut.score = gini_score(cut.score, total_weight(), ones());
      return cut;
    } else {
      return best_sorted_cut(codes, min_weight, 0.0);
    }
  }

  COMMITTEE_INLINE ByteCut best_subset(const std::uint8_t* codes, const SubsetLimits& limits,
                                       Lanes& sides) const {
    alignas(32) RowNumbers places;
    ByteCut cut;
    if constexpr (Score::has_kernel()) {
      cut = best_gini_subset(level_packed_, codes, n_rows_,
                             {total_weight(), ones(), limits.min_weight}, limits, places);
      if (cut.exists && cut.score > limits.best_score) {
        note_sides(places, cut.last_left, n_rows_, sides);
      }
    } else {
      alignas(32) Lanes ranks;
      place_by_share(level_packed_, codes, n_rows_, places);
      rank_places(places, n_rows_, ranks.data());
      cut = best_sorted_cut(ranks.data(), limits.min_weight, limits.penalty);
      if (cut.exists && cut.score > limits.best_score) {
        note_sides(ranks, cut.last_left, n_rows_, sides);
      }
    }
    return cut;
  }

 private:
  COMMITTEE_INLINE double total_weight() const { return static_cast<double>(weight()); }
  COMMITTEE_INLINE double ones() const { return static_cast<double>(total_ >> 32); }

  COMMITTEE_INLINE ByteCut make_cut(std::uint64_t left, std::uint32_t last_left,
                                    double min_weight) const {
    ByteCut cut;
    const auto weight = static_cast<double>(left & 0xFFFFFFFFULL);
    if (weight < min_weight || total_weight() - weight < min_weight) return cut;
    const std::uint64_t right = total_ - left;
    cut.exists = true;
    cut.last_left = last_left;
    cut.left_weight = weight;
    cut.score = Score::score(&left) + Score::score(&right);
    return cut;
  }

  COMMITTEE_INLINE ByteCut best_sorted_cut(const std::uint8_t* codes, double min_weight,
                                           double penalty) const {
    alignas(32) Lanes order;
    sort_codes_code(codes, n_rows_, order.data());
    ByteCut best;
    std::uint64_t left = 0;
    for (std::size_t i = 0; i + 1 < n_rows_; ++i) {
      left += own_[order[i]];
      if (codes[order[i + 1]] == codes[order[i]]) continue;
      ByteCut cut = make_cut(left, codes[order[i]], min_weight);
      cut.score -= penalty;
      if (cut.exists && (!best.exists || cut.score > best.score)) best = cut;
    }
    return best;
  }

  const std::uint64_t* rows_ = nullptr;  // of the subtree, packed as in RowStatistics
  std::array<std::uint64_t, kRows> own_;
  std::size_t n_rows_ = 0;
  std::uint64_t total_ = 0;
  SmallNode node_;
  alignas(32) RowNumbers level_packed_;  // as place_by_share wants it
};

// Any number of classes, Gini; up to kClassLanes of them in a node.
class ClassRows {
 public:
  static bool serves(const FitData& data, const GrowOptions& options) {
    return data.statistics.layout == StatisticLayout::kClassCounts && data.target.n_outputs == 1 &&
           options.criterion == Criterion::kGini && data.target.n_classes[0] <= 64;
  }

  COMMITTEE_INLINE bool prepare(const RowStatistics& rows, std::size_t begin, std::size_t n_rows) {
    slots_ = rows.slots.data() + begin;
    n_classes_ = rows.cell_size;
    weights_ = rows.weights.data() + begin;
    std::int64_t total = 0;
    std::uint64_t classes = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      total += weights_[i];
      classes |= std::uint64_t{1} << slots_[i];
    }
    return total <= kSmallNodeWeight &&
           static_cast<std::size_t>(std::popcount(classes)) <= kClassLanes;
  }

  COMMITTEE_INLINE void start(const Lanes& lanes, std::size_t n_rows) {
    n_rows_ = n_rows;
    weight_ = 0;
    classes_ = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      own_weights_[i] = static_cast<std::int32_t>(weights_[lanes[i]]);
      own_slots_[i] = static_cast<std::uint8_t>(slots_[lanes[i]]);
      weight_ += own_weights_[i];
      classes_ |= std::uint64_t{1} << own_slots_[i];
    }
  }
  COMMITTEE_INLINE std::int64_t weight() const { return weight_; }
  COMMITTEE_INLINE bool is_pure() const { return (classes_ & (classes_ - 1)) == 0; }
  COMMITTEE_INLINE static bool is_too_coarse() { return false; }

  COMMITTEE_INLINE void start_search() {
    totals_.fill(0);
    for (std::size_t i = 0; i < n_rows_; ++i) {
      const std::uint64_t below = (std::uint64_t{1} << own_slots_[i]) - 1;
      own_lanes_[i] = static_cast<std::uint8_t>(std::popcount(classes_ & below));
      totals_[own_lanes_[i]] += own_weights_[i];
    }
    is_binary_ = std::popcount(classes_) == 2;
    if (!is_binary_) return;
    std::array<std::uint64_t, kRows> packed;
    for (std::size_t i = 0; i < n_rows_; ++i) {
      const auto weight = static_cast<std::uint64_t>(own_weights_[i]);
      packed[i] = weight | (weight << 32 & (0 - std::uint64_t{own_lanes_[i]}));
    }
    fill_small_node_code(node_, std::span<const std::uint64_t>(packed).first(n_rows_));
  }

  COMMITTEE_INLINE static void start_subsets() {}
  COMMITTEE_INLINE double impurity() const {
    double squares = 0.0;
    for (const std::int32_t total : totals_) {
      squares += static_cast<double>(total) * static_cast<double>(total);
    }
    return highest_score() - squares / highest_score();
  }
  COMMITTEE_INLINE double highest_score() const { return static_cast<double>(weight_); }

  // Levels in the order of their share of each class in turn. In that of a class that the node does
  // not have they are ordered by code; once is enough.
  COMMITTEE_INLINE ByteCut best_subset(const std::uint8_t* codes, const SubsetLimits& limits,
                                       Lanes& sides) const {
    alignas(32) RowNumbers packed;
    alignas(32) RowNumbers places;
    alignas(32) Lanes ranks;
    ByteCut best;
    best.score = limits.best_score;
    const auto n_first = static_cast<std::size_t>(std::countr_one(classes_));  // without a gap
    const auto n_present = static_cast<std::size_t>(std::popcount(classes_));
    const std::size_t n_orders = n_present + (n_present < n_classes_ ? 1 : 0);
    for (std::size_t order = 0; order < n_orders; ++order) {
      if (order == n_first) {
        std::copy_n(codes, n_rows_, ranks.data());
      } else {
        const std::size_t lane = order < n_first ? order : order - 1;
        for (std::size_t i = 0; i < n_rows_; ++i) {
          packed[i] = own_weights_[i] | (own_lanes_[i] == lane ? own_weights_[i] << 16 : 0);
        }
        place_by_share(packed, codes, n_rows_, places);
        rank_places(places, n_rows_, ranks.data());
      }
      const ByteCut cut = best_class_cut(ranks.data(), limits.min_weight, limits.penalty);
      if (!cut.exists || !(cut.score > best.score)) continue;
      best = cut;
      note_sides(ranks, cut.last_left, n_rows_, sides);
    }
    return best;
  }

  COMMITTEE_INLINE ByteCut best_cut(const std::uint8_t* codes, double min_weight,
                                    double best_score) const {
    const auto total = static_cast<double>(weight_);
    if (is_binary_) {
      return best_small_gini_cut_code(
          node_, codes, {total, static_cast<double>(totals_[1]), min_weight, true, best_score});
    }
    return best_class_cut(codes, min_weight, 0.0);
  }

 private:
  COMMITTEE_INLINE ByteCut best_class_cut(const std::uint8_t* codes, double min_weight,
                                          double penalty) const {
    alignas(32) Lanes order;
    sort_codes_code(codes, n_rows_, order.data());
    return best_sorted_class_cut(
        std::span<const std::uint8_t>(order).first(n_rows_), codes, own_lanes_.data(),
        own_weights_.data(), ClassNode{totals_, static_cast<double>(weight_), min_weight, penalty});
  }

  const std::uint32_t* slots_ = nullptr;  // of the subtree
  const std::int64_t* weights_ = nullptr;
  std::size_t n_classes_ = 0;  // of the target
  std::size_t n_rows_ = 0;     // of the node
  std::int64_t weight_ = 0;
  std::uint64_t classes_ = 0;  // a bit for each that is present
  bool is_binary_ = false;
  ClassCell totals_;
  std::array<std::int32_t, kRows> own_weights_;
  Lanes own_slots_;
  Lanes own_lanes_;  // classes numbered without gaps
  SmallNode node_;
};

// One target, squared error.
class SquaredRows {
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

  COMMITTEE_INLINE void start(const Lanes& lanes, std::size_t n_rows) {
    n_rows_ = n_rows;
    weight_ = 0;
    sum_ = 0;
    low_ = high_ = targets_[lanes[0]];
    for (std::size_t i = 0; i < n_rows; ++i) {
      own_[i] = rows_[lanes[i]];
      weight_ += own_[i][0];
      sum_ += own_[i][1];
      const double target = targets_[lanes[i]];
      low_ = target < low_ ? target : low_;
      high_ = target > high_ ? target : high_;
    }
  }
  COMMITTEE_INLINE std::int64_t weight() const { return weight_; }
  COMMITTEE_INLINE bool is_pure() const { return low_ == high_; }
  COMMITTEE_INLINE bool is_too_coarse() const { return is_blurred(low_, high_, reach_); }
  COMMITTEE_INLINE void start_search() {
    total_weight_ = static_cast<double>(weight_);
    mean_ = static_cast<double>(sum_) / total_weight_;
  }

  COMMITTEE_INLINE void start_subsets() {
    impurity_ = 0.0;
    for (std::size_t i = 0; i < n_rows_; ++i) {
      const auto weight = static_cast<double>(own_[i][0]);
      const double deviation = static_cast<double>(own_[i][1]) - weight * mean_;
      impurity_ += deviation * deviation / weight;
    }
  }
  COMMITTEE_INLINE double impurity() const { return impurity_; }
  COMMITTEE_INLINE double highest_score() const { return impurity_; }

  COMMITTEE_INLINE ByteCut best_subset(const std::uint8_t* codes, const SubsetLimits& limits,
                                       Lanes& sides) {
    alignas(32) Doubles means;
    alignas(32) Lanes ranks;
    for (std::size_t i = 0; i < n_rows_; ++i) {
      levels_[codes[i]][0] += own_[i][0];
      levels_[codes[i]][1] += own_[i][1];
    }
    for (std::size_t i = 0; i < n_rows_; ++i) {
      const SumCell& level = levels_[codes[i]];
      means[i] = static_cast<double>(level[1]) / static_cast<double>(level[0]);
    }
    for (std::size_t i = 0; i < n_rows_; ++i) levels_[codes[i]] = SumCell{};
    rank_by_mean(means, codes, n_rows_, ranks.data());
    const ByteCut cut = best_sorted_cut(ranks.data(), limits.min_weight, limits.penalty);
    if (cut.exists && cut.score > limits.best_score) {
      note_sides(ranks, cut.last_left, n_rows_, sides);
    }
    return cut;
  }

  COMMITTEE_INLINE ByteCut best_cut(const std::uint8_t* codes, double min_weight, double) const {
    return best_sorted_cut(codes, min_weight, 0.0);
  }

 private:
  using Doubles = std::array<double, kRows>;

  COMMITTEE_INLINE ByteCut best_sorted_cut(const std::uint8_t* codes, double min_weight,
                                           double penalty) const {
    alignas(32) Lanes order;
    sort_codes_code(codes, n_rows_, order.data());
    alignas(32) std::array<double, kRows> weights;
    alignas(32) std::array<double, kRows> sums;
    alignas(32) std::array<double, kRows> other_sums;
    SumCell left{};
    std::size_t n_present = 0;
    for (std::size_t i = 0; i < n_rows_; ++i) {
      const std::size_t row = order[i];
      left[0] += own_[row][0];
      left[1] += own_[row][1];
      weights[n_present] = static_cast<double>(left[0]);
      sums[n_present] = static_cast<double>(left[1]);
      other_sums[n_present] = static_cast<double>(sum_ - left[1]);
      order[n_present] = codes[row];  // from here on: the codes that are present
      // Rows of the same code write to the same place; the last of them counts.
      n_present += i + 1 == n_rows_ || codes[order[i + 1]] != codes[row] ? 1 : 0;
    }
    return best_of(weights, sums, other_sums, order, n_present - 1, min_weight, penalty);
  }

  // The first of the best of `n_cuts` cuts, four at a time.
  COMMITTEE_INLINE ByteCut best_of(const Doubles& weights, const Doubles& sums,
                                   const Doubles& other_sums, const Lanes& last_left,
                                   std::size_t n_cuts, double min_weight, double penalty) const {
    constexpr double kRefused = -std::numeric_limits<double>::infinity();
    alignas(32) Doubles scores;
    double largest = kRefused;
    for (std::size_t i = 0; i < n_cuts; ++i) {
      const double other_weight = total_weight_ - weights[i];
      const double score =
          squared_cut_score(weights[i], sums[i], other_sums[i], total_weight_, mean_);
      scores[i] =
          weights[i] >= min_weight && other_weight >= min_weight ? score - penalty : kRefused;
    }
    for (std::size_t i = 0; i < n_cuts; ++i) largest = scores[i] > largest ? scores[i] : largest;
    ByteCut best;
    if (largest == kRefused) return best;
    std::size_t index = 0;
    while (scores[index] != largest) ++index;
    best = {largest, last_left[index], 0, weights[index], true};
    return best;
  }

  const SumCell* rows_ = nullptr;  // of the subtree
  const double* targets_ = nullptr;
  double reach_ = 0.0;
  std::size_t n_rows_ = 0;  // of the node
  std::array<SumCell, kRows> own_;
  std::int64_t weight_ = 0;
  std::int64_t sum_ = 0;
  double low_ = 0.0;
  double high_ = 0.0;
  double total_weight_ = 0.0;
  double mean_ = 0.0;
  double impurity_ = 0.0;
  std::array<SumCell, kByteCodes> levels_{};  // all zero between two features
};

}  // namespace committee
