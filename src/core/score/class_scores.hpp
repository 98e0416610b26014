// How good a set of rows is, as a *score* of its statistic: criteria of classes.
//
// Scores add up: splitting a node gains score(left) + score(right) - score(node), which is the
// weighted decrease of impurity times `unit()`, in the units of StatisticOptions. `pair` is
// score(left) + score(right) for two sides that make up the node, computed in the form that its
// vector kernel uses (score_kernels.hpp) where there is one. `start` makes a score ready for a
// node. `impurity` is the total impurity of the node in units of scores. `value` is what a leaf of
// these rows predicts, for monotone constraints.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "score/criterion.hpp"
#include "score/score_kernels.hpp"
#include "score/statistic.hpp"

namespace committee {

// One output with two classes, weights that count repetitions.
template <Criterion kCriterion>
class BinaryScore {
  using Of = CriterionOf<kCriterion>;

 public:
  using Adder = BinaryAdder;
  using Cell = Adder::Cell;

  void start(const RowStatistics& rows, const Cell* total) {
    unit_ = std::ldexp(1.0, -rows.weight_magnitude);
    total_ = static_cast<double>(static_cast<std::uint32_t>(*total));
    ones_ = static_cast<double>(static_cast<std::uint32_t>(*total >> 32));
  }

  static constexpr bool has_kernel() { return kCriterion == Criterion::kGini; }
  double total_weight() const { return total_; }
  double total_ones() const { return ones_; }
  double from_kernel(double value) const { return gini_score(value, total_, ones_); }

  double pair(const Cell* left, const Cell* right) const {
    if constexpr (has_kernel()) {
      return from_kernel(gini_cut_score(
          static_cast<double>(static_cast<std::uint32_t>(*left)),
          static_cast<double>(static_cast<std::uint32_t>(*left >> 32)), total_, ones_));
    } else {
      return score(left) + score(right);
    }
  }

  static double score(const Cell* cell) {
    const std::uint64_t total = *cell & 0xFFFFFFFFULL;
    const std::uint64_t ones = *cell >> 32;
    return Of::score(Of::join(Of::term(ones), Of::term(total - ones)), total);
  }
  static double impurity(const RowStatistics&, std::span<const std::uint32_t>, const Cell* total) {
    const auto weight = static_cast<double>(*total & 0xFFFFFFFFULL);
    return Of::pure_score(weight) - score(total);
  }
  static double value(const Cell* cell) {
    return static_cast<double>(*cell >> 32) / static_cast<double>(*cell & 0xFFFFFFFFULL);
  }
  double unit() const { return unit_; }
  static bool is_pure(const RowStatistics&, std::span<const std::uint32_t>, const Cell* total) {
    const std::uint64_t ones = *total >> 32;
    return ones == 0 || ones == (*total & 0xFFFFFFFFULL);
  }
  // Statistics to order the levels of a category by: the share of class 1 is enough.
  static std::size_t n_orders() { return 1; }
  static double order(const Cell* cell, std::size_t) { return value(cell); }

 private:
  double unit_ = 1.0;
  double total_ = 0.0;
  double ones_ = 0.0;
};

// Any number of classes and outputs; the scores of the outputs add up.
template <Criterion kCriterion>
class ClassScore {
 public:
  using Adder = ClassAdder;
  using Cell = Adder::Cell;

  void start(const RowStatistics& rows, const Cell*) {
    first_class_ = rows.first_class;
    unit_ = std::ldexp(1.0, -rows.weight_exponent - rows.weight_magnitude) /
            static_cast<double>(rows.n_outputs);
  }

  static constexpr bool has_kernel() { return false; }
  double pair(const Cell* left, const Cell* right) const { return score(left) + score(right); }

  double score(const Cell* cell) const {
    double sum = 0.0;
    for (std::size_t output = 0; output + 1 < first_class_.size(); ++output) {
      const std::uint32_t first = first_class_[output];
      sum += class_score<kCriterion, std::int64_t>(cell + first, first_class_[output + 1] - first);
    }
    return sum;
  }
  double impurity(const RowStatistics&, std::span<const std::uint32_t>, const Cell* total) const {
    double weight = 0.0;
    for (std::size_t i = 0; i < first_class_.back(); ++i) weight += static_cast<double>(total[i]);
    return CriterionOf<kCriterion>::pure_score(weight) - score(total);
  }
  double value(const Cell* cell) const {
    return static_cast<double>(cell[1]) / static_cast<double>(cell[0] + cell[1]);
  }
  double unit() const { return unit_; }
  bool is_pure(const RowStatistics&, std::span<const std::uint32_t>, const Cell* total) const {
    std::size_t n_present = 0;
    for (std::size_t i = 0; i < first_class_.back(); ++i) n_present += total[i] != 0 ? 1 : 0;
    return n_present + 1 == first_class_.size();
  }
  // Levels are ordered by the share of one class after the other; with two classes of one
  // output one order is enough.
  std::size_t n_orders() const { return first_class_.back() == 2 ? 1 : first_class_.back(); }
  double order(const Cell* cell, std::size_t index) const {
    double total = 0.0;
    for (std::size_t i = 0; i < first_class_[1]; ++i) total += static_cast<double>(cell[i]);
    return static_cast<double>(cell[n_orders() == 1 ? 1 : index]) / total;
  }

 private:
  std::vector<std::uint32_t> first_class_;
  double unit_ = 1.0;
};

}  // namespace committee
