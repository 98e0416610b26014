// What is on the left of each cut of a feature, as the vector kernel of a score reads it
// (score_kernels.hpp). Of a fixed size that stays in the cache: more codes come in pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "score/class_scores.hpp"
#include "score/score_kernels.hpp"
#include "score/sum_scores.hpp"

namespace committee {

template <typename Score>
struct CutArrays {
  static constexpr bool kExists = false;
};

template <>
struct CutArrays<BinaryScore<Criterion::kGini>> {
  static constexpr bool kExists = true;
  static constexpr std::size_t kCellSize = 1;
  static constexpr std::size_t kSize = 1024;
  std::array<std::int32_t, kSize> weight;
  std::array<std::int32_t, kSize> ones;
  std::array<double, kSize> scores;

  void start(const BinaryScore<Criterion::kGini>&) {}
  void set(std::size_t i, const std::array<std::uint64_t, kCellSize>& left) {
    weight[i] = static_cast<std::int32_t>(left[0] & 0xFFFFFFFFULL);
    ones[i] = static_cast<std::int32_t>(left[0] >> 32);
  }
  void keep_last() {
    weight[0] = weight[kSize - 1];
    ones[0] = ones[kSize - 1];
  }
  Cut best(const BinaryScore<Criterion::kGini>& score, std::size_t begin, std::size_t end) {
    return best_gini_cut(weight.data(), ones.data(), begin, end, score.total_weight(),
                         score.total_ones(), scores.data());
  }
};

template <>
struct CutArrays<SquaredScore> {
  static constexpr bool kExists = true;
  static constexpr std::size_t kCellSize = 2;
  static constexpr std::size_t kSize = 1024;
  std::array<double, kSize> weight;
  std::array<double, kSize> sum;
  std::array<double, kSize> other_sum;
  std::array<double, kSize> scores;
  std::int64_t total_sum = 0;

  void start(const SquaredScore& score) { total_sum = score.total_sum(); }
  void set(std::size_t i, const std::array<std::int64_t, kCellSize>& left) {
    weight[i] = static_cast<double>(left[0]);
    sum[i] = static_cast<double>(left[1]);
    other_sum[i] = static_cast<double>(total_sum - left[1]);
  }
  void keep_last() {
    weight[0] = weight[kSize - 1];
    sum[0] = sum[kSize - 1];
    other_sum[0] = other_sum[kSize - 1];
  }
  Cut best(const SquaredScore& score, std::size_t begin, std::size_t end) {
    return best_squared_cut(weight.data(), sum.data(), other_sum.data(), begin, end,
                            score.total_weight(), score.mean(), scores.data());
  }
};

}  // namespace committee
