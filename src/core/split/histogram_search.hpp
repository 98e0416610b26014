// Looks for the best split of one node, feature by feature, on statistics by code.
//
// For each feature the rows of the node are added up by code; one scan over the codes then sees
// every threshold. Missing values have a cell of their own and are tried on both sides. The
// levels of a category are first put in the order of their target statistic, in which the best
// subset is a contiguous part (exactly so for two classes and for one regression target; with
// more classes one order for each class is tried and the best subset kept).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "score/criterion.hpp"
#include "score/record_kernels.hpp"
#include "split/splitter.hpp"

namespace committee {

// The codes that occur in a node of few rows, or of few codes: a scan jumps from one to the next.
class CodeSet {
 public:
  static bool can_hold(std::size_t n_codes, std::size_t n_rows) {
    return n_codes <= 64 || (n_codes <= kByteCodes && n_rows < 128);
  }
  CodeSet() = default;
  explicit CodeSet(std::uint64_t word) : words_{word, 0, 0, 0}, is_known_(true) {}
  // Collects the codes marked by a byte of 1, and clears the marks.
  explicit CodeSet(std::array<std::uint8_t, kByteCodes>& marks) : is_known_(true) {
    for (std::size_t i = 0; i < kByteCodes; i += 8) {
      std::uint64_t bytes = 0;  // each 0 or 1; the product moves byte k to bit k of the top byte
      for (std::size_t k = 0; k < 8; ++k) bytes |= std::uint64_t{marks[i + k]} << (8 * k);
      words_[i / 64] |= ((bytes * 0x0102040810204080ULL) >> 56) << (i % 64);
    }
    marks.fill(0);
  }

  bool is_known() const { return is_known_; }
  // Calls visit(code) for the codes below `end`, ascending.
  template <typename Visit>
  void for_each(std::uint32_t end, Visit&& visit) const {
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        const auto code = word * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
        if (code >= end) return;
        visit(code);
      }
    }
  }

 private:
  std::array<std::uint64_t, 4> words_{};
  bool is_known_ = false;
};

// Working memory of one thread. Cells and counts are all zero between two features.
template <typename Cell, typename Cuts>
struct Scratch {
  std::vector<Cell> cells;
  std::vector<std::int64_t> counts;
  std::vector<std::uint32_t> example;  // a row of each code, for random thresholds
  std::vector<std::uint32_t> present;
  std::vector<Cell> left;
  std::vector<Cell> right;
  std::vector<Cell> lefts;  // of several cuts
  std::vector<std::pair<double, std::uint32_t>> ordered;
  std::array<std::uint8_t, kByteCodes> marks{};
  Cuts cuts;
};

// What is on the left of each cut, as the vector kernel of a score wants it; see score_kernels.hpp.
// Of a fixed size that stays in the cache: more codes come in pieces.
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

// One node; its methods look at one feature at a time and may run side by side.
template <typename Score>
class HistogramSearch {
  using Adder = typename Score::Adder;
  using Cell = typename Adder::Cell;

 public:
  using Memory = Scratch<Cell, CutArrays<Score>>;

  // `total` is the statistic of the node.
  HistogramSearch(const FitData& data, const GrowOptions& options, const NodeView& node,
                  const Adder& adder, const Score& score, const Cell* total, Monitor& monitor)
      : data_(data),
        options_(options),
        node_(node),
        statistics_(node.block->statistics),
        adder_(adder),
        score_(score),
        monitor_(monitor),
        total_(total),
        total_weight_(adder.weight(total_)),
        counts_rows_(!statistics_.repetitions.empty()),
        first_row_(node.block->has_records() ? node.rows[0] : 0) {
    min_weight_ = least_leaf_weight(data_, options_, node);
    if (options_.level_penalty > 0.0 && node.block->has_categories) {
      impurity_ = score.impurity(statistics_, node.rows, total_);
    }
    if (counts_rows_) {
      for (const std::uint32_t row : node.rows) total_rows_ += statistics_.repetitions[row];
    }
  }

  void try_column(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                  Split& best) const {
    const std::size_t n_cells = std::size_t{column.n_codes()} * adder_.cell_size();
    if (scratch.cells.size() < n_cells) scratch.cells.resize(n_cells);
    if (counts_rows_ && scratch.counts.size() < column.n_codes()) {
      scratch.counts.resize(column.n_codes());
    }
    scratch.left.assign(adder_.cell_size(), 0);
    scratch.right.assign(adder_.cell_size(), 0);
    const bool is_category = data_.dataset->feature(feature).kind == FeatureKind::kCategory;
    const bool needs_example = options_.random_thresholds && !is_category;
    const CodeSet codes = visit_codes(
        column, [&](const auto* each) { return add_up(each, column, needs_example, scratch); });
    if (is_category) {
      list_present(column, codes, scratch);
      try_levels(feature, column, scratch, best);
    } else if (options_.random_thresholds) {
      list_present(column, codes, scratch);
      try_random_threshold(feature, column, scratch, best);
    } else {
      try_thresholds(feature, column, codes, scratch, best);
      return;  // cleans up as it goes
    }
    for (const std::uint32_t code : scratch.present) clear(code, scratch);
  }

 protected:
  // Calls visit(row of the block, its code) for the rows of the node.
  template <typename Code, typename Visit>
  void for_each_row(const Code* codes, Visit&& visit) const {
    if (node_.block->has_records()) {  // gathered: side by side
      const std::size_t n_rows = node_.rows.size();
      for (std::size_t i = 0; i < n_rows; ++i) visit(first_row_ + i, codes[i]);
    } else {
      for (const std::uint32_t row : node_.rows) visit(row, codes[row]);
    }
  }

  // Adds the rows up by code; returns the codes that occur where a set can hold them.
  template <typename Code>
  CodeSet add_up(const Code* codes, const CodeColumn& column, bool needs_example,
                 Memory& scratch) const {
    Cell* const cells = scratch.cells.data();
    const std::size_t size = adder_.cell_size();
    CodeSet present;
    if (column.n_codes() <= 64) {
      std::uint64_t mask = 0;
      for_each_row(codes, [&](std::size_t row, Code code) {
        mask |= std::uint64_t{1} << code;
        adder_.add(cells + code * size, row);
      });
      present = CodeSet(mask);
    } else if (CodeSet::can_hold(column.n_codes(), node_.rows.size())) {
      std::uint8_t* const marks = scratch.marks.data();
      for_each_row(codes, [&](std::size_t row, Code code) {
        marks[code] = 1;
        adder_.add(cells + code * size, row);
      });
      present = CodeSet(scratch.marks);
    } else {
      for_each_row(codes,
                   [&](std::size_t row, Code code) { adder_.add(cells + code * size, row); });
    }
    if (counts_rows_) {
      for_each_row(codes, [&](std::size_t row, Code code) {
        scratch.counts[code] += statistics_.repetitions[row];
      });
    }
    if (needs_example) {
      scratch.example.resize(std::max<std::size_t>(scratch.example.size(), column.n_codes()));
      for_each_row(codes, [&](std::size_t row, Code code) {
        scratch.example[code] = static_cast<std::uint32_t>(row);
      });
    }
    return present;
  }

  Cell* cell(std::uint32_t code, Memory& scratch) const {
    return scratch.cells.data() + code * adder_.cell_size();
  }

  void clear(std::uint32_t code, Memory& scratch) const {
    std::fill_n(cell(code, scratch), adder_.cell_size(), Cell{0});
    if (counts_rows_) scratch.counts[code] = 0;
  }

  // Calls visit(code) for the codes below `end` that occur, ascending.
  template <typename Visit>
  void for_each_present(const CodeSet& codes, std::uint32_t end, Memory& scratch,
                        Visit&& visit) const {
    if (codes.is_known()) return codes.for_each(end, visit);
    for (std::uint32_t code = 0; code < end; ++code) {
      if (!adder_.is_empty(cell(code, scratch))) visit(code);
    }
  }

  void list_present(const CodeColumn& column, const CodeSet& codes, Memory& scratch) const {
    scratch.present.clear();
    for_each_present(codes, column.n_codes(), scratch,
                     [&](std::uint32_t code) { scratch.present.push_back(code); });
  }

  // The score of the split (left, rest), or no score when it breaks a limit.
  double evaluate(std::uint32_t feature, const Cell* left, std::int64_t left_rows,
                  Memory& scratch) const {
    constexpr double kRefused = -std::numeric_limits<double>::infinity();
    const std::int64_t left_weight = adder_.weight(left);
    if (static_cast<double>(left_weight) < min_weight_ ||
        static_cast<double>(total_weight_ - left_weight) < min_weight_) {
      return kRefused;
    }
    if (counts_rows_ &&
        (left_rows < options_.min_rows_leaf || total_rows_ - left_rows < options_.min_rows_leaf)) {
      return kRefused;
    }
    Cell* const right = scratch.right.data();
    for (std::size_t i = 0; i < adder_.cell_size(); ++i) right[i] = total_[i] - left[i];
    const int direction = options_.monotonic_of(feature);
    if (direction != 0) {
      const double left_value = score_.value(left);
      const double right_value = score_.value(right);
      if (!node_.bounds.contains(left_value) || !node_.bounds.contains(right_value) ||
          (left_value - right_value) * direction > 0) {
        return kRefused;
      }
    }
    return score_.pair(left, right);
  }

  // Notes the split whose left side and score are given. The larger child takes what the node
  // has never seen.
  void keep(std::uint32_t feature, double score, const Cell* left, Memory& scratch,
            Split& best) const {
    best.score = score;
    best.penalty = 0.0;
    best.feature = feature;
    best.n_children = 2;
    best.has_threshold = false;
    best.child_of_code.clear();
    const std::int64_t left_weight = adder_.weight(left);
    best.default_child = left_weight > total_weight_ - left_weight ? 0 : 1;
    if (!options_.monotonic.empty()) {
      Cell* const right = scratch.right.data();
      for (std::size_t i = 0; i < adder_.cell_size(); ++i) right[i] = total_[i] - left[i];
      best.left_value = node_.bounds.clip(score_.value(left));
      best.right_value = node_.bounds.clip(score_.value(right));
    }
  }

  void try_threshold(std::uint32_t feature, const Cell* left, std::int64_t left_rows,
                     std::uint32_t last_left, std::uint32_t first_right, int missing_child,
                     Memory& scratch, Split& best) const {
    const double score = evaluate(feature, left, left_rows, scratch);
    if (!(score > best.score)) return;
    keep(feature, score, left, scratch, best);
    best.kind = threshold_kind(feature);
    best.last_left = last_left;
    best.first_right = first_right;
    if (missing_child >= 0) best.default_child = static_cast<std::uint32_t>(missing_child);
  }

  // Missing values on the right, then on the left. `first_right` is kNoCode when nothing but
  // missing values is left for the right side.
  void try_both_sides(std::uint32_t feature, const CodeColumn& column, bool has_missing,
                      std::int64_t left_rows, std::uint32_t last_left, std::uint32_t first_right,
                      Memory& scratch, Split& best) const {
    try_threshold(feature, scratch.left.data(), left_rows, last_left, first_right,
                  has_missing ? 1 : -1, scratch, best);
    if (!has_missing || first_right == kNoCode) return;
    const std::uint32_t missing = column.missing_code();
    std::vector<Cell>& left = scratch.left;
    for (std::size_t i = 0; i < left.size(); ++i) left[i] += cell(missing, scratch)[i];
    try_threshold(feature, left.data(), left_rows + (counts_rows_ ? scratch.counts[missing] : 0),
                  last_left, first_right, 0, scratch, best);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] -= cell(missing, scratch)[i];
  }

  void try_thresholds(std::uint32_t feature, const CodeColumn& column, const CodeSet& codes,
                      Memory& scratch, Split& best) const {
    const std::uint32_t missing = column.missing_code();
    const bool has_missing = column.has_missing && !adder_.is_empty(cell(missing, scratch));
    if constexpr (CutArrays<Score>::kExists) {
      const bool is_plain = !has_missing && !counts_rows_ && options_.monotonic.empty();
      if (is_plain && score_.has_kernel()) {
        try_cuts(feature, column, codes, scratch, best);
        return;
      }
    }
    std::uint32_t previous = kNoCode;
    std::int64_t left_rows = 0;
    for_each_present(codes, column.n_values, scratch, [&](std::uint32_t code) {
      if (previous != kNoCode) {
        try_both_sides(feature, column, has_missing, left_rows, previous, code, scratch, best);
      }
      Cell* const here = cell(code, scratch);
      for (std::size_t i = 0; i < adder_.cell_size(); ++i) scratch.left[i] += here[i];
      if (counts_rows_) left_rows += scratch.counts[code];
      clear(code, scratch);
      previous = code;
    });
    if (!has_missing) return;
    if (previous != kNoCode) {
      try_both_sides(feature, column, true, left_rows, previous, kNoCode, scratch, best);
    }
    clear(missing, scratch);
  }

  // The plain case, without missing values or constraints: thresholds in vector passes over
  // pieces of the codes that stay in the cache.
  void try_cuts(std::uint32_t feature, const CodeColumn& column, const CodeSet& codes,
                Memory& scratch, Split& best) const {
    auto& cuts = scratch.cuts;
    cuts.start(score_);
    scratch.present.resize(std::max(scratch.present.size(), CutArrays<Score>::kSize));
    // Plain pointers and a local sum: the compiler cannot know that the arrays do not overlap.
    std::uint32_t* const present = scratch.present.data();
    Cell* const cells = scratch.cells.data();
    std::array<Cell, CutArrays<Score>::kCellSize> left{};
    std::size_t n_present = 0;
    const auto pass = [&](std::uint32_t code) {
      Cell* const here = cells + code * left.size();
      for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] += here[i];
        here[i] = 0;
      }
      cuts.set(n_present, left);
      present[n_present] = code;
    };
    if (codes.is_known()) {
      for_each_present(codes, column.n_values, scratch, [&](std::uint32_t code) {
        pass(code);
        ++n_present;
      });
    } else {  // what an empty cell wrote is overwritten by the next: no branch to mispredict
      for (std::uint32_t code = 0; code < column.n_values; ++code) {
        const bool is_present = !adder_.is_empty(cells + code * left.size());
        pass(code);
        n_present += is_present ? 1 : 0;
        if (n_present == CutArrays<Score>::kSize) {
          keep_best_cut(feature, n_present, scratch, best);
          cuts.keep_last();
          present[0] = present[n_present - 1];
          n_present = 1;
        }
      }
    }
    keep_best_cut(feature, n_present, scratch, best);
  }

  // Compares the cuts between the `n_present` codes in the arrays with the best so far.
  void keep_best_cut(std::uint32_t feature, std::size_t n_present, Memory& scratch,
                     Split& best) const {
    if (n_present < 2) return;
    auto& cuts = scratch.cuts;
    std::size_t begin = 0;
    std::size_t end = n_present - 1;
    const auto total_weight = static_cast<double>(total_weight_);
    const auto left_weight = [&](std::size_t i) { return static_cast<double>(cuts.weight[i]); };
    while (begin < end && left_weight(begin) < min_weight_) ++begin;
    while (begin < end && total_weight - left_weight(end - 1) < min_weight_) --end;
    if (begin == end) return;
    const Cut cut = cuts.best(score_, begin, end);
    const double score = score_.from_kernel(cut.score);
    if (!(score > best.score)) return;
    best = Split{};
    best.score = score;
    best.feature = feature;
    best.kind = threshold_kind(feature);
    best.last_left = scratch.present[cut.index];
    best.first_right = scratch.present[cut.index + 1];
    best.default_child = left_weight(cut.index) > total_weight - left_weight(cut.index) ? 0 : 1;
  }

  SplitKind threshold_kind(std::uint32_t feature) const {
    return data_.dataset->feature(feature).kind == FeatureKind::kInteger ? SplitKind::kInteger
                                                                         : SplitKind::kReal;
  }

  void try_random_threshold(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                            Split& best) const {
    std::span<const std::uint32_t> present = scratch.present;
    const bool has_missing =
        !present.empty() && column.has_missing && present.back() == column.missing_code();
    if (has_missing) present = present.first(present.size() - 1);
    if (present.empty() || (present.size() == 1 && !has_missing)) return;
    Split drawn;
    drawn.last_left = present.back();
    if (present.size() > 1) {
      draw_threshold(data_, node_, feature, present, scratch.example, drawn);
    }
    std::int64_t left_rows = 0;
    for (const std::uint32_t code : present) {
      if (code > drawn.last_left) break;
      for (std::size_t i = 0; i < adder_.cell_size(); ++i) {
        scratch.left[i] += cell(code, scratch)[i];
      }
      if (counts_rows_) left_rows += scratch.counts[code];
    }
    const double score_before = best.score;
    try_both_sides(feature, column, has_missing, left_rows, drawn.last_left, drawn.first_right,
                   scratch, best);
    if (best.score > score_before) {
      best.has_threshold = drawn.has_threshold;
      best.threshold = drawn.threshold;
    }
  }

  // A category whose levels in the node are listed.
  void try_levels(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                  Split& best) const {
    if (options_.fan_out_categories) {
      try_fan_out(feature, column, scratch, best);
    } else if (options_.random_thresholds) {
      try_random_subset(feature, column, scratch, best);
    } else {
      try_subsets(feature, column, scratch, best);
    }
  }

  // Tries every prefix of the codes in `scratch.ordered` as the left side.
  void try_prefixes(std::uint32_t feature, const CodeColumn& column, std::size_t first,
                    std::size_t last, double penalty, Memory& scratch, Split& best) const {
    std::fill(scratch.left.begin(), scratch.left.end(), Cell{0});
    std::int64_t left_rows = 0;
    const auto& ordered = scratch.ordered;
    std::size_t n_left = 0;  // of the best prefix, once there is one
    for (std::size_t n = 0; n + 1 < ordered.size() && n <= last; ++n) {
      const std::uint32_t code = ordered[n].second;
      for (std::size_t i = 0; i < adder_.cell_size(); ++i) {
        scratch.left[i] += cell(code, scratch)[i];
      }
      if (counts_rows_) left_rows += scratch.counts[code];
      if (n < first) continue;
      const double score = evaluate(feature, scratch.left.data(), left_rows, scratch) - penalty;
      if (!(score > best.score)) continue;
      keep(feature, score, scratch.left.data(), scratch, best);
      n_left = n + 1;
    }
    if (n_left == 0) return;
    best.penalty = penalty;
    best.kind = SplitKind::kSubset;
    best.child_of_code.assign(column.n_codes(), kNoChild);
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      best.child_of_code[ordered[i].second] = i < n_left ? 0 : 1;
    }
    settle_missing(column, best);
  }

  // A missing value seen in training goes where its code went, and unseen levels with it.
  static void settle_missing(const CodeColumn& column, Split& best) {
    if (!column.has_missing) return;
    const std::uint32_t child = best.child_of_code[column.missing_code()];
    if (child != kNoChild) best.default_child = child;
  }

  void try_subsets(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                   Split& best) const {
    if (scratch.present.size() < 2) return;
    const double penalty =
        level_price(options_.level_penalty, impurity_, node_.n_counted, scratch.present.size());
    for (std::size_t order = 0; order < score_.n_orders(); ++order) {
      scratch.ordered.clear();
      for (const std::uint32_t code : scratch.present) {
        scratch.ordered.emplace_back(score_.order(cell(code, scratch), order), code);
      }
      std::sort(scratch.ordered.begin(), scratch.ordered.end());
      try_prefixes(feature, column, 0, scratch.ordered.size(), penalty, scratch, best);
    }
  }

  void try_random_subset(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                         Split& best) const {
    const auto n_present = static_cast<std::uint32_t>(scratch.present.size());
    if (n_present < 2) return;
    Random random(derive_key(node_.key, std::uint64_t{feature} + 1));
    scratch.ordered.clear();
    for (const std::uint32_t code : scratch.present) {
      scratch.ordered.emplace_back(random.uniform(), code);
    }
    std::sort(scratch.ordered.begin(), scratch.ordered.end());
    const std::uint32_t cut = random.below(n_present - 1);
    try_prefixes(feature, column, cut, cut, 0.0, scratch, best);
  }

  void try_fan_out(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                   Split& best) const {
    if (scratch.present.size() < 2) return;
    double score = 0.0;
    std::int64_t largest = -1;
    std::uint32_t default_child = 0;
    for (std::uint32_t child = 0; child < scratch.present.size(); ++child) {
      const std::uint32_t code = scratch.present[child];
      const std::int64_t weight = adder_.weight(cell(code, scratch));
      if (static_cast<double>(weight) < min_weight_ ||
          (counts_rows_ && scratch.counts[code] < options_.min_rows_leaf)) {
        return;
      }
      score += score_.score(cell(code, scratch));
      if (weight > largest) {
        largest = weight;
        default_child = child;
      }
    }
    if (!(score > best.score)) return;
    keep(feature, score, cell(scratch.present[0], scratch), scratch, best);
    best.kind = SplitKind::kFanOut;
    best.n_children = static_cast<std::uint32_t>(scratch.present.size());
    best.default_child = default_child;
    best.child_of_code.assign(column.n_codes(), kNoChild);
    for (std::uint32_t child = 0; child < best.n_children; ++child) {
      best.child_of_code[scratch.present[child]] = child;
    }
    settle_missing(column, best);
  }

  const FitData& data_;
  const GrowOptions& options_;
  const NodeView& node_;
  const RowStatistics& statistics_;
  const Adder& adder_;
  const Score& score_;
  Monitor& monitor_;
  const Cell* total_;
  std::int64_t total_weight_;
  bool counts_rows_;
  std::size_t first_row_;  // of the node in a block of records; else 0
  double min_weight_ = 0.0;
  double impurity_ = 0.0;
  std::int64_t total_rows_ = 0;
};

}  // namespace committee
