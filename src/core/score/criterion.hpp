// How good a set of rows is, as a *score* of its statistic.
//
// Scores add up: splitting a node gains score(left) + score(right) - score(node), which is the
// weighted decrease of impurity times `unit()`, in the units of StatisticOptions. `pair` is
// score(left) + score(right) for two sides that make up the node, computed in the form that its
// vector kernel uses (score_kernels.hpp) where there is one. `start` makes a score ready for a
// node. `impurity` is the total impurity of the node in units of scores. `value` is what a leaf of
// these rows predicts, for monotone constraints.
//
// A new criterion of classes is an entry of `Criterion`, a specialisation of `CriterionOf` and a
// case of `visit_criterion`; everything else follows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/deviance.hpp"
#include "score/score_kernels.hpp"
#include "score/statistic.hpp"

namespace committee {

// Files hold these numbers.
enum class Criterion : std::uint8_t {
  kGini = 0,
  kEntropy = 1,
  kError = 2,
  kSquaredError = 3,
  kAbsoluteError = 4,
  kPoisson = 5,
};
constexpr Criterion kLastCriterion = Criterion::kPoisson;

inline double x_log2_x(double x) { return x > 0.0 ? x * std::log2(x) : 0.0; }

// The same for a whole number: looked up where it is small, as nearly all are in deep nodes.
class WholeLogs {
 public:
  static double x_log2_x(std::uint64_t x) {
    static const WholeLogs logs;
    return x < kSize ? logs.table_[x] : committee::x_log2_x(static_cast<double>(x));
  }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 14;
  WholeLogs() : table_(kSize) {
    for (std::size_t x = 0; x < kSize; ++x) {
      table_[x] = committee::x_log2_x(static_cast<double>(x));
    }
  }
  std::vector<double> table_;
};

// What sets one criterion apart: its name, whether it is one of classes, and the power of the
// target's unit that its impurity is in. A criterion of classes also has
//   term        what the weight of one class adds to a score,
//   join        how two terms are put together,
//   score       the score of rows, from the terms of their classes and their total weight,
//   pure_score  the score of rows of a single class, which no other rows of that weight exceed.
// Weights are whole numbers or doubles.
template <Criterion kCriterion>
struct CriterionOf;

template <>
struct CriterionOf<Criterion::kGini> {
  static constexpr std::string_view kName = "gini";
  static constexpr bool kIsOfClasses = true;
  static constexpr int kTargetPower = 0;

  template <typename Weight>
  static double term(Weight weight) {
    return static_cast<double>(weight) * static_cast<double>(weight);
  }
  static double join(double left, double right) { return left + right; }
  template <typename Weight>
  static double score(double terms, Weight total) {
    return terms / static_cast<double>(total);
  }
  static double pure_score(double total) { return total; }
};

template <>
struct CriterionOf<Criterion::kEntropy> {
  static constexpr std::string_view kName = "entropy";
  static constexpr bool kIsOfClasses = true;
  static constexpr int kTargetPower = 0;

  template <typename Weight>
  static double term(Weight weight) {
    if constexpr (std::is_integral_v<Weight>) {
      return WholeLogs::x_log2_x(static_cast<std::uint64_t>(weight));
    } else {
      return x_log2_x(weight);
    }
  }
  static double join(double left, double right) { return left + right; }
  template <typename Weight>
  static double score(double terms, Weight total) {
    return terms - term(total);
  }
  static double pure_score(double) { return 0.0; }
};

template <>
struct CriterionOf<Criterion::kError> {
  static constexpr std::string_view kName = "error";
  static constexpr bool kIsOfClasses = true;
  static constexpr int kTargetPower = 0;

  template <typename Weight>
  static double term(Weight weight) {
    return static_cast<double>(weight);
  }
  static double join(double left, double right) { return std::max(left, right); }
  template <typename Weight>
  static double score(double terms, Weight) {
    return terms;
  }
  static double pure_score(double total) { return total; }
};

template <>
struct CriterionOf<Criterion::kSquaredError> {
  static constexpr std::string_view kName = "squared_error";
  static constexpr bool kIsOfClasses = false;
  static constexpr int kTargetPower = 2;
};

template <>
struct CriterionOf<Criterion::kAbsoluteError> {
  static constexpr std::string_view kName = "absolute_error";
  static constexpr bool kIsOfClasses = false;
  static constexpr int kTargetPower = 1;
};

template <>
struct CriterionOf<Criterion::kPoisson> {
  static constexpr std::string_view kName = "poisson";
  static constexpr bool kIsOfClasses = false;
  static constexpr int kTargetPower = 1;
};

template <Criterion kCriterion>
using CriterionConstant = std::integral_constant<Criterion, kCriterion>;

// Calls `visit` with the criterion as a constant. The only place that lists all criteria.
template <typename Visit>
auto visit_criterion(Criterion criterion, Visit&& visit) {
  switch (criterion) {
    case Criterion::kGini:
      return visit(CriterionConstant<Criterion::kGini>{});
    case Criterion::kEntropy:
      return visit(CriterionConstant<Criterion::kEntropy>{});
    case Criterion::kError:
      return visit(CriterionConstant<Criterion::kError>{});
    case Criterion::kSquaredError:
      return visit(CriterionConstant<Criterion::kSquaredError>{});
    case Criterion::kAbsoluteError:
      return visit(CriterionConstant<Criterion::kAbsoluteError>{});
    case Criterion::kPoisson:
      return visit(CriterionConstant<Criterion::kPoisson>{});
  }
  throw std::logic_error("unknown criterion");
}

// The same for a criterion of classes; any other is an error.
template <typename Visit>
auto visit_class_criterion(Criterion criterion, Visit&& visit) {
  using Result = std::invoke_result_t<Visit&, CriterionConstant<Criterion::kGini>>;
  return visit_criterion(
      criterion, [&]<Criterion kCriterion>(CriterionConstant<kCriterion> constant) -> Result {
        if constexpr (CriterionOf<kCriterion>::kIsOfClasses) {
          return visit(constant);
        } else {
          throw std::logic_error("the criterion is not one of classes");
        }
      });
}

inline bool is_class_criterion(Criterion criterion) {
  return visit_criterion(criterion, []<Criterion kCriterion>(CriterionConstant<kCriterion>) {
    return CriterionOf<kCriterion>::kIsOfClasses;
  });
}
inline std::string_view criterion_name(Criterion criterion) {
  return visit_criterion(criterion, []<Criterion kCriterion>(CriterionConstant<kCriterion>) {
    return CriterionOf<kCriterion>::kName;
  });
}
inline int target_power(Criterion criterion) {
  return visit_criterion(criterion, []<Criterion kCriterion>(CriterionConstant<kCriterion>) {
    return CriterionOf<kCriterion>::kTargetPower;
  });
}

// The score of rows from the weights of their classes, which are added up as numbers of type Sum.
template <Criterion kCriterion, typename Sum>
double class_score(const std::int64_t* weights, std::size_t n_classes) {
  using Of = CriterionOf<kCriterion>;
  Sum total{};
  double terms = 0.0;
  for (std::size_t i = 0; i < n_classes; ++i) {
    const auto weight = static_cast<Sum>(weights[i]);
    total += weight;
    terms = Of::join(terms, Of::term(weight));
  }
  return Of::score(terms, total);
}

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

// Squared error: with sums taken around the mean of the node, score(node) is zero and the
// difference of large numbers that would cancel never arises.
class SquaredScore {
 public:
  using Adder = SumAdder;
  using Cell = Adder::Cell;

  void start(const RowStatistics& rows, const Cell* total) {
    centres_ = rows.centres;
    sum_exponents_ = rows.sum_exponents;
    weight_exponent_ = rows.weight_exponent;
    means_.clear();
    factors_.clear();
    const int coarsest = *std::min_element(sum_exponents_.begin(), sum_exponents_.end());
    for (std::size_t output = 0; output < centres_.size(); ++output) {
      means_.push_back(static_cast<double>(total[1 + output]) / static_cast<double>(total[0]));
      factors_.push_back(std::ldexp(1.0, 2 * (coarsest - sum_exponents_[output])));
    }
    unit_ = std::ldexp(1.0, weight_exponent_ - rows.weight_magnitude -
                                2 * (coarsest + rows.target_magnitude)) /
            static_cast<double>(centres_.size());
    total_weight_ = static_cast<double>(total[0]);
    total_sum_ = total[1];
  }

  bool has_kernel() const { return means_.size() == 1; }
  double total_weight() const { return total_weight_; }
  std::int64_t total_sum() const { return total_sum_; }
  double mean() const { return means_[0]; }
  static double from_kernel(double value) { return value; }

  double pair(const Cell* left, const Cell* right) const {
    if (!has_kernel()) return score(left) + score(right);
    return squared_cut_score(static_cast<double>(left[0]), static_cast<double>(left[1]),
                             static_cast<double>(right[1]), total_weight_, means_[0]);
  }

  double score(const Cell* cell) const {
    const auto weight = static_cast<double>(cell[0]);
    double sum = 0.0;
    for (std::size_t output = 0; output < means_.size(); ++output) {
      const double deviation = static_cast<double>(cell[1 + output]) - weight * means_[output];
      sum += factors_[output] * (deviation * deviation);
    }
    return sum / weight;
  }
  double impurity(const RowStatistics& rows, std::span<const std::uint32_t> which,
                  const Cell*) const {
    double sum = 0.0;
    for (const std::uint32_t row : which) sum += score(rows.sums.data() + row * rows.cell_size);
    return sum;
  }
  double value(const Cell* cell) const {
    return centres_[0] + std::ldexp(static_cast<double>(cell[1]) / static_cast<double>(cell[0]),
                                    weight_exponent_ - sum_exponents_[0]);
  }
  double unit() const { return unit_; }
  bool is_pure(const RowStatistics& rows, std::span<const std::uint32_t> which, const Cell*) const {
    const std::size_t n_outputs = means_.size();
    for (const std::uint32_t row : which) {
      for (std::size_t output = 0; output < n_outputs; ++output) {
        if (rows.targets[row * n_outputs + output] != rows.targets[which[0] * n_outputs + output]) {
          return false;
        }
      }
    }
    return true;
  }
  std::size_t n_orders() const { return means_.size(); }
  static double order(const Cell* cell, std::size_t index) {
    return static_cast<double>(cell[1 + index]) / static_cast<double>(cell[0]);
  }

 private:
  std::vector<double> centres_;
  std::vector<int> sum_exponents_;
  int weight_exponent_ = 0;
  std::vector<double> means_;
  std::vector<double> factors_;
  double unit_ = 1.0;
  double total_weight_ = 0.0;
  std::int64_t total_sum_ = 0;
};

// Half Poisson deviance, as a function of how far a side's mean is off the mean of the node: like
// SquaredScore it never subtracts large numbers. A side whose targets are all zero would predict
// a rate of zero and is not allowed.
class PoissonScore {
 public:
  using Adder = SumAdder;
  using Cell = Adder::Cell;

  void start(const RowStatistics& rows, const Cell* total) {
    squared_.start(rows, total);
    centres_.clear();
    means_.clear();
    scales_.clear();
    for (std::size_t output = 0; output < rows.centres.size(); ++output) {
      const double scale = std::ldexp(1.0, rows.weight_exponent - rows.sum_exponents[output]);
      centres_.push_back(static_cast<double>(total[1 + output]) / static_cast<double>(total[0]));
      means_.push_back(rows.centres[output] + centres_.back() * scale);
      scales_.push_back(means_.back() > 0.0 ? scale / means_.back() : 0.0);
    }
    unit_ = std::ldexp(1.0, -rows.weight_exponent - rows.weight_magnitude - rows.target_magnitude) /
            static_cast<double>(means_.size());
  }

  static constexpr bool has_kernel() { return false; }
  double pair(const Cell* left, const Cell* right) const { return score(left) + score(right); }

  double score(const Cell* cell) const {
    for (std::size_t output = 0; output < means_.size(); ++output) {
      const std::int64_t n_positive = cell[1 + means_.size() + output];
      if (n_positive == 0) return -std::numeric_limits<double>::infinity();
    }
    return rate_score(cell);
  }
  double impurity(const RowStatistics& rows, std::span<const std::uint32_t> which,
                  const Cell*) const {
    double sum = 0.0;
    for (const std::uint32_t row : which)
      sum += rate_score(rows.sums.data() + row * rows.cell_size);
    return sum;
  }
  double value(const Cell* cell) const { return squared_.value(cell); }
  double unit() const { return unit_; }
  bool is_pure(const RowStatistics& rows, std::span<const std::uint32_t> which,
               const Cell* total) const {
    return squared_.is_pure(rows, which, total);
  }
  std::size_t n_orders() const { return means_.size(); }
  static double order(const Cell* cell, std::size_t index) {
    return SquaredScore::order(cell, index);
  }

 private:
  // How far the mean of a side is off the mean of the node, as a fraction of the latter.
  double fraction(const Cell* cell, std::size_t output) const {
    const double mean = static_cast<double>(cell[1 + output]) / static_cast<double>(cell[0]);
    return (mean - centres_[output]) * scales_[output];
  }
  double rate_score(const Cell* cell) const {
    double sum = 0.0;
    for (std::size_t output = 0; output < means_.size(); ++output) {
      sum += means_[output] * half_deviance(fraction(cell, output));
    }
    return static_cast<double>(cell[0]) * sum;
  }

  SquaredScore squared_;
  std::vector<double> centres_;  // mean of the node in units of the grid
  std::vector<double> means_;    // and in units of the target
  std::vector<double> scales_;
  double unit_ = 1.0;
};

}  // namespace committee
