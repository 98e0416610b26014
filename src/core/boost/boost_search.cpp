#include "boost/boost_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "score/byte_cut.hpp"

namespace committee {
namespace {

// A gain has to be more than rounding.
constexpr double kLeastGain = 1e-11;

}  // namespace

// One feature of a node.
struct BoostSearch::Scan {
  std::uint32_t feature = 0;
  const BoostNode& node;
  const std::int64_t* cells = nullptr;
  const std::uint32_t* counts = nullptr;  // null: not counted
  std::uint32_t n_values = 0;
  std::int64_t missing = 0;  // packed sums of the missing values
  std::uint32_t n_missing = 0;
  std::int64_t n_rows = 0;  // counted rows of the node
  double parent_score = 0.0;
  bool counts_sides = false;  // the rows of both sides are known
  bool is_bounded = false;    // monotone constraints are to be kept

  bool has_missing() const { return n_missing > 0 || missing != 0; }
  // Whether rows are known to have a value of the code `begin` or a larger one.
  bool has_rows_from(std::size_t begin) const {
    return counts != nullptr &&
           std::any_of(counts + begin, counts + n_values, [](auto count) { return count > 0; });
  }
};

SideOfCode BoostSplit::sides(const CodeColumn& column) const {
  SideOfCode sides{};
  if (column.width != 1) return sides;
  if (is_category) {
    std::copy(goes_left.begin(), goes_left.end(), sides.begin());
    return sides;
  }
  std::fill_n(sides.begin(), last_left + 1, std::uint8_t{1});
  if (column.has_missing) sides[column.missing_code()] = missing_goes_left ? 1 : 0;
  return sides;
}

BoostSearch::BoostSearch(const BinnedDataset& dataset, const ByteColumns& columns,
                         const BoostOptions& options, const GradientRows& rows)
    : dataset_(dataset), columns_(columns), options_(options), rows_(rows) {
  // Beyond this a penalty leaves nothing of any step; products stay finite.
  constexpr double kHuge = 1e100;
  const auto hessians = [&](double value) {
    return std::min(std::ldexp(value, rows.hessian_exponent), kHuge);
  };
  l2_ = hessians(options.l2);
  category_smoothing_ = hessians(options.category_smoothing);
  l1_ = std::min(std::ldexp(options.l1, rows.gradient_exponent), kHuge);
  min_hessian_ = std::max(hessians(options.min_child_weight), 1.0);
  if (rows.counts_rows) {
    min_hessian_ = std::max(min_hessian_, static_cast<double>(options.min_rows_leaf));
  }
}

double BoostSearch::soft(double gradient) const {
  if (gradient > l1_) return gradient - l1_;
  return gradient < -l1_ ? gradient + l1_ : 0.0;
}

double BoostSearch::step(std::int64_t packed, const Bounds& bounds) const {
  const double weight = hessian(packed) + l2_;
  return bounds.clip(weight > 0.0 ? -soft(gradient(packed)) / weight : 0.0);
}

double BoostSearch::gain_unit() const {
  return std::ldexp(0.5, rows_.hessian_exponent - 2 * rows_.gradient_exponent);
}

// Twice what a step gains: G^2 / (H + l2) for the best one.
double BoostSearch::score_of_step(double gradient, double hessian, double step) const {
  return -2 * soft(gradient) * step - (hessian + l2_) * step * step;
}

double BoostSearch::gain_over(const Scan& scan, double score) const {
  const double gain = score - scan.parent_score;
  return gain > kLeastGain * std::abs(score) ? gain : 0.0;
}

double BoostSearch::gain_of(const Scan& scan, std::int64_t left, std::int64_t left_count) const {
  const std::int64_t right = scan.node.total - left;
  const double left_hessian = hessian(left);
  const double right_hessian = hessian(right);
  if (left_hessian < min_hessian_ || right_hessian < min_hessian_) return 0.0;
  if (scan.counts_sides &&
      (left_count < options_.min_rows_leaf || scan.n_rows - left_count < options_.min_rows_leaf)) {
    return 0.0;
  }
  if (!scan.is_bounded && l1_ == 0.0) {
    const double n = left_hessian + l2_;
    const double m = right_hessian + l2_;
    const double g = gradient(left);
    const double other_g = gradient(right);
    return gain_over(scan, (g * g * m + other_g * other_g * n) / (n * m));
  }
  const double left_step = step(left, scan.node.bounds);
  const double right_step = step(right, scan.node.bounds);
  const int direction = options_.monotonic_of(scan.feature);
  if ((left_step - right_step) * direction > 0.0) return 0.0;
  return gain_over(scan, score_of_step(gradient(left), left_hessian, left_step) +
                             score_of_step(gradient(right), right_hessian, right_step));
}

void BoostSearch::keep(const Scan& scan, double gain, std::int64_t left, BoostSplit& best) const {
  best.gain = gain;
  best.feature = scan.feature;
  best.left = left;
  best.is_category = false;
  best.left_value = step(left, scan.node.bounds);
  best.right_value = step(scan.node.total - left, scan.node.bounds);
  // The larger side takes what the node has never seen.
  best.missing_goes_left = 2 * rows_.hessian(left) > rows_.hessian(scan.node.total);
}

// Puts the threshold in the middle of the codes first + 1 ... last, which the node does not have;
// beyond all values where only missing ones are on the right.
void BoostSearch::place(const Scan& scan, std::size_t first, std::size_t last,
                        bool missing_goes_left, BoostSplit& best) const {
  best.last_left = static_cast<std::uint32_t>((first + last) / 2);
  if (!scan.has_missing()) return;
  best.missing_goes_left = missing_goes_left;
  // Rows may add nothing to the sums, and be on the right all the same.
  const bool is_alone = !missing_goes_left && scan.node.total - best.left == scan.missing &&
                        !scan.has_rows_from(last + 1);
  if (is_alone) best.last_left = scan.n_values - 1;
}

// The cuts that leave each side enough rows, where these are counted: all between a first and a
// last one.
void BoostSearch::limit_cuts(const Scan& scan, bool missing_goes_left, CutScan& cuts) const {
  if (!scan.counts_sides) return;
  std::int64_t left = missing_goes_left ? scan.n_missing : 0;
  std::size_t n_allowed = 0;
  for (std::size_t code = 0; code < cuts.end; ++code) {
    left += scan.counts[code];
    if (left < options_.min_rows_leaf) cuts.begin = code + 1;
    if (scan.n_rows - left < options_.min_rows_leaf) break;
    n_allowed = code + 1;
  }
  cuts.end = std::max(n_allowed, cuts.begin);
}

bool BoostSearch::try_fast(const Scan& scan, std::int64_t start, bool missing_goes_left,
                           std::size_t n_cuts, BoostSplit& best) const {
  if (scan.is_bounded || l1_ > 0.0) return false;
  CutScan cuts{.total = scan.node.total, .start = start, .shift = rows_.shift, .l2 = l2_};
  cuts.min_hessian = min_hessian_;
  cuts.end = n_cuts;
  cuts.is_sparse = scan.node.n_rows < n_cuts;
  limit_cuts(scan, missing_goes_left, cuts);
  PackedCut cut = best_packed_cut(scan.cells, cuts);
  const double gain = cut.score < 0.0 ? 0.0 : gain_over(scan, cut.score);
  if (!(gain > best.gain)) return true;
  keep(scan, gain, cut.left, best);
  // Rows may add nothing to the sums, and count all the same.
  for (std::size_t code = cut.first + 1; scan.counts_sides && code <= cut.last; ++code) {
    if (scan.counts[code] > 0) cut.last = code - 1;
  }
  place(scan, cut.first, cut.last, missing_goes_left, best);
  return true;
}

void BoostSearch::try_slowly(const Scan& scan, std::int64_t start, bool missing_goes_left,
                             std::size_t n_cuts, BoostSplit& best) const {
  std::int64_t left = start;
  std::int64_t left_count = missing_goes_left ? scan.n_missing : 0;
  std::size_t first = 0;  // of the codes whose cuts are all the same
  bool is_kept = false;   // the cut behind it
  for (std::size_t code = 0; code < n_cuts; ++code) {
    const bool is_empty =
        scan.cells[code] == 0 && (scan.counts == nullptr || scan.counts[code] == 0);
    if (is_empty) {
      if (is_kept) place(scan, first, code, missing_goes_left, best);
      continue;
    }
    left += scan.cells[code];
    left_count += scan.counts == nullptr ? 0 : scan.counts[code];
    first = code;
    const double gain = gain_of(scan, left, left_count);
    is_kept = gain > best.gain;
    if (!is_kept) continue;
    keep(scan, gain, left, best);
    place(scan, first, code, missing_goes_left, best);
  }
}

void BoostSearch::try_thresholds(const Scan& scan, BoostSplit& best) const {
  const bool has_missing = scan.has_missing();
  const auto try_cuts = [&](std::int64_t start, bool missing_goes_left, std::size_t n_cuts) {
    if (!try_fast(scan, start, missing_goes_left, n_cuts, best)) {
      try_slowly(scan, start, missing_goes_left, n_cuts, best);
    }
  };
  // Missing values on the right, where they may be alone, then on the left.
  try_cuts(0, false, has_missing ? scan.n_values : scan.n_values - 1);
  if (has_missing && scan.n_values > 1) try_cuts(scan.missing, true, scan.n_values - 1);
}

// Levels in the order of their step; the best subset is among the first so many. Missing values
// are a level like the others.
void BoostSearch::try_categories(const Scan& scan, BoostSplit& best) const {
  const std::uint32_t n_codes = columns_.column(scan.feature).n_codes();
  std::array<std::pair<double, std::uint32_t>, kByteCodes> ordered;
  std::size_t n_present = 0;
  for (std::uint32_t code = 0; code < n_codes; ++code) {
    const std::int64_t cell = scan.cells[code];
    if (cell == 0 && (scan.counts == nullptr || scan.counts[code] == 0)) continue;
    const double weight = hessian(cell) + category_smoothing_;
    ordered[n_present++] = {weight > 0.0 ? gradient(cell) / weight : 0.0, code};
  }
  std::sort(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(n_present));
  std::int64_t left = 0;
  std::int64_t left_count = 0;
  std::size_t best_size = 0;
  for (std::size_t i = 0; i + 1 < n_present; ++i) {
    const std::uint32_t code = ordered[i].second;
    left += scan.cells[code];
    left_count += scan.counts == nullptr ? 0 : scan.counts[code];
    const double gain = gain_of(scan, left, left_count);
    if (!(gain > best.gain)) continue;
    keep(scan, gain, left, best);
    best_size = i + 1;
  }
  if (best_size == 0) return;
  best.is_category = true;
  // Levels that the node does not have go where missing values go, else where the larger side is.
  const std::uint32_t missing_code = columns_.column(scan.feature).missing_code();
  for (std::size_t i = 0; i < n_present; ++i) {
    if (ordered[i].second == missing_code) best.missing_goes_left = i < best_size;
  }
  best.goes_left.assign(n_codes, best.missing_goes_left ? 1 : 0);
  for (std::size_t i = 0; i < n_present; ++i) {
    best.goes_left[ordered[i].second] = i < best_size ? 1 : 0;
  }
}

void BoostSearch::start(Scan& scan) const {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const BoostNode& node = scan.node;
  scan.is_bounded = options_.monotonic_of(scan.feature) != 0 || node.bounds.low > -kLargest ||
                    node.bounds.high < kLargest;
  scan.parent_score =
      score_of_step(gradient(node.total), hessian(node.total), step(node.total, node.bounds));
}

BoostSearch::Screen BoostSearch::screen_of(const BoostNode& node) const {
  Scan scan{.feature = 0, .node = node};
  start(scan);
  constexpr double kLargest = std::numeric_limits<double>::max();
  const bool is_bounded = node.bounds.low > -kLargest || node.bounds.high < kLargest;
  return {scan.parent_score, !is_bounded && l1_ == 0.0};
}

bool BoostSearch::may_beat(const Screen& screen, const BoostNode& node, std::int64_t own,
                           std::uint32_t feature, double gain) const {
  constexpr double kRounding = 1e-9;  // the search may add up in another order
  const std::int64_t others = node.total - own;
  const double own_hessian = hessian(own);
  const double other_hessian = hessian(others);
  if (own_hessian < min_hessian_ || other_hessian < min_hessian_) return false;
  if (!screen.is_plain || options_.monotonic_of(feature) != 0) return true;
  const double n = own_hessian + l2_;
  const double m = other_hessian + l2_;
  const double g = gradient(own);
  const double other_g = gradient(others);
  const double score = (g * g * m + other_g * other_g * n) / (n * m);
  return score - screen.parent_score + kRounding * score > gain;
}

bool BoostSearch::try_feature(const std::int64_t* cells, const BoostNode& node,
                              std::uint32_t feature, std::span<const std::uint32_t> counts,
                              BoostSplit& best) const {
  const CodeColumn& column = columns_.column(feature);
  if (column.n_codes() < 2) return false;
  Scan scan{.feature = feature, .node = node};
  scan.cells = cells;
  scan.counts = counts.empty() ? nullptr : counts.data();
  scan.counts_sides = scan.counts != nullptr;
  scan.n_values = column.n_values;
  if (column.has_missing) {
    scan.missing = scan.cells[column.missing_code()];
    scan.n_missing = counts.empty() ? 0 : counts[column.missing_code()];
  }
  scan.n_rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  start(scan);
  const double gain = best.gain;
  if (dataset_.feature(feature).kind == FeatureKind::kCategory) {
    try_categories(scan, best);
  } else {
    try_thresholds(scan, best);
  }
  return best.gain > gain;
}

void BoostSearch::try_sorted(std::span<const SortedRow> rows, const BoostNode& node,
                             std::uint32_t feature, std::span<const std::uint32_t> repetitions,
                             BoostSplit& best) const {
  const std::uint32_t missing_code = columns_.column(feature).missing_code();
  const auto count = [&](std::uint32_t row) -> std::int64_t {
    return repetitions.empty() ? 1 : repetitions[row];
  };
  Scan scan{.feature = feature, .node = node};
  start(scan);
  scan.counts_sides = true;
  std::size_t n_present = rows.size();
  for (; n_present > 0 && rows[n_present - 1].code == missing_code; --n_present) {
    scan.missing += rows_.packed[rows[n_present - 1].row];
    scan.n_missing += static_cast<std::uint32_t>(count(rows[n_present - 1].row));
  }
  scan.n_rows = static_cast<std::int64_t>(rows.size());
  if (!repetitions.empty()) {
    scan.n_rows = 0;
    for (const SortedRow& row : rows) scan.n_rows += count(row.row);
  }
  const auto try_cuts = [&](bool missing_goes_left) {
    constexpr std::size_t kPrefetch = 16;
    std::int64_t left = missing_goes_left ? scan.missing : 0;
    std::int64_t left_count = missing_goes_left ? scan.n_missing : 0;
    const std::size_t n_cuts = n_present - (missing_goes_left || scan.n_missing == 0 ? 1 : 0);
    for (std::size_t i = 0; i < n_cuts; ++i) {
      if (i + kPrefetch < n_cuts) __builtin_prefetch(&rows_.packed[rows[i + kPrefetch].row]);
      const SortedRow row = rows[i];
      left += rows_.packed[row.row];
      left_count += count(row.row);
      const bool is_last = i + 1 == n_present;
      if (!is_last && rows[i + 1].code == row.code) continue;
      const double gain = gain_of(scan, left, left_count);
      if (!(gain > best.gain)) continue;
      keep(scan, gain, left, best);
      best.last_left = row.code;
      best.last_left_row = row.row;
      best.first_right_row = is_last ? kNoCode : rows[i + 1].row;
      if (scan.n_missing > 0) best.missing_goes_left = missing_goes_left;
    }
  };
  if (n_present == 0) return;
  try_cuts(false);
  if (scan.n_missing > 0) try_cuts(true);
}

}  // namespace committee
