// The best of all cuts of a feature in one vector pass.
//
// Cut i sends the first i + 1 present codes to the left; arrays hold what is then on the left.
// Each kernel exists once in plain C++ and once compiled for AVX2, chosen when the program runs.
// Both do the same additions, multiplications and divisions in the same order, so they give the
// same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace committee {

struct Cut {
  std::size_t index = 0;
  double score = 0.0;
};

// Two classes, Gini: the first cut in [begin, end) with the largest value of
// (a^2 m + b^2 n) / (n m), with n and m the weights, a and b the weights of class 1 of the left
// and the right side. `scores` is scratch of at least `end` numbers. begin < end.
Cut best_gini_cut(const std::int32_t* left_weight, const std::int32_t* left_ones, std::size_t begin,
                  std::size_t end, double total_weight, double total_ones, double* scores);

// One target, squared error: likewise (d^2 m + e^2 n) / (n m), with d and e the sums of the left
// and the right side around `mean`. Both sums are given, each rounded from the exact one, so that
// the score does not change when the sides change places.
Cut best_squared_cut(const double* left_weight, const double* left_sum, const double* right_sum,
                     std::size_t begin, std::size_t end, double total_weight, double mean,
                     double* scores);

// Two classes, Gini, weights that doubles cannot hold exactly: likewise (d^2 m + e^2 n) / (n m),
// with d and e the weights of class 1 of both sides, less what they would be if the sides were
// alike. What is on the right is taken off the whole as integers, so that a side that weighs next
// to nothing keeps its digits.
struct ShareTotals {
  std::int64_t weight = 0;
  std::int64_t ones = 0;
  double share = 0.0;  // ones / weight
};
Cut best_share_cut(const std::int64_t* left_weight, const std::int64_t* left_ones,
                   std::size_t begin, std::size_t end, const ShareTotals& totals, double* scores);

// The same scores one at a time, for cuts that are looked at singly.
inline double gini_cut_score(double n, double a, double total_weight, double total_ones) {
  const double m = total_weight - n;
  const double b = total_ones - a;
  return (a * a * m + b * b * n) / (n * m);
}

// What such a value means, with a of n and b of m: the sum of squares over weights of both classes
// and sides, n + m - 2 (a + b) + 2 (a^2/n + b^2/m).
inline double gini_score(double value, double total_weight, double total_ones) {
  return (total_weight - 2 * total_ones) + 2 * value;
}

inline double squared_cut_score(double n, double sum, double other_sum, double total_weight,
                                double mean) {
  const double m = total_weight - n;
  const double d = sum - n * mean;
  const double e = other_sum - m * mean;
  return (d * d * m + e * e * n) / (n * m);
}

inline double share_cut_score(std::int64_t weight, std::int64_t ones, const ShareTotals& totals) {
  const auto n = static_cast<double>(weight);
  const auto m = static_cast<double>(totals.weight - weight);
  const double d = static_cast<double>(ones) - n * totals.share;
  const double e = static_cast<double>(totals.ones - ones) - m * totals.share;
  return (d * d * m + e * e * n) / (n * m);
}

// "avx512", "avx2" or "scalar". Setting "auto" takes the best the processor has; what it does not
// have is refused with std::invalid_argument.
std::string simd_level();
void set_simd_level(const std::string& level);

}  // namespace committee
