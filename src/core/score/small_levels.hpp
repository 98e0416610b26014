// Subsets of the levels of a category in a node of few rows.
//
// Levels are put in the order of their class share or mean, equal ones in the order of their codes,
// as the general search does (level_search.hpp). Here that order is a number for each row, its
// *place*: rows of the same level share it, and a subset is a cut of the places. All pairs of rows
// are compared, eight at a time; there is no table of levels to fill, to sort and to clear.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "score/byte_cut.hpp"
#include "score/score_kernels.hpp"
#include "score/small_cuts.hpp"

namespace committee {

// A number for each row. Places: any numbers in the order of the levels.
using RowNumbers = std::array<std::int32_t, kSmallNodeRows>;

// What a subset has to be better than, and what its levels cost.
struct SubsetLimits {
  double min_weight = 1.0;
  double penalty = 0.0;  // see level_price
  double best_score = -std::numeric_limits<double>::infinity();
};

// The codes that occur in a node, one bit each.
class LevelSet {
 public:
  // `n_codes`: of the feature.
  COMMITTEE_INLINE LevelSet(const std::uint8_t* codes, std::size_t n_rows, std::size_t n_codes) {
    if (n_codes <= 64) {  // in a register
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < n_rows; ++i) word |= std::uint64_t{1} << codes[i];
      words_[0] = word;
      return;
    }
    for (std::size_t i = 0; i < n_rows; ++i) {
      words_[codes[i] / 64] |= std::uint64_t{1} << (codes[i] % 64);
    }
  }

  COMMITTEE_INLINE const std::array<std::uint64_t, 4>& words() const { return words_; }
  COMMITTEE_INLINE std::size_t size() const {
    std::size_t n = 0;
    for (const std::uint64_t word : words_) n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }
  // Calls visit(code), ascending.
  template <typename Visit>
  COMMITTEE_INLINE void for_each(Visit&& visit) const {
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        visit(word * 64 + static_cast<std::uint32_t>(std::countr_zero(rest)));
      }
    }
  }

 private:
  std::array<std::uint64_t, 4> words_{};
};

// A random subset, drawn as the general search draws it: sides[i] is 0 for the rows on the left.
// The rows differ in their codes.
COMMITTEE_INLINE void draw_subset(const std::uint8_t* codes, std::size_t n_rows,
                                  std::size_t n_codes, Random random, std::uint8_t* sides) {
  std::array<double, kSmallNodeRows> draws;
  std::array<std::uint8_t, kSmallNodeRows> side_of_level;
  std::array<std::uint8_t, kByteCodes> level_of_code;
  std::size_t n_levels = 0;
  LevelSet(codes, n_rows, n_codes).for_each([&](std::uint32_t code) __attribute__((always_inline)) {
    draws[n_levels] = random.uniform();
    level_of_code[code] = static_cast<std::uint8_t>(n_levels++);
  });
  const std::uint32_t cut = random.below(static_cast<std::uint32_t>(n_levels - 1));
  for (std::size_t i = 0; i < n_levels; ++i) {
    const double own = draws[i];
    std::uint32_t rank = 0;
    for (std::size_t j = 0; j < i; ++j) rank += draws[j] <= own ? 1U : 0U;
    for (std::size_t j = i + 1; j < n_levels; ++j) rank += draws[j] < own ? 1U : 0U;
    side_of_level[i] = rank <= cut ? 0 : 1;
  }
  for (std::size_t i = 0; i < n_rows; ++i) sides[i] = side_of_level[level_of_code[codes[i]]];
}

// sums[i]: of the numbers of the rows j with is_counted(places[i], places[j]).
template <typename IsCounted>
COMMITTEE_INLINE void sum_pairs(const RowNumbers& places, const RowNumbers& numbers,
                                std::size_t n_rows, RowNumbers& sums, IsCounted&& is_counted) {
  for (std::size_t first = 0; first < std::min(n_rows, kSmallNodeRows); first += kFloats) {
    Ints own;
    load(places.data() + first, own);
    Ints sum{};
    for (std::size_t row = 0; row < n_rows; ++row) {
      const Ints other = Ints{} + places[row];
      Ints mask;
      is_counted(own, other, mask);
      sum += mask & numbers[row];
    }
    std::memcpy(sums.data() + first, &sum, sizeof(sum));
  }
}

// The places of the levels ordered by their share of a class. `packed` has the weight of each row
// in the lower half, what of it belongs to the class in the upper; their total fits a byte, so that
// shares that differ do so by more than 2^-16. Lanes beyond the rows repeat codes of the node.
COMMITTEE_INLINE void place_by_share(const RowNumbers& packed, const std::uint8_t* codes,
                                     std::size_t n_rows, RowNumbers& places) {
  alignas(32) RowNumbers sums;
  const std::size_t padded = std::min((n_rows + kFloats - 1) / kFloats * kFloats, kSmallNodeRows);
  for (std::size_t i = 0; i < padded; ++i) places[i] = codes[i];
  sum_pairs(places, packed, n_rows, sums,
            [](const Ints& own, const Ints& other, Ints& mask)
                __attribute__((always_inline)) { mask = own == other; });
  for (std::size_t first = 0; first < std::min(n_rows, kSmallNodeRows); first += kFloats) {
    Ints sum;
    Ints code;
    load(sums.data() + first, sum);
    load(places.data() + first, code);
    const Floats share =
        __builtin_convertvector(sum >> 16, Floats) / __builtin_convertvector(sum & 0xFFFF, Floats);
    const Ints place = (__builtin_convertvector(share * 131072.0F, Ints) << 8) | code;
    std::memcpy(places.data() + first, &place, sizeof(place));
  }
}

// The places as bytes: the number of rows that come before.
COMMITTEE_INLINE void rank_places(const RowNumbers& places, std::size_t n_rows,
                                  std::uint8_t* ranks) {
  alignas(32) RowNumbers ones;
  alignas(32) RowNumbers sums;
  ones.fill(1);
  sum_pairs(places, ones, n_rows, sums,
            [](const Ints& own, const Ints& other, Ints& mask)
                __attribute__((always_inline)) { mask = other < own; });
  for (std::size_t i = 0; i < n_rows; ++i) ranks[i] = static_cast<std::uint8_t>(sums[i]);
}

// The same for levels ordered by a real number, equal ones by their codes.
COMMITTEE_INLINE void rank_by_mean(const std::array<double, kSmallNodeRows>& means,
                                   const std::uint8_t* codes, std::size_t n_rows,
                                   std::uint8_t* ranks) {
  std::array<std::int64_t, kSmallNodeRows> wide;  // as wide as the means
  for (std::size_t i = 0; i < n_rows; ++i) wide[i] = codes[i];
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double own = means[i];
    const std::int64_t code = wide[i];
    std::int64_t rank = 0;
    for (std::size_t j = 0; j < n_rows; ++j) {
      const auto is_less = static_cast<std::int64_t>(means[j] < own);
      const auto is_tied = static_cast<std::int64_t>(means[j] == own);
      rank += is_less | (is_tied & static_cast<std::int64_t>(wide[j] < code));
    }
    ranks[i] = static_cast<std::uint8_t>(rank);
  }
}

// The best subset of two classes, Gini: a cut of the places, rows up to last_left go left. Its
// score is as the general search computes it, less the penalty. Finds nothing where none is better
// than limits.best_score.
COMMITTEE_INLINE ByteCut best_gini_subset(const RowNumbers& packed, const std::uint8_t* codes,
                                          std::size_t n_rows, GiniNode node,
                                          const SubsetLimits& limits, RowNumbers& places) {
  alignas(32) RowNumbers left;
  alignas(32) std::array<float, kSmallNodeRows> rough;
  place_by_share(packed, codes, n_rows, places);
  sum_pairs(places, packed, n_rows, left,
            [](const Ints& own, const Ints& other, Ints& mask)
                __attribute__((always_inline)) { mask = other <= own; });
  const std::size_t padded = (n_rows + kFloats - 1) / kFloats * kFloats;
  for (std::size_t i = n_rows; i < padded; ++i) left[i] = 0;  // refused
  node.best_score = limits.best_score + limits.penalty;
  Screen screen(node);
  for (std::size_t i = 0; i < padded; i += kFloats) {
    Ints sum;
    load(left.data() + i, sum);
    screen.look(sum & 0xFFFF, sum >> 16, rough.data() + i);
  }
  ByteCut best;
  best.score = -std::numeric_limits<double>::infinity();
  const auto floor = static_cast<float>(screen_floor(node));
  best.exists = screen.for_each_promising(
      rough.data(), padded, floor, [&](std::size_t i) __attribute__((always_inline)) {
        const auto weight = static_cast<double>(left[i] & 0xFFFF);
        const double value = gini_cut_score(weight, static_cast<double>(left[i] >> 16),
                                            node.total_weight, node.total_ones);
        const double score = gini_score(value, node.total_weight, node.total_ones) - limits.penalty;
        const auto place = static_cast<std::uint32_t>(places[i]);
        const bool is_better =
            score > best.score || (score == best.score && place < best.last_left);
        if (!is_better) return;
        best.score = score;
        best.last_left = place;
        best.left_weight = weight;
      });
  return best;
}

}  // namespace committee
