#include "adaboost/stump_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "split/grow_options.hpp"

namespace committee {
namespace {

// Weights are on a grid of 2^56, finer than doubles: sums and terms are rounded to those.
template <Criterion kCriterion>
double side_score(std::span<const std::int64_t> weights) {
  return class_score<kCriterion, double>(weights.data(), weights.size());
}

std::int64_t sum_of(std::span<const std::int64_t> weights) {
  std::int64_t sum = 0;
  for (const std::int64_t weight : weights) sum += weight;
  return sum;
}

}  // namespace

StumpSearch::StumpSearch(const StumpTarget& target, Monitor& monitor)
    : monitor_(monitor),
      criterion_(target.criterion),
      level_penalty_(target.level_penalty),
      n_rows_(target.n_rows),
      totals_(target.totals),
      total_(sum_of(totals_)) {
  for (const std::int64_t weight : totals_) n_present_ += weight > 0 ? 1 : 0;
  const auto total = static_cast<double>(total_);
  if (has_kernel()) {
    shares_ = {total_, totals_[1], static_cast<double>(totals_[1]) / total};
    impurity_ = static_cast<double>(totals_[0]) * shares_.share;
  } else {
    impurity_ =
        visit_class_criterion(criterion_, [&]<Criterion kCriterion>(CriterionConstant<kCriterion>) {
          return CriterionOf<kCriterion>::pure_score(total) - side_score<kCriterion>(totals_);
        });
  }
}

double StumpSearch::score_of(const std::int64_t* left, StumpScratch& scratch) const {
  if (has_kernel()) return share_cut_score(left[0] + left[1], left[1], shares_);
  for (std::size_t k = 0; k < totals_.size(); ++k) scratch.right[k] = totals_[k] - left[k];
  return visit_class_criterion(criterion_, [&]<Criterion kCriterion>(
                                               CriterionConstant<kCriterion>) {
    return side_score<kCriterion>({left, totals_.size()}) + side_score<kCriterion>(scratch.right);
  });
}

void StumpSearch::start(StumpScratch& scratch) const {
  scratch.left.assign(totals_.size(), 0);
  scratch.right.assign(totals_.size(), 0);
  scratch.here.assign(totals_.size(), 0);
}

// ---- thresholds ----

void StumpSearch::try_cut(const StumpFeature& feature, std::uint32_t last_left,
                          std::uint32_t first_right, int missing_child, StumpScratch& scratch,
                          Split& best) const {
  const double score = score_of(scratch.left.data(), scratch);
  if (!(score > best.score)) return;
  best = Split{};
  best.score = score;
  best.feature = feature.index;
  best.kind = feature.kind;
  best.last_left = last_left;
  best.first_right = first_right;
  const std::int64_t left = sum_of(scratch.left);
  best.default_child = left > total_ - left ? 0 : 1;
  if (missing_child >= 0) best.default_child = static_cast<std::uint32_t>(missing_child);
}

// Tries the cut before a code whose weights are `scratch.here`, then takes it to the left. Missing
// values go right, then left.
void StumpSearch::pass_code(const StumpFeature& feature, std::uint32_t code,
                            const std::int64_t* missing, std::uint32_t& previous,
                            StumpScratch& scratch, Split& best) const {
  std::vector<std::int64_t>& left = scratch.left;
  if (previous != kNoCode) {
    try_cut(feature, previous, code, missing != nullptr ? 1 : -1, scratch, best);
    if (missing != nullptr) {
      for (std::size_t k = 0; k < left.size(); ++k) left[k] += missing[k];
      try_cut(feature, previous, code, 0, scratch, best);
      for (std::size_t k = 0; k < left.size(); ++k) left[k] -= missing[k];
    }
  }
  for (std::size_t k = 0; k < left.size(); ++k) left[k] += scratch.here[k];
  previous = code;
}

// All values on the left, the missing ones on the right.
void StumpSearch::try_present(const StumpFeature& feature, const std::int64_t* missing,
                              std::uint32_t last, StumpScratch& scratch, Split& best) const {
  if (missing != nullptr && last != kNoCode) try_cut(feature, last, kNoCode, 1, scratch, best);
}

// Compares the cuts between the places in the arrays with the best so far; returns whether one is
// better.
bool StumpSearch::keep_best_cut(const StumpFeature& feature, std::size_t n_codes,
                                StumpScratch& scratch, Split& best) const {
  if (n_codes < 2) return false;
  const Cut cut = best_share_cut(scratch.weight.data(), scratch.ones.data(), 0, n_codes - 1,
                                 shares_, scratch.scores.data());
  if (!(cut.score > best.score)) return false;
  best = Split{};
  best.score = cut.score;
  best.feature = feature.index;
  best.kind = feature.kind;
  best.last_left = scratch.places[cut.index];
  best.first_right = scratch.places[cut.index + 1];
  const std::int64_t left = scratch.weight[cut.index];
  best.default_child = left > total_ - left ? 0 : 1;
  return true;
}

// The arrays of the vector kernel, filled one code after the other.
class CutFiller {
 public:
  explicit CutFiller(StumpScratch& scratch) : scratch_(scratch) {}

  // Writes what is on the left with the code at a place; `is_last`: no more of the code will come.
  // No branch, for it would be mispredicted.
  void set(std::uint32_t place, std::int64_t weight, std::int64_t ones, bool is_last) {
    scratch_.places[size_] = place;
    scratch_.weight[size_] = weight;
    scratch_.ones[size_] = ones;
    size_ += is_last ? 1 : 0;
  }
  bool is_full() const { return size_ == StumpScratch::kCuts; }
  std::size_t size() const { return size_; }
  // Goes on with the last code alone.
  void restart() {
    const std::size_t last = size_ - 1;
    scratch_.places[0] = scratch_.places[last];
    scratch_.weight[0] = scratch_.weight[last];
    scratch_.ones[0] = scratch_.ones[last];
    size_ = 1;
  }

 private:
  StumpScratch& scratch_;
  std::size_t size_ = 0;
};

void StumpSearch::try_cells(const StumpFeature& feature, std::span<const std::int64_t* const> cells,
                            StumpScratch& scratch, Split& best) const {
  start(scratch);
  if (feature.is_category) return try_levels(feature, cells, scratch, best);
  const std::uint32_t n_values = feature.column.n_values;
  std::vector<std::int64_t> missing;
  if (feature.column.has_missing) {
    for (const std::int64_t* of_class : cells) missing.push_back(of_class[n_values]);
  }
  const bool has_missing = sum_of(missing) > 0;
  if (has_kernel() && !has_missing) {
    CutFiller cuts(scratch);
    std::int64_t weight = 0;
    std::int64_t ones = 0;
    for (std::uint32_t code = 0; code < n_values; ++code) {
      const std::int64_t here = cells[0][code] + cells[1][code];
      weight += here;
      ones += cells[1][code];
      cuts.set(code, weight, ones, here > 0);
      if (cuts.is_full()) {
        keep_best_cut(feature, cuts.size(), scratch, best);
        cuts.restart();
      }
    }
    keep_best_cut(feature, cuts.size(), scratch, best);
    return;
  }
  std::uint32_t previous = kNoCode;
  const std::int64_t* const beside = has_missing ? missing.data() : nullptr;
  for (std::uint32_t code = 0; code < n_values; ++code) {
    for (std::size_t k = 0; k < cells.size(); ++k) scratch.here[k] = cells[k][code];
    if (sum_of(scratch.here) == 0) continue;
    pass_code(feature, code, beside, previous, scratch, best);
  }
  try_present(feature, beside, previous, scratch, best);
}

void StumpSearch::try_sorted(const StumpFeature& feature, const SortedFeature& sorted,
                             const WeightedRows& rows, StumpScratch& scratch, Split& best) const {
  start(scratch);
  const std::size_t n_rows = sorted.rows.size();
  const std::uint32_t* const order = sorted.rows.data();
  const auto code_at = [&](std::uint32_t place) { return feature.column.at(sorted.row(place)); };
  if (sorted.n_known == n_rows && has_kernel()) {
    const std::int64_t* const signed_weights = rows.signed_weights.data();
    CutFiller cuts(scratch);
    std::int64_t weight = 0;
    std::int64_t ones = 0;
    bool is_better = false;
    for (std::size_t place = 0; place < n_rows; ++place) {
      const std::int64_t own = signed_weights[order[place] & ~SortedFeature::kLast];
      weight += own < 0 ? -own : own;
      ones += own < 0 ? 0 : own;
      cuts.set(static_cast<std::uint32_t>(place), weight, ones,
               (order[place] & SortedFeature::kLast) != 0);
      if (cuts.is_full()) {
        is_better = keep_best_cut(feature, cuts.size(), scratch, best) || is_better;
        cuts.restart();
      }
    }
    is_better = keep_best_cut(feature, cuts.size(), scratch, best) || is_better;
    if (is_better) {
      best.last_left = code_at(best.last_left);
      best.first_right = code_at(best.first_right);
    }
    return;
  }
  const auto add = [&](std::size_t place, std::vector<std::int64_t>& sums) {
    const std::uint32_t row = sorted.row(place);
    sums[rows.classes[row]] += rows.weights[row];
  };
  std::vector<std::int64_t> missing(totals_.size(), 0);
  for (std::size_t place = sorted.n_known; place < n_rows; ++place) add(place, missing);
  const std::int64_t* const beside = sorted.n_known < n_rows ? missing.data() : nullptr;
  std::uint32_t previous = kNoCode;
  std::fill(scratch.here.begin(), scratch.here.end(), 0);
  for (std::size_t place = 0; place < sorted.n_known; ++place) {
    add(place, scratch.here);
    if ((order[place] & SortedFeature::kLast) == 0) continue;
    pass_code(feature, code_at(static_cast<std::uint32_t>(place)), beside, previous, scratch, best);
    std::fill(scratch.here.begin(), scratch.here.end(), 0);
  }
  try_present(feature, beside, previous, scratch, best);
}

// ---- categories ----

struct StumpSearch::Prefix {
  double score = -std::numeric_limits<double>::infinity();  // without the price of levels
  std::size_t n_levels = 0;
  std::int64_t weight = 0;
  bool is_new = false;  // found in the order that was looked at last
};

void StumpSearch::try_levels(const StumpFeature& feature,
                             std::span<const std::int64_t* const> cells, StumpScratch& scratch,
                             Split& best) const {
  std::vector<std::uint32_t> present;
  std::vector<double> weights;
  for (std::uint32_t code = 0; code < feature.column.n_codes(); ++code) {
    for (std::size_t k = 0; k < cells.size(); ++k) scratch.here[k] = cells[k][code];
    const std::int64_t weight = sum_of(scratch.here);
    if (weight == 0) continue;
    present.push_back(code);
    weights.push_back(static_cast<double>(weight));
  }
  if (present.size() < 2) return;
  Prefix prefix;
  const std::size_t n_orders = cells.size() == 2 ? 1 : cells.size();
  for (std::size_t order = 0; order < n_orders; ++order) {
    if (n_orders > 1 && totals_[order] == 0) continue;
    monitor_.check();
    const std::int64_t* const of_class = cells[n_orders == 1 ? 1 : order];
    scratch.ordered.clear();
    for (std::size_t i = 0; i < present.size(); ++i) {
      scratch.ordered.emplace_back(static_cast<double>(of_class[present[i]]) / weights[i],
                                   present[i]);
    }
    std::sort(scratch.ordered.begin(), scratch.ordered.end());
    prefix.is_new = false;
    try_prefixes(cells, scratch, prefix);
    if (prefix.is_new) std::swap(scratch.ordered, scratch.best_order);
  }
  const double penalty = level_price(level_penalty_, impurity_, n_rows_, present.size());
  if (!(prefix.score - penalty > best.score)) return;
  best = Split{};
  best.score = prefix.score - penalty;
  best.penalty = penalty;
  best.feature = feature.index;
  best.kind = SplitKind::kSubset;
  best.child_of_code.assign(feature.column.n_codes(), kNoChild);
  for (std::size_t i = 0; i < present.size(); ++i) {
    best.child_of_code[scratch.best_order[i].second] = i < prefix.n_levels ? 0 : 1;
  }
  best.default_child = prefix.weight > total_ - prefix.weight ? 0 : 1;
  if (!feature.column.has_missing) return;
  const std::uint32_t child = best.child_of_code[feature.column.missing_code()];
  if (child != kNoChild) best.default_child = child;
}

// Tries the first levels of an order, one more each time, as the left side.
void StumpSearch::try_prefixes(std::span<const std::int64_t* const> cells, StumpScratch& scratch,
                               Prefix& best) const {
  std::vector<std::int64_t>& left = scratch.left;
  const auto& ordered = scratch.ordered;
  std::fill(left.begin(), left.end(), 0);
  for (std::size_t n = 0; n + 1 < ordered.size(); ++n) {
    for (std::size_t k = 0; k < left.size(); ++k) left[k] += cells[k][ordered[n].second];
    const double score = score_of(left.data(), scratch);
    if (score > best.score) best = {score, n + 1, sum_of(left), true};
  }
}

}  // namespace committee
