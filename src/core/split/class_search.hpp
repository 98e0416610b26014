// Thresholds of a feature where there are many classes.
//
// Statistics by code hold every class for every code, nearly all of them zero: a node of m rows
// with as many classes would cost m * m. Here the rows are put in the order of their codes, and a
// side of a cut grows by one row after the other: forward for the left sides, backward for the
// right ones. The scores are those of the statistics by code, to the last bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "score/class_scores.hpp"
#include "split/node_search.hpp"

namespace committee {

template <typename Score>
struct ClassesOf {
  static constexpr bool kCanGrow = false;
};
template <Criterion kCriterion>
struct ClassesOf<ClassScore<kCriterion>> {
  using Of = CriterionOf<kCriterion>;
  static constexpr bool kCanGrow = requires { Of::grown(0.0, 0, 0); };
};

// Rows of a node with the same code, one code after the other; missing values come last.
class RowsByCode {
 public:
  template <typename Score, typename Code>
  RowsByCode(const FeatureSearch<Score>& search, const Code* codes)
      : begins_(search.scratch.begins), rows_(search.scratch.sorted) {
    begins_.assign(search.column.n_codes() + 1, 0);
    rows_.resize(search.node.view.rows.size());
    for (const std::uint32_t row : search.node.view.rows) ++begins_[codes[row] + 1];
    for (std::size_t code = 1; code < begins_.size(); ++code) begins_[code] += begins_[code - 1];
    for (const std::uint32_t row : search.node.view.rows) rows_[begins_[codes[row]]++] = row;
  }

  std::span<const std::uint32_t> of(std::uint32_t code) const {
    // Each begin has moved to the end of its rows.
    const std::uint32_t begin = code == 0 ? 0 : begins_[code - 1];
    return std::span(rows_).subspan(begin, begins_[code] - begin);
  }

 private:
  std::vector<std::uint32_t>& begins_;
  std::vector<std::uint32_t>& rows_;
};

// A side of a cut, and the score of its rows. `cell` is all zero before and after.
template <Criterion kCriterion>
class GrowingSide {
  using Of = CriterionOf<kCriterion>;

 public:
  GrowingSide(const ClassAdder& adder, std::vector<std::int64_t>& cell)
      : adder_(adder), cell_(cell), terms_(adder.n_outputs, 0.0) {}

  void add(std::span<const std::uint32_t> rows) {
    for (const std::uint32_t row : rows) {
      const std::int64_t weight = adder_.weights[row];
      weight_ += weight;
      for (std::size_t output = 0; output < terms_.size(); ++output) {
        std::int64_t& own = cell_[adder_.slots[row * terms_.size() + output]];
        terms_[output] = Of::grown(terms_[output], own, own + weight);
        own += weight;
      }
    }
  }
  std::int64_t weight() const { return weight_; }
  double score() const {
    double sum = 0.0;
    for (const double terms : terms_) sum += Of::score(terms, weight_);
    return sum;
  }
  void clear(std::span<const std::uint32_t> rows) const {
    for (const std::uint32_t row : rows) {
      for (std::size_t output = 0; output < terms_.size(); ++output) {
        cell_[adder_.slots[row * terms_.size() + output]] = 0;
      }
    }
  }

 private:
  const ClassAdder& adder_;
  std::vector<std::int64_t>& cell_;
  std::vector<double> terms_;
  std::int64_t weight_ = 0;
};

// Whether to search by rows: statistics by code would have many more numbers.
template <Criterion kCriterion>
inline bool has_many_classes(const FeatureSearch<ClassScore<kCriterion>>& search) {
  constexpr std::size_t kFewer = 16;
  constexpr std::int64_t kMostWeight = std::int64_t{1} << 26;  // squares of counts are exact
  const auto& node = search.node;
  const bool is_plain = !node.counts_rows && node.options.monotonic.empty();
  return is_plain && !node.view.block->has_records() && node.total_weight < kMostWeight &&
         search.column.n_codes() * node.adder.cell_size() > kFewer * node.view.rows.size();
}

template <Criterion kCriterion>
inline void measure_sides(const FeatureSearch<ClassScore<kCriterion>>& search,
                          const RowsByCode& rows, std::span<const std::uint32_t> codes,
                          std::span<const std::uint32_t> missing, bool missing_left,
                          CutSides& sides) {
  auto& scratch = search.scratch;
  const ClassAdder& adder = search.node.adder;
  sides.left.resize(codes.size());
  sides.right.resize(codes.size());
  sides.left_weight.resize(codes.size());
  GrowingSide<kCriterion> left(adder, scratch.left);
  GrowingSide<kCriterion> right(adder, scratch.right);
  (missing_left ? left : right).add(missing);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    left.add(rows.of(codes[i]));
    sides.left[i] = left.score();
    sides.left_weight[i] = left.weight();
  }
  for (std::size_t i = codes.size(); i-- > 0;) {
    sides.right[i] = right.weight() > 0 ? right.score() : 0.0;
    right.add(rows.of(codes[i]));
  }
  left.clear(search.node.view.rows);
  right.clear(search.node.view.rows);
}

template <Criterion kCriterion>
inline void search_classes(const FeatureSearch<ClassScore<kCriterion>>& search) {
  const auto& node = search.node;
  auto& scratch = search.scratch;
  scratch.left.assign(node.adder.cell_size(), 0);
  scratch.right.assign(node.adder.cell_size(), 0);
  const RowsByCode rows =
      visit_codes(search.column, [&](const auto* codes) { return RowsByCode(search, codes); });
  std::vector<std::uint32_t>& codes = scratch.present;
  codes.clear();
  for (std::uint32_t code = 0; code < search.column.n_values; ++code) {
    if (!rows.of(code).empty()) codes.push_back(code);
  }
  std::span<const std::uint32_t> missing;
  if (search.column.has_missing) missing = rows.of(search.column.missing_code());
  std::array<CutSides, 2>& sides = scratch.sides;  // missing values on the right, on the left
  measure_sides(search, rows, codes, missing, false, sides[0]);
  if (!missing.empty()) measure_sides(search, rows, codes, missing, true, sides[1]);
  const auto try_cut = [&](std::size_t i, int missing_child) {
    const CutSides& own = sides[missing_child == 0 ? 1 : 0];
    const bool is_last = i + 1 == codes.size();
    const CodeCut cut{codes[i], is_last ? kNoCode : codes[i + 1], missing_child};
    keep_threshold(search, own.left[i] + own.right[i], own.left_weight[i], cut);
  };
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const bool is_last = i + 1 == codes.size();
    if (is_last && missing.empty()) break;
    try_cut(i, missing.empty() ? -1 : 1);
    if (!missing.empty() && !is_last) try_cut(i, 0);
  }
}

}  // namespace committee
