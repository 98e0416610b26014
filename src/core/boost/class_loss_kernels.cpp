// The losses of several classes; see loss_kernels.hpp.
#include <algorithm>
#include <array>

#include "base/portable_math.hpp"
#include "base/simd.hpp"
#include "base/thread_pool.hpp"
#include "base/vector_math.hpp"
#include "boost/loss_kernels.hpp"

namespace committee {
namespace {

// All classes of a part stay in the near caches, and their arrays are on the stack.
constexpr std::size_t kClassRows = 512;

// exps[i] = e^(scores[i] - largest[i]), and their sums.
COMMITTEE_INLINE void add_exps_code(const double* scores, const double* largest, std::size_t n_rows,
                                    double* exps, double* sums) {
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Doubles score;
    Doubles top;
    Doubles sum;
    Doubles result;
    read_lanes(scores + i, n, score);
    read_lanes(largest + i, n, top);
    read_lanes(sums + i, n, sum);
    exp_of_negative(score - top, result);
    write_lanes(result, n, exps + i);
    write_lanes(sum + result, n, sums + i);
  }
}

COMMITTEE_TWICE(void, add_exps,
                (const double* scores, const double* largest, std::size_t n_rows, double* exps,
                 double* sums),
                (scores, largest, n_rows, exps, sums))

// The largest score of each row.
COMMITTEE_INLINE void find_largest_code(const double* scores, std::size_t n_classes,
                                        std::size_t n_all, std::size_t begin, std::size_t n_rows,
                                        double* __restrict largest) {
  std::copy_n(scores + begin, n_rows, largest);
  for (std::size_t k = 1; k < n_classes; ++k) {
    const double* own = scores + k * n_all + begin;
    for (std::size_t i = 0; i < n_rows; ++i) largest[i] = own[i] > largest[i] ? own[i] : largest[i];
  }
}

COMMITTEE_TWICE(void, find_largest,
                (const double* scores, std::size_t n_classes, std::size_t n_all, std::size_t begin,
                 std::size_t n_rows, double* largest),
                (scores, n_classes, n_all, begin, n_rows, largest))

// Sums of exponentials, the largest of them one, become their logarithms.
COMMITTEE_INLINE void log_sums_code(double* sums, std::size_t n_rows) {
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Doubles sum;
    Doubles logs;
    read_lanes(sums + i, n, sum);
    log_of_product(sum, logs);
    write_lanes(logs, n, sums + i);
  }
}

COMMITTEE_TWICE(void, log_sums, (double* sums, std::size_t n_rows), (sums, n_rows))

void multinomial_losses_part(const std::int32_t* classes, std::size_t n_classes, std::size_t n_all,
                             std::size_t begin, std::size_t n_rows, const double* scores,
                             double* losses) {
  std::array<double, kClassRows> largest;
  std::array<double, kClassRows> sums{};
  std::array<double, kClassRows> exps;
  find_largest(scores, n_classes, n_all, begin, n_rows, largest.data());
  for (std::size_t k = 0; k < n_classes; ++k) {
    add_exps(scores + k * n_all + begin, largest.data(), n_rows, exps.data(), sums.data());
  }
  log_sums(sums.data(), n_rows);
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double own = scores[static_cast<std::size_t>(classes[begin + i]) * n_all + begin + i];
    losses[begin + i] = sums[i] + (largest[i] - own);
  }
}

// The sum of -log p of the own class: log(1 + small) + lead, in blocks. `weights`, all 0 or 1, may
// be null.
double sum_multinomial_losses(const double* small, const double* lead, const double* weights,
                              std::size_t n_rows) {
  constexpr std::size_t kFactors = 16;  // in one product, each at most n_classes
  double sum = 0.0;
  for (std::size_t begin = 0; begin < n_rows; begin += kFactors) {
    const std::size_t end = std::min(begin + kFactors, n_rows);
    double product = 1.0;
    double linear = 0.0;
    double exact = 0.0;
    double largest = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      const double weight = weights == nullptr ? 1.0 : weights[i];
      product *= 1.0 + weight * small[i];
      linear += weight * lead[i];
      largest = std::max(largest, weight * small[i]);
    }
    if (largest < kSmallFactor) {
      for (std::size_t i = begin; i < end; ++i) {
        exact += (weights == nullptr ? 1.0 : weights[i]) * log1p_of(small[i]);
      }
    } else {
      exact = log_of(product);
    }
    sum += exact + linear;
  }
  return sum;
}

// Sum of the terms of the classes that are not the likeliest, and how many classes are likeliest.
COMMITTEE_INLINE void add_others_code(const double* __restrict exps, std::size_t n_rows,
                                      double* __restrict others, double* __restrict n_largest) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double is_largest = exps[i] == 1.0 ? 1.0 : 0.0;
    others[i] += exps[i] * (1.0 - is_largest);
    n_largest[i] += is_largest;
  }
}

COMMITTEE_TWICE(void, add_others,
                (const double* exps, std::size_t n_rows, double* others, double* n_largest),
                (exps, n_rows, others, n_largest))

// From e^(score - largest) in `gradients` to the derivatives of one class.
COMMITTEE_INLINE void finish_class_code(const std::int32_t* __restrict classes, std::int32_t own,
                                        const double* __restrict sums,
                                        const double* __restrict small, std::size_t n_rows,
                                        double* __restrict gradients, double* __restrict hessians) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double e = gradients[i];
    const double inverse = 1.0 / sums[i];
    const double p = e * inverse;
    const double beside = e == 1.0 ? small[i] : sums[i] - e;
    const double rest = beside * inverse;
    hessians[i] = p * rest;
    gradients[i] = classes[i] == own ? -rest : p;
  }
}

COMMITTEE_TWICE(void, finish_class,
                (const std::int32_t* classes, std::int32_t own, const double* sums,
                 const double* small, std::size_t n_rows, double* gradients, double* hessians),
                (classes, own, sums, small, n_rows, gradients, hessians))

double multinomial_part(const std::int32_t* classes, std::size_t n_classes, std::size_t n_all,
                        std::size_t begin, std::size_t n_rows, const double* scores,
                        const double* weights, double* gradients, double* hessians) {
  std::array<double, kClassRows> largest;
  std::array<double, kClassRows> sums{};
  find_largest(scores, n_classes, n_all, begin, n_rows, largest.data());
  for (std::size_t k = 0; k < n_classes; ++k) {
    const std::size_t first = k * n_all + begin;
    add_exps(scores + first, largest.data(), n_rows, gradients + first, sums.data());
  }
  // Next to a sum of one, what the other classes add would lose its digits: kept apart.
  std::array<double, kClassRows> others{};
  std::array<double, kClassRows> n_largest{};
  for (std::size_t k = 0; k < n_classes; ++k) {
    add_others(gradients + k * n_all + begin, n_rows, others.data(), n_largest.data());
  }
  std::array<double, kClassRows> small;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double own = scores[static_cast<std::size_t>(classes[begin + i]) * n_all + begin + i];
    small[i] = others[i] + (n_largest[i] - 1.0);
    largest[i] -= own;
  }
  const double loss = sum_multinomial_losses(
      small.data(), largest.data(), weights == nullptr ? nullptr : weights + begin, n_rows);
  for (std::size_t k = 0; k < n_classes; ++k) {
    finish_class(classes + begin, static_cast<std::int32_t>(k), sums.data(), small.data(), n_rows,
                 gradients + k * n_all + begin, hessians + k * n_all + begin);
  }
  return loss;
}

}  // namespace

void multinomial_losses(std::span<const std::int32_t> classes, std::size_t n_classes,
                        std::span<const double> scores, std::span<double> losses,
                        std::size_t n_threads) {
  for_each_part<kClassRows>(classes.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    multinomial_losses_part(classes.data(), n_classes, classes.size(), begin, n_rows, scores.data(),
                            losses.data());
  });
}

double multinomial_gradients(std::span<const std::int32_t> classes, std::size_t n_classes,
                             std::span<const double> scores, std::span<const double> weights,
                             std::span<double> gradients, std::span<double> hessians,
                             std::size_t n_threads) {
  return sum_of_parts<kClassRows>(
      classes.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
        return multinomial_part(classes.data(), n_classes, classes.size(), begin, n_rows,
                                scores.data(), weights.empty() ? nullptr : weights.data(),
                                gradients.data(), hessians.data());
      });
}

}  // namespace committee
