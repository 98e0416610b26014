#include "loss_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "simd.hpp"
#include "thread_pool.hpp"

namespace committee {
namespace {

// e^x for x <= 0, within two units in the last place; zero below -708. Without a branch, so that
// loops over it become vector code: x = k ln 2 + r, and a polynomial of r in Horner's form.
COMMITTEE_INLINE double exp_of_negative(double x) {
  constexpr double kLog2e = 1.4426950408889634;
  constexpr double kLn2High = 0.6931471803691238;  // with room for products with k
  constexpr double kLn2Low = 1.9082149292705877e-10;
  constexpr double kMagic = 6755399441055744.0;  // adding it rounds to a whole number
  const double bounded = x < -708.0 ? -708.0 : x;
  const double shifted = bounded * kLog2e + kMagic;
  const double k = shifted - kMagic;
  const double r = (bounded - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // The low bits of `shifted` are k: they become the exponent.
  const std::int64_t exponent = std::bit_cast<std::int64_t>(shifted) << 52;
  const double result = std::bit_cast<double>(std::bit_cast<std::int64_t>(p) + exponent);
  return x < -708.0 ? 0.0 : result;
}

COMMITTEE_INLINE void log_loss_part_code(const double* __restrict is_one,
                                         const double* __restrict scores, std::size_t n_rows,
                                         double* __restrict gradients,
                                         double* __restrict hessians) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double score = scores[i];
    const double small = exp_of_negative(-std::abs(score));
    const double likely = 1.0 / (1.0 + small);  // probability of the side the score is on
    const double unlikely = small * likely;
    const double one = score >= 0.0 ? likely : unlikely;
    const double zero = score >= 0.0 ? unlikely : likely;
    gradients[i] = is_one[i] != 0.0 ? -zero : one;
    hessians[i] = likely * unlikely;
  }
}

COMMITTEE_TWICE(void, log_loss_part,
                (const double* is_one, const double* scores, std::size_t n_rows, double* gradients,
                 double* hessians),
                (is_one, scores, n_rows, gradients, hessians))

// exps[i] = e^(scores[i] - largest[i]), and their sums.
COMMITTEE_INLINE void add_exps_code(const double* __restrict scores,
                                    const double* __restrict largest, std::size_t n_rows,
                                    double* __restrict exps, double* __restrict sums) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    exps[i] = exp_of_negative(scores[i] - largest[i]);
    sums[i] += exps[i];
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

void multinomial_part(const std::int32_t* classes, std::size_t n_classes, std::size_t n_all,
                      std::size_t begin, std::size_t n_rows, const double* scores,
                      double* gradients, double* hessians) {
  std::array<double, kPartRows> largest;
  std::array<double, kPartRows> sums{};
  std::copy_n(scores + begin, n_rows, largest.begin());
  for (std::size_t k = 1; k < n_classes; ++k) {
    const double* own = scores + k * n_all + begin;
    for (std::size_t i = 0; i < n_rows; ++i) largest[i] = std::max(largest[i], own[i]);
  }
  for (std::size_t k = 0; k < n_classes; ++k) {
    const std::size_t first = k * n_all + begin;
    add_exps(scores + first, largest.data(), n_rows, gradients + first, sums.data());
  }
  for (std::size_t k = 0; k < n_classes; ++k) {
    double* const g = gradients + k * n_all + begin;
    double* const h = hessians + k * n_all + begin;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const double p = g[i] / sums[i];
      const double rest = (sums[i] - g[i]) / sums[i];
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

void multinomial_gradients(std::span<const std::int32_t> classes, std::size_t n_classes,
                           std::span<const double> scores, std::span<double> gradients,
                           std::span<double> hessians, std::size_t n_threads) {
  for_each_part(classes.size(), n_threads, [&](std::size_t begin, std::size_t n_rows) {
    multinomial_part(classes.data(), n_classes, classes.size(), begin, n_rows, scores.data(),
                     gradients.data(), hessians.data());
  });
}

}  // namespace committee
