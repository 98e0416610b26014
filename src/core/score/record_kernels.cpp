#include "score/record_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/simd.hpp"
#include "score/score_kernels.hpp"
#include "score/small_cuts.hpp"

namespace committee {

namespace {

COMMITTEE_INLINE ByteCut best_table_gini_cut_code(std::uint64_t* table, std::size_t n_codes,
                                                  const GiniNode& node) {
  alignas(32) std::array<float, kByteCodes> rough;
  alignas(32) std::array<std::uint64_t, kByteCodes> lefts;
  const std::size_t padded = (n_codes + kFloats - 1) / kFloats * kFloats;
  std::uint64_t left = 0;
  for (std::size_t code = 0; code < padded; code += 4) {
    const std::uint64_t two = table[code] + table[code + 1];
    const std::uint64_t three = two + table[code + 2];
    lefts[code] = left + table[code];
    lefts[code + 1] = left + two;
    lefts[code + 2] = left + three;
    left += three + table[code + 3];
    lefts[code + 3] = left;
  }
  std::memset(table, 0, padded * sizeof(std::uint64_t));
  Screen screen(node);
  for (std::size_t i = 0; i < padded; i += kFloats) {
    Ints low;  // weight, ones, weight, ones, ...
    Ints high;
    load(lefts.data() + i, low);
    load(lefts.data() + i + 4, high);
    screen.look(__builtin_shuffle(low, high, Ints{0, 2, 4, 6, 8, 10, 12, 14}),
                __builtin_shuffle(low, high, Ints{1, 3, 5, 7, 9, 11, 13, 15}), rough.data() + i);
  }
  ByteCut best;
  best.score = -1.0;
  // An empty code repeats the score of the code before it, so the first of equals is present.
  best.exists = screen.for_each_promising(rough.data(), padded, 0.0F, [&](std::size_t code) {
    const auto weight = static_cast<double>(lefts[code] & 0xFFFFFFFFULL);
    const double score = exact_score(weight, static_cast<double>(lefts[code] >> 32), node);
    if (!(score > best.score)) return;
    best.score = score;
    best.last_left = static_cast<std::uint32_t>(code);
    best.left_weight = weight;
  });
  best.first_right = best.last_left + 1;
  while (best.exists && lefts[best.first_right] == lefts[best.last_left]) ++best.first_right;
  return best;
}

// The sum of the lanes of left, and of the squares of left and right.
COMMITTEE_INLINE void add_lanes(const Ints& left, const Ints& right, std::int32_t* sum,
                                float* squares, float* other_squares) {
  const Floats l = __builtin_convertvector(left, Floats);
  const Floats r = __builtin_convertvector(right, Floats);
  const Floats l2 = l * l;
  const Floats r2 = r * r;
  const Ints low{0, 1, 2, 3, 8, 9, 10, 11};
  const Ints high{4, 5, 6, 7, 12, 13, 14, 15};
  Floats both = __builtin_shuffle(l2, r2, low) + __builtin_shuffle(l2, r2, high);
  Ints plain = __builtin_shuffle(left, left, low) + __builtin_shuffle(left, left, high);
  const Ints swap_ones{1, 0, 3, 2, 5, 4, 7, 6};
  const Ints swap_twos{2, 3, 0, 1, 6, 7, 4, 5};
  both += __builtin_shuffle(both, swap_ones);
  plain += __builtin_shuffle(plain, swap_ones);
  both += __builtin_shuffle(both, swap_twos);
  plain += __builtin_shuffle(plain, swap_twos);
  *sum = plain[0];
  *squares = both[0];
  *other_squares = both[4];
}

COMMITTEE_INLINE double exact_class_score(const ClassCell& left, const ClassNode& node) {
  double weight = 0.0;
  double squares = 0.0;
  double other_squares = 0.0;
  for (std::size_t lane = 0; lane < kClassLanes; ++lane) {
    const auto own = static_cast<double>(left[lane]);
    const auto other = static_cast<double>(node.totals[lane] - left[lane]);
    weight += own;
    squares += own * own;
    other_squares += other * other;
  }
  return squares / weight + other_squares / (node.total_weight - weight);
}

COMMITTEE_INLINE ByteCut best_table_class_cut_code(ClassCell* table, std::size_t n_codes,
                                                   const ClassNode& node) {
  alignas(32) std::array<ClassCell, kByteCodes> lefts;
  alignas(32) std::array<std::int32_t, kByteCodes> weights;
  alignas(32) std::array<float, kByteCodes> squares;
  alignas(32) std::array<float, kByteCodes> other_squares;
  alignas(32) std::array<float, kByteCodes> rough;
  std::array<std::uint8_t, kByteCodes> codes;
  Ints totals;
  load(node.totals.data(), totals);
  Ints left{};
  std::size_t n_present = 0;
  for (std::size_t code = 0; code < n_codes; ++code) {
    Ints cell;
    load(table[code].data(), cell);
    if (!has_any(cell)) continue;
    left += cell;
    std::memset(table[code].data(), 0, sizeof(ClassCell));
    std::memcpy(lefts[n_present].data(), &left, sizeof(left));
    const Ints right = totals - left;
    add_lanes(left, right, &weights[n_present], &squares[n_present], &other_squares[n_present]);
    codes[n_present++] = static_cast<std::uint8_t>(code);
  }
  ByteCut best;
  best.score = -1.0;
  if (n_present < 2) return best;
  const std::size_t padded = (n_present + kFloats - 1) / kFloats * kFloats;
  for (std::size_t i = n_present; i < padded; ++i) weights[i] = 0;  // refused
  const auto total = static_cast<std::int32_t>(node.total_weight);
  const auto least = static_cast<std::int32_t>(std::ceil(node.min_weight));
  Floats largest = Floats{} - 1.0F;
  for (std::size_t i = 0; i < padded; i += kFloats) {
    Ints weight;
    Floats own;
    Floats other;
    load(weights.data() + i, weight);
    load(squares.data() + i, own);
    load(other_squares.data() + i, other);
    const Ints other_weight = total - weight;
    const Floats score = own / __builtin_convertvector(weight, Floats) +
                         other / __builtin_convertvector(other_weight, Floats);
    const Ints is_allowed = (weight >= least) & (other_weight >= least);
    const Floats limited = is_allowed ? score : Floats{} - 1.0F;
    largest = limited > largest ? limited : largest;
    std::memcpy(rough.data() + i, &limited, sizeof(limited));
  }
  std::size_t index = 0;
  best.exists = visit_close(largest, rough.data(), padded, 0.0F, [&](std::size_t i) {
    const double score = exact_class_score(lefts[i], node);
    if (!(score > best.score)) return;
    best.score = score;
    index = i;
  });
  if (!best.exists) return best;
  best.last_left = codes[index];
  best.first_right = codes[index + 1];
  for (const std::int32_t weight : lefts[index]) best.left_weight += static_cast<double>(weight);
  return best;
}

COMMITTEE_INLINE CodeRange range_of_code(std::span<const std::uint8_t> codes) {
  std::uint8_t smallest = codes[0];
  std::uint8_t largest = codes[0];
  for (const std::uint8_t code : codes) {
    smallest = code < smallest ? code : smallest;
    largest = code > largest ? code : largest;
  }
  return {smallest, largest};
}

// Calls visit(first feature, codes of that many features) for the parts of a record, each as wide
// as a vector, that have one of the features; `feature_at(k)` is the k-th of n.
using WideCodes = std::uint8_t __attribute__((vector_size(32)));
using NarrowCodes = std::uint8_t __attribute__((vector_size(16)));
template <typename FeatureAt, typename Visit>
COMMITTEE_INLINE void for_each_part(std::size_t stride, std::size_t n, FeatureAt&& feature_at,
                                    Visit&& visit) {
  for (std::size_t first = 0; first < stride; first += sizeof(WideCodes)) {
    bool has_feature = false;
    for (std::size_t k = 0; k < n; ++k) {
      has_feature |= feature_at(k) / sizeof(WideCodes) == first / sizeof(WideCodes);
    }
    if (!has_feature) continue;
    if (first + sizeof(WideCodes) <= stride) {
      visit(first, WideCodes{});
    } else {
      visit(first, NarrowCodes{});
    }
  }
}

COMMITTEE_INLINE void range_of_records_code(const std::uint8_t* records, std::size_t stride,
                                            std::size_t n_rows,
                                            std::span<const std::uint32_t> features,
                                            CodeRange* ranges) {
  const auto feature_at = [&](std::size_t k) __attribute__((always_inline)) { return features[k]; };
  for_each_part(stride, features.size(), feature_at,
                [&](std::size_t first, const auto& zeros) __attribute__((always_inline)) {
                  auto smallest = zeros;
                  load(records + first, smallest);
                  auto largest = smallest;
                  for (std::size_t row = 1; row < n_rows; ++row) {
                    auto own = zeros;
                    load(records + row * stride + first, own);
                    smallest = own < smallest ? own : smallest;
                    largest = own > largest ? own : largest;
                  }
                  for (std::size_t k = 0; k < features.size(); ++k) {
                    const std::size_t lane = features[k] - first;
                    if (lane < sizeof(zeros)) ranges[k] = {smallest[lane], largest[lane]};
                  }
                });
}

// Row by row, for weights that bytes cannot add up.
COMMITTEE_INLINE std::uint64_t sum_left_of(const std::uint8_t* records, std::size_t stride,
                                           std::span<const std::uint64_t> packed,
                                           const RecordCut& cut) {
  std::uint64_t sum = 0;
  const std::uint8_t* codes = records + cut.feature;
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const bool is_left = codes[i * stride] <= cut.last_left;
    sum += packed[i] & (0 - static_cast<std::uint64_t>(is_left));  // no branch
  }
  return sum;
}

COMMITTEE_INLINE void sum_left_records_code(const std::uint8_t* records, std::size_t stride,
                                            std::span<const std::uint64_t> packed,
                                            std::span<const RecordCut> cuts, std::uint64_t* lefts) {
  std::uint64_t bits = 0;  // no weight is larger
  for (const std::uint64_t row : packed) bits |= row & 0xFFFFFFFFULL;
  constexpr std::uint64_t kMostWeight = 31;
  if (bits > kMostWeight) {
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      lefts[k] = sum_left_of(records, stride, packed, cuts[k]);
    }
    return;
  }
  const std::size_t portion = 255 / static_cast<std::size_t>(bits);  // sums fit a byte
  for (std::size_t k = 0; k < cuts.size(); ++k) lefts[k] = 0;
  const auto feature_at = [&](std::size_t k)
                              __attribute__((always_inline)) { return cuts[k].feature; };
  for_each_part(stride, cuts.size(), feature_at,
                [&](std::size_t first, const auto& zeros) __attribute__((always_inline)) {
                  auto lasts = zeros;
                  for (const RecordCut& cut : cuts) {
                    const std::size_t lane = cut.feature - first;
                    if (lane < sizeof(zeros)) lasts[lane] = cut.last_left;
                  }
                  for (std::size_t begin = 0; begin < packed.size(); begin += portion) {
                    const std::size_t end = std::min(begin + portion, packed.size());
                    auto weights = zeros;
                    auto ones = zeros;
                    for (std::size_t row = begin; row < end; ++row) {
                      auto own = zeros;
                      load(records + row * stride + first, own);
                      const auto is_left = own <= lasts;
                      const std::uint64_t cell = packed[row];
                      const auto weight = zeros + static_cast<std::uint8_t>(cell & 0xFF);
                      const auto one = zeros + static_cast<std::uint8_t>(cell >> 32 & 0xFF);
                      weights += is_left ? weight : zeros;
                      ones += is_left ? one : zeros;
                    }
                    for (std::size_t k = 0; k < cuts.size(); ++k) {
                      const std::size_t lane = cuts[k].feature - first;
                      if (lane < sizeof(zeros)) {
                        lefts[k] += std::uint64_t{weights[lane]} | std::uint64_t{ones[lane]} << 32;
                      }
                    }
                  }
                });
}

// Calls add(table number, code) for the codes of each record; the features of a record side by
// side, because the next record's may fall into the same cells.
template <std::size_t kFeatures, typename Add>
COMMITTEE_INLINE void for_each_code(const std::uint8_t* records, std::size_t stride,
                                    std::size_t n_rows, const std::uint32_t* features, Add&& add) {
  std::array<const std::uint8_t*, kFeatures> codes;
  for (std::size_t i = 0; i < kFeatures; ++i) codes[i] = records + features[i];
  std::size_t offset = 0;
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t i = 0; i < kFeatures; ++i) add(row, i, codes[i][offset]);
    offset += stride;
  }
}

template <typename Add>
COMMITTEE_INLINE void for_each_code(const std::uint8_t* records, std::size_t stride,
                                    std::size_t n_rows, std::span<const std::uint32_t> features,
                                    Add&& add) {
  switch (features.size()) {
    case 1:
      return for_each_code<1>(records, stride, n_rows, features.data(), add);
    case 2:
      return for_each_code<2>(records, stride, n_rows, features.data(), add);
    case 3:
      return for_each_code<3>(records, stride, n_rows, features.data(), add);
    default:
      return for_each_code<4>(records, stride, n_rows, features.data(), add);
  }
}

}  // namespace

COMMITTEE_TWICE(void, fill_small_node, (SmallNode & node, std::span<const std::uint64_t> packed),
                (node, packed))

COMMITTEE_TWICE(ByteCut, best_small_gini_cut,
                (const SmallNode& rows, const std::uint8_t* codes, const GiniNode& node),
                (rows, codes, node))

COMMITTEE_TWICE(ByteCut, best_table_gini_cut,
                (std::uint64_t* table, std::size_t n_codes, const GiniNode& node),
                (table, n_codes, node))

COMMITTEE_TWICE(ByteCut, best_table_class_cut,
                (ClassCell * table, std::size_t n_codes, const ClassNode& node),
                (table, n_codes, node))

COMMITTEE_TWICE(void, sort_codes, (const std::uint8_t* codes, std::size_t n, std::uint8_t* order),
                (codes, n, order))

COMMITTEE_TWICE(CodeRange, range_of, (std::span<const std::uint8_t> codes), (codes))

COMMITTEE_TWICE(void, range_of_records,
                (const std::uint8_t* records, std::size_t stride, std::size_t n_rows,
                 std::span<const std::uint32_t> features, CodeRange* ranges),
                (records, stride, n_rows, features, ranges))

COMMITTEE_TWICE(void, sum_left_records,
                (const std::uint8_t* records, std::size_t stride,
                 std::span<const std::uint64_t> packed, std::span<const RecordCut> cuts,
                 std::uint64_t* lefts),
                (records, stride, packed, cuts, lefts))

void add_records(const std::uint8_t* records, std::size_t stride,
                 std::span<const std::uint64_t> packed, std::span<const std::uint32_t> features,
                 std::uint64_t* tables) {
  const std::uint64_t* const rows = packed.data();
  for_each_code(records, stride, packed.size(), features,
                [=](std::size_t row, std::size_t table, std::size_t code) {
                  tables[table * kTableCells + code] += rows[row];
                });
}

void add_class_records(const std::uint8_t* records, std::size_t stride, std::size_t n_rows,
                       const std::uint8_t* lanes, const std::int64_t* weights,
                       std::span<const std::uint32_t> features, ClassCell* tables) {
  std::int32_t* const cells = tables->data();
  for_each_code(records, stride, n_rows, features,
                [=](std::size_t row, std::size_t table, std::size_t code) {
                  cells[(table * kByteCodes + code) * kClassLanes + lanes[row]] +=
                      static_cast<std::int32_t>(weights[row]);
                });
}

void add_sum_records(const std::uint8_t* records, std::size_t stride, std::span<const SumCell> sums,
                     std::span<const std::uint32_t> features, SumCell* tables) {
  const SumCell* const rows = sums.data();
  for_each_code(records, stride, sums.size(), features,
                [=](std::size_t row, std::size_t table, std::size_t code) {
                  SumCell& cell = tables[table * kByteCodes + code];
                  cell[0] += rows[row][0];
                  cell[1] += rows[row][1];
                });
}

}  // namespace committee
