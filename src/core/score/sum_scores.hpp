// How good a set of rows is, as a score of the sums of its targets; class_scores.hpp has what the
// functions of a score are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "score/impurity.hpp"
#include "score/score_kernels.hpp"
#include "score/statistic.hpp"

namespace committee {

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
