#include "boost/loss_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/simd.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

// Four rows at a time, spelled out: left to themselves, compilers find branches in these loops.
// Passed by reference: how vectors are passed depends on the processor.
constexpr std::size_t kLanes = 4;
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));
using Longs = std::int64_t __attribute__((vector_size(kLanes * sizeof(std::int64_t))));

// e^x for x <= 0, within two units in the last place; e^-708 below -708: x = k ln 2 + r, and the
// series of e^r in Horner's form.
COMMITTEE_INLINE void exp_of_negative(const Doubles& x, Doubles& out) {
  constexpr double kLog2e = 1.4426950408889634;
  constexpr double kLn2High = 0.6931471803691238;  // with room for products with k
  constexpr double kLn2Low = 1.9082149292705877e-10;
  constexpr double kMagic = 6755399441055744.0;  // adding it rounds to a whole number
  constexpr std::array<double, 13> kSeries{1.0 / 479001600.0,
                                           1.0 / 39916800.0,
                                           1.0 / 3628800.0,
                                           1.0 / 362880.0,
                                           1.0 / 40320.0,
                                           1.0 / 5040.0,
                                           1.0 / 720.0,
                                           1.0 / 120.0,
                                           1.0 / 24.0,
                                           1.0 / 6.0,
                                           0.5,
                                           1.0,
                                           1.0};
  const Doubles least = Doubles{} - 708.0;
  const Doubles bounded = x < least ? least : x;
  const Doubles shifted = bounded * kLog2e + kMagic;
  const Doubles k = shifted - kMagic;
  const Doubles r = (bounded - k * kLn2High) - k * kLn2Low;
  Doubles p = Doubles{} + 1.0 / 6227020800.0;
  for (const double coefficient : kSeries) p = p * r + coefficient;
  // The low bits of `shifted` are k: they become the exponent.
  out = reinterpret_cast<Doubles>(reinterpret_cast<Longs>(p) +
                                  (reinterpret_cast<Longs>(shifted) << 52));
}

// Probabilities of both classes; `small` becomes e^-|score|.
COMMITTEE_INLINE void share_lanes(const Doubles& score, Doubles& zero, Doubles& one,
                                  Doubles& small) {
  const Longs is_positive = score >= 0.0;
  exp_of_negative(is_positive ? -score : score, small);
  const Doubles likely = 1.0 / (1.0 + small);  // probability of the side the score is on
  const Doubles unlikely = small * likely;
  one = is_positive ? likely : unlikely;
  zero = is_positive ? unlikely : likely;
}

COMMITTEE_INLINE void log_loss_lanes(const Longs& is_one, const Doubles& score, Doubles& gradient,
                                     Doubles& hessian, Doubles& small) {
  Doubles zero;
  Doubles one;
  share_lanes(score, zero, one, small);
  gradient = is_one != 0 ? -zero : one;
  hessian = zero * one;
}

COMMITTEE_INLINE void read_lanes(const double* from, std::size_t n, Doubles& lanes) {
  if (n == kLanes) {
    std::memcpy(&lanes, from, sizeof(lanes));
  } else {
    lanes = Doubles{};
    std::memcpy(&lanes, from, n * sizeof(double));
  }
}

COMMITTEE_INLINE void read_flags(const std::uint8_t* from, std::size_t n, Longs& lanes) {
  using Bytes = std::uint8_t __attribute__((vector_size(kLanes)));
  Bytes bytes{};
  std::memcpy(&bytes, from, n == kLanes ? kLanes : n);
  lanes = __builtin_convertvector(bytes, Longs);
}

COMMITTEE_INLINE void write_lanes(const Doubles& lanes, std::size_t n, double* to) {
  if (n == kLanes) {
    std::memcpy(to, &lanes, sizeof(lanes));
  } else {
    std::memcpy(to, &lanes, n * sizeof(double));
  }
}

COMMITTEE_INLINE void shares_part_code(const double* scores, std::size_t n_rows, double* shares) {
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Doubles score;
    Doubles zero;
    Doubles one;
    Doubles small;
    read_lanes(scores + i, n, score);
    share_lanes(score, zero, one, small);
    for (std::size_t lane = 0; lane < n; ++lane) {
      shares[2 * (i + lane)] = zero[lane];
      shares[2 * (i + lane) + 1] = one[lane];
    }
  }
}

COMMITTEE_TWICE(void, shares_part, (const double* scores, std::size_t n_rows, double* shares),
                (scores, n_rows, shares))

// log(1 + u) for 0 <= u <= 1, as 2 artanh(u / (2 + u)) by its series.
COMMITTEE_INLINE void log_of_one_plus(const Doubles& u, Doubles& out) {
  constexpr int kTerms = 17;  // the argument is at most 1/3
  const Doubles z = u / (2.0 + u);
  const Doubles square = z * z;
  Doubles p = Doubles{} + 1.0 / (2 * kTerms + 1);
  for (int k = kTerms - 1; k >= 0; --k) p = p * square + 1.0 / (2 * k + 1);
  out = 2.0 * z * p;
}

COMMITTEE_INLINE void log_losses_part_code(const std::uint8_t* is_one, const double* scores,
                                           std::size_t n_rows, double* losses) {
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Longs target;
    Doubles score;
    Doubles small;
    Doubles loss;
    read_flags(is_one + i, n, target);
    read_lanes(scores + i, n, score);
    const Doubles against = target != 0 ? -score : score;  // how far on the wrong side
    const Doubles far = against > 0.0 ? against : -against;
    exp_of_negative(-far, small);
    log_of_one_plus(small, loss);
    loss += against > 0.0 ? against : Doubles{};
    write_lanes(loss, n, losses + i);
  }
}

COMMITTEE_TWICE(void, log_losses_part,
                (const std::uint8_t* is_one, const double* scores, std::size_t n_rows,
                 double* losses),
                (is_one, scores, n_rows, losses))

// log(p) for 1 <= p.
COMMITTEE_INLINE void log_of_product(const Doubles& p, Doubles& out) {
  constexpr std::int64_t kMantissa = (std::int64_t{1} << 52) - 1;
  const Longs bits = reinterpret_cast<Longs>(p);
  const Longs exponent = (bits >> 52) - 1023;
  const Doubles mantissa =
      reinterpret_cast<Doubles>((bits & kMantissa) | (std::int64_t{1023} << 52));
  log_of_one_plus(mantissa - 1.0, out);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out[lane] += static_cast<double>(exponent[lane]) * 0.6931471805599453;
  }
}

// Products of factors of at most two stay small over so many rows.
constexpr std::size_t kBlockRows = 16 * kLanes;
// Below, 1 + u has too few digits of u for a product of such factors.
constexpr double kSmallFactor = 1.0 / 1024;

// Derivatives of a block of rows, and the sum of their losses: one logarithm of a product in place
// of many. `weights`, all 0 or 1, may be null.
COMMITTEE_INLINE double log_loss_block(const std::uint8_t* is_one, const double* scores,
                                       const double* weights, std::size_t n_rows, double* gradients,
                                       double* hessians) {
  Doubles product = Doubles{} + 1.0;
  Doubles linear{};
  Doubles largest{};
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Longs target;
    Doubles score;
    Doubles weight{};
    Doubles gradient;
    Doubles hessian;
    Doubles small;
    read_flags(is_one + i, n, target);
    read_lanes(scores + i, n, score);
    if (weights != nullptr) {
      read_lanes(weights + i, n, weight);
    } else {
      for (std::size_t lane = 0; lane < kLanes; ++lane) weight[lane] = lane < n ? 1.0 : 0.0;
    }
    log_loss_lanes(target, score, gradient, hessian, small);
    write_lanes(gradient, n, gradients + i);
    write_lanes(hessian, n, hessians + i);
    const Doubles against = target != 0 ? -score : score;  // how far on the wrong side
    small *= weight;
    product *= 1.0 + small;
    linear += against > 0.0 ? weight * against : Doubles{};
    largest = small > largest ? small : largest;
  }
  double sum = (linear[0] + linear[1]) + (linear[2] + linear[3]);
  if (std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3])) < kSmallFactor) {
    std::array<double, kBlockRows> losses;
    log_losses_part_code(is_one, scores, n_rows, losses.data());
    sum = 0.0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      sum += weights == nullptr ? losses[i] : weights[i] * losses[i];
    }
    return sum;
  }
  Doubles logs;
  log_of_product(product, logs);
  return sum + ((logs[0] + logs[1]) + (logs[2] + logs[3]));
}

COMMITTEE_INLINE double log_loss_part_code(const std::uint8_t* is_one, const double* scores,
                                           const double* weights, std::size_t n_rows,
                                           double* gradients, double* hessians) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n_rows; i += kBlockRows) {
    const std::size_t n = std::min(kBlockRows, n_rows - i);
    sum += log_loss_block(is_one + i, scores + i, weights == nullptr ? nullptr : weights + i, n,
                          gradients + i, hessians + i);
  }
  return sum;
}

COMMITTEE_TWICE(double, log_loss_part,
                (const std::uint8_t* is_one, const double* scores, const double* weights,
                 std::size_t n_rows, double* gradients, double* hessians),
                (is_one, scores, weights, n_rows, gradients, hessians))

// Gradients of half the squared error, and the sum of the losses.
COMMITTEE_INLINE double squared_error_part_code(const double* target, const double* scores,
                                                const double* weights, std::size_t n_rows,
                                                double* gradients) {
  constexpr double kLargest = 1e300;
  Doubles sum{};
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Doubles number;
    Doubles score;
    read_lanes(target + i, n, number);
    read_lanes(scores + i, n, score);
    Doubles slope = score - number;
    slope = slope > kLargest ? Doubles{} + kLargest : slope;
    slope = slope < -kLargest ? Doubles{} - kLargest : slope;
    write_lanes(slope, n, gradients + i);
    Doubles loss = slope * slope / 2.0;
    if (weights != nullptr) {
      Doubles weight;
      read_lanes(weights + i, n, weight);
      loss = weight != 0.0 ? weight * loss : Doubles{};
    }
    sum += loss;
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

COMMITTEE_TWICE(double, squared_error_part,
                (const double* target, const double* scores, const double* weights,
                 std::size_t n_rows, double* gradients),
                (target, scores, weights, n_rows, gradients))

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

constexpr std::size_t kPartRows = 4096;
// Fewer for several classes: all of them stay in the near caches, and their arrays are on the
// stack.
constexpr std::size_t kClassRows = 512;

// Parts have a fixed size, so that sums do not depend on threads.
template <std::size_t kRows, typename Task>
double sum_of_parts(std::size_t n_rows, std::size_t n_threads, const Task& task) {
  std::vector<double> sums((n_rows + kRows - 1) / kRows);
  parallel_parts(sums.size(), n_threads, [&](std::size_t part) {
    const std::size_t begin = part * kRows;
    sums[part] = task(begin, std::min(kRows, n_rows - begin));
  });
  double sum = 0.0;
  for (const double part : sums) sum += part;
  return sum;
}

template <std::size_t kRows, typename Task>
void for_each_part(std::size_t n_rows, std::size_t n_threads, const Task& task) {
  const std::size_t n_parts = (n_rows + kRows - 1) / kRows;
  parallel_parts(n_parts, n_threads, [&](std::size_t part) {
    const std::size_t begin = part * kRows;
    task(begin, std::min(kRows, n_rows - begin));
  });
}

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
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double own = scores[static_cast<std::size_t>(classes[begin + i]) * n_all + begin + i];
    losses[begin + i] = std::log(sums[i]) + (largest[i] - own);
  }
}

// The sum of -log p of the own class: log(1 + small) + lead, in blocks. `weights`, all 0 or 1, may
// be null.
double sum_multinomial_losses(const double* small, const double* lead, const double* weights,
                              std::size_t n_rows) {
  constexpr std::size_t kFactors = 16;  // of a product, at most a number of classes each
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
        exact += (weights == nullptr ? 1.0 : weights[i]) * std::log1p(small[i]);
      }
    } else {
      exact = std::log(product);
    }
    sum += exact + linear;
  }
  return sum;
}

// What classes add that are not the likeliest, and how many are.
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

namespace {
const double* from(std::span<const double> weights, std::size_t begin) {
  return weights.empty() ? nullptr : weights.data() + begin;
}
}  // namespace

double squared_error_gradients(std::span<const double> target, std::span<const double> scores,
                               std::span<const double> weights, std::span<double> gradients,
                               std::size_t n_threads) {
  return sum_of_parts<kPartRows>(
      scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
        return squared_error_part(target.data() + begin, scores.data() + begin,
                                  from(weights, begin), n_rows, gradients.data() + begin);
      });
}

double log_loss_gradients(std::span<const std::uint8_t> is_one, std::span<const double> scores,
                          std::span<const double> weights, std::span<double> gradients,
                          std::span<double> hessians, std::size_t n_threads) {
  return sum_of_parts<kPartRows>(
      scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
        return log_loss_part(is_one.data() + begin, scores.data() + begin, from(weights, begin),
                             n_rows, gradients.data() + begin, hessians.data() + begin);
      });
}

void log_losses(std::span<const std::uint8_t> is_one, std::span<const double> scores,
                std::span<double> losses, std::size_t n_threads) {
  for_each_part<kPartRows>(scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    log_losses_part(is_one.data() + begin, scores.data() + begin, n_rows, losses.data() + begin);
  });
}

void log_loss_shares(std::span<const double> scores, std::span<double> shares,
                     std::size_t n_threads) {
  for_each_part<kPartRows>(scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    shares_part(scores.data() + begin, n_rows, shares.data() + 2 * begin);
  });
}

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
                                scores.data(), from(weights, 0), gradients.data(), hessians.data());
      });
}

}  // namespace committee
