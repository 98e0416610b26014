#include "loss_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "simd.hpp"
#include "thread_pool.hpp"

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

// Probabilities of both classes.
COMMITTEE_INLINE void share_lanes(const Doubles& score, Doubles& zero, Doubles& one) {
  const Longs is_positive = score >= 0.0;
  Doubles small;
  exp_of_negative(is_positive ? -score : score, small);
  const Doubles likely = 1.0 / (1.0 + small);  // probability of the side the score is on
  const Doubles unlikely = small * likely;
  one = is_positive ? likely : unlikely;
  zero = is_positive ? unlikely : likely;
}

COMMITTEE_INLINE void log_loss_lanes(const Doubles& is_one, const Doubles& score, Doubles& gradient,
                                     Doubles& hessian) {
  Doubles zero;
  Doubles one;
  share_lanes(score, zero, one);
  gradient = is_one != 0.0 ? -zero : one;
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

COMMITTEE_INLINE void write_lanes(const Doubles& lanes, std::size_t n, double* to) {
  if (n == kLanes) {
    std::memcpy(to, &lanes, sizeof(lanes));
  } else {
    std::memcpy(to, &lanes, n * sizeof(double));
  }
}

COMMITTEE_INLINE void log_loss_part_code(const double* is_one, const double* scores,
                                         std::size_t n_rows, double* gradients, double* hessians) {
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Doubles target;
    Doubles score;
    Doubles gradient;
    Doubles hessian;
    read_lanes(is_one + i, n, target);
    read_lanes(scores + i, n, score);
    log_loss_lanes(target, score, gradient, hessian);
    write_lanes(gradient, n, gradients + i);
    write_lanes(hessian, n, hessians + i);
  }
}

COMMITTEE_TWICE(void, log_loss_part,
                (const double* is_one, const double* scores, std::size_t n_rows, double* gradients,
                 double* hessians),
                (is_one, scores, n_rows, gradients, hessians))

COMMITTEE_INLINE void shares_part_code(const double* scores, std::size_t n_rows, double* shares) {
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Doubles score;
    Doubles zero;
    Doubles one;
    read_lanes(scores + i, n, score);
    share_lanes(score, zero, one);
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

COMMITTEE_INLINE void log_losses_part_code(const double* is_one, const double* scores,
                                           std::size_t n_rows, double* losses) {
  for (std::size_t i = 0; i < n_rows; i += kLanes) {
    const std::size_t n = std::min(kLanes, n_rows - i);
    Doubles target;
    Doubles score;
    Doubles small;
    Doubles loss;
    read_lanes(is_one + i, n, target);
    read_lanes(scores + i, n, score);
    const Doubles against = target != 0.0 ? -score : score;  // how far on the wrong side
    const Doubles far = against > 0.0 ? against : -against;
    exp_of_negative(-far, small);
    log_of_one_plus(small, loss);
    loss += against > 0.0 ? against : Doubles{};
    write_lanes(loss, n, losses + i);
  }
}

COMMITTEE_TWICE(void, log_losses_part,
                (const double* is_one, const double* scores, std::size_t n_rows, double* losses),
                (is_one, scores, n_rows, losses))

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

template <typename Task>
void for_each_part(std::size_t n_rows, std::size_t n_threads, const Task& task) {
  const std::size_t n_parts = (n_rows + kPartRows - 1) / kPartRows;
  parallel_for(n_parts, n_threads, [&](std::size_t part) {
    const std::size_t begin = part * kPartRows;
    task(begin, std::min(kPartRows, n_rows - begin));
  });
}

// The largest score of each row.
void find_largest(const double* scores, std::size_t n_classes, std::size_t n_all, std::size_t begin,
                  std::size_t n_rows, double* largest) {
  std::copy_n(scores + begin, n_rows, largest);
  for (std::size_t k = 1; k < n_classes; ++k) {
    const double* own = scores + k * n_all + begin;
    for (std::size_t i = 0; i < n_rows; ++i) largest[i] = std::max(largest[i], own[i]);
  }
}

void multinomial_losses_part(const std::int32_t* classes, std::size_t n_classes, std::size_t n_all,
                             std::size_t begin, std::size_t n_rows, const double* scores,
                             double* losses) {
  std::array<double, kPartRows> largest;
  std::array<double, kPartRows> sums{};
  std::array<double, kPartRows> exps;
  find_largest(scores, n_classes, n_all, begin, n_rows, largest.data());
  for (std::size_t k = 0; k < n_classes; ++k) {
    add_exps(scores + k * n_all + begin, largest.data(), n_rows, exps.data(), sums.data());
  }
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double own = scores[static_cast<std::size_t>(classes[begin + i]) * n_all + begin + i];
    losses[begin + i] = std::log(sums[i]) + (largest[i] - own);
  }
}

void multinomial_part(const std::int32_t* classes, std::size_t n_classes, std::size_t n_all,
                      std::size_t begin, std::size_t n_rows, const double* scores,
                      double* gradients, double* hessians) {
  std::array<double, kPartRows> largest;
  std::array<double, kPartRows> sums{};
  find_largest(scores, n_classes, n_all, begin, n_rows, largest.data());
  for (std::size_t k = 0; k < n_classes; ++k) {
    const std::size_t first = k * n_all + begin;
    add_exps(scores + first, largest.data(), n_rows, gradients + first, sums.data());
  }
  // Next to a sum of one, what the other classes add would lose its digits: kept apart.
  std::array<double, kPartRows> others{};
  std::array<double, kPartRows> n_largest{};
  for (std::size_t k = 0; k < n_classes; ++k) {
    const double* const e = gradients + k * n_all + begin;
    for (std::size_t i = 0; i < n_rows; ++i) {
      others[i] += e[i] == 1.0 ? 0.0 : e[i];
      n_largest[i] += e[i] == 1.0 ? 1.0 : 0.0;
    }
  }
  for (std::size_t k = 0; k < n_classes; ++k) {
    double* const g = gradients + k * n_all + begin;
    double* const h = hessians + k * n_all + begin;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const double p = g[i] / sums[i];
      const double rest =
          (g[i] == 1.0 ? others[i] + (n_largest[i] - 1.0) : sums[i] - g[i]) / sums[i];
      h[i] = p * rest;
      g[i] = classes[begin + i] == static_cast<std::int32_t>(k) ? -rest : p;
    }
  }
}

}  // namespace

void log_loss_gradients(std::span<const double> is_one, std::span<const double> scores,
                        std::span<double> gradients, std::span<double> hessians,
                        std::size_t n_threads) {
  for_each_part(scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    log_loss_part(is_one.data() + begin, scores.data() + begin, n_rows, gradients.data() + begin,
                  hessians.data() + begin);
  });
}

void log_losses(std::span<const double> is_one, std::span<const double> scores,
                std::span<double> losses, std::size_t n_threads) {
  for_each_part(scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    log_losses_part(is_one.data() + begin, scores.data() + begin, n_rows, losses.data() + begin);
  });
}

void log_loss_shares(std::span<const double> scores, std::span<double> shares,
                     std::size_t n_threads) {
  for_each_part(scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    shares_part(scores.data() + begin, n_rows, shares.data() + 2 * begin);
  });
}

void multinomial_losses(std::span<const std::int32_t> classes, std::size_t n_classes,
                        std::span<const double> scores, std::span<double> losses,
                        std::size_t n_threads) {
  for_each_part(classes.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    multinomial_losses_part(classes.data(), n_classes, classes.size(), begin, n_rows, scores.data(),
                            losses.data());
  });
}

void multinomial_gradients(std::span<const std::int32_t> classes, std::size_t n_classes,
                           std::span<const double> scores, std::span<double> gradients,
                           std::span<double> hessians, std::size_t n_threads) {
  for_each_part(classes.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    multinomial_part(classes.data(), n_classes, classes.size(), begin, n_rows, scores.data(),
                     gradients.data(), hessians.data());
  });
}

}  // namespace committee
