#include "boost/loss_kernels.hpp"

#include <algorithm>
#include <array>

#include "base/simd.hpp"
#include "base/thread_pool.hpp"
#include "base/vector_math.hpp"

namespace committee {
namespace {

constexpr std::size_t kPartRows = 4096;

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

// Products of factors of at most two stay small over so many rows.
constexpr std::size_t kBlockRows = 16 * kLanes;

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

const double* weights_from(std::span<const double> weights, std::size_t begin) {
  return weights.empty() ? nullptr : weights.data() + begin;
}

}  // namespace

double squared_error_gradients(std::span<const double> target, std::span<const double> scores,
                               std::span<const double> weights, std::span<double> gradients,
                               std::size_t n_threads) {
  return sum_of_parts<kPartRows>(
      scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
        return squared_error_part(target.data() + begin, scores.data() + begin,
                                  weights_from(weights, begin), n_rows, gradients.data() + begin);
      });
}

double log_loss_gradients(std::span<const std::uint8_t> is_one, std::span<const double> scores,
                          std::span<const double> weights, std::span<double> gradients,
                          std::span<double> hessians, std::size_t n_threads) {
  return sum_of_parts<kPartRows>(
      scores.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
        return log_loss_part(is_one.data() + begin, scores.data() + begin,
                             weights_from(weights, begin), n_rows, gradients.data() + begin,
                             hessians.data() + begin);
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

}  // namespace committee
