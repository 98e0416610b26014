#include "adaboost/boosted_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/quantize.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

constexpr double kGrid = 72057594037927936.0;  // 2^56
// The sum of all weights; integers then stay below 2^62.
constexpr double kLeastTotal = 1.0 / 64;
constexpr double kMostTotal = 32.0;

// 2^-k for a number in [2^(k-1), 2^k).
double inverse_scale(double number) {
  int exponent = 0;
  std::frexp(number, &exponent);
  return std::ldexp(1.0, -exponent);
}

// Not below the smallest normal number: nothing would bring a weight back from zero, and arithmetic
// is slow on the way there.
double checked(double weight, std::uint32_t count) {
  if (!(weight * count < kWideLimit)) {
    throw std::invalid_argument("growth is not that of the factors");
  }
  return std::max(weight, std::numeric_limits<double>::min());
}

// A sum of weights, or what is added to it. Looked at row by row: it would not fit later on.
void check_sum(Wide sum) {
  if (static_cast<std::int64_t>(sum >> 64) >= kHighOfLimit) {
    throw std::invalid_argument("growth is not that of the factors");
  }
}

// At least one unit: a row that counts is in every sum, or a leaf may have a weight of zero. To set
// the last bit is faster than to compare, and far below what a double shows of a sum.
Wide sum_weight(double weight) { return to_wide(weight) | 1; }

}  // namespace

bool are_below(Groups groups, std::size_t n_groups) {
  std::uint32_t largest = 0;
  for (const std::uint32_t group : groups) largest = std::max(largest, group);
  return groups.empty() || largest < n_groups;
}

BoostedRows::BoostedRows(std::span<const std::int32_t> classes, std::uint32_t n_classes,
                         std::span<const double> weights, std::size_t n_threads)
    : n_classes_(n_classes),
      n_threads_(n_threads),
      classes_(classes.begin(), classes.end()),
      counts_(classes.size(), 1U),
      weights_(classes.size(), 1.0),
      scores_(classes.size() * n_classes, 0.0) {
  const bool are_whole = are_repetitions(weights);
  for (std::size_t row = 0; row < weights.size(); ++row) {
    counts_[row] = are_whole ? static_cast<std::uint32_t>(weights[row])
                             : static_cast<std::uint32_t>(weights[row] > 0.0);
    weights_[row] = are_whole ? std::min(weights[row], 1.0) : weights[row];
  }
  scale_weights();
  if (!are_whole) given_.assign(weights_.begin(), weights_.end());
  given_total_ = are_whole ? std::accumulate(counts_.begin(), counts_.end(), Wide{0}) : total_;
  if (total_ == 0) throw std::invalid_argument("no row has a positive weight");
}

// Brings the sum of all weights to [1/2, 1), whatever the unit of the user and the order of rows.
void BoostedRows::scale_weights() {
  double largest = 0.0;
  double n_counted = 0.0;
  for (std::size_t row = 0; row < n_rows(); ++row) {
    largest = std::max(largest, weights_[row]);
    n_counted += counts_[row];
  }
  if (largest == 0.0) return;
  // First below one, for exact sums; by exponents, because a factor may be out of range.
  multiply_all(-std::ilogb(largest) - std::ilogb(n_counted) - 2);
  add_up();
  multiply_all(-std::ilogb(from_wide(total_)) - 1);
  add_up();
}

void BoostedRows::multiply_all(int exponent) {
  for (std::size_t row = 0; row < n_rows(); ++row) {
    weights_[row] = checked(std::ldexp(weights_[row], exponent), counts_[row]);
  }
}

std::size_t BoostedRows::n_parts() const {
  constexpr std::size_t kMinRows = 16384;
  return chunk_count(n_rows(), kMinRows, n_threads_);
}

template <typename Visit>
void BoostedRows::for_each_part(std::size_t n_parts, const Visit& visit) const {
  parallel_parts(n_parts, n_threads_,
                 [&](std::size_t part) { visit(part, chunk_range(n_rows(), n_parts, part)); });
}

std::int64_t BoostedRows::whole_weight(std::size_t row) const {
  const auto one = static_cast<std::int64_t>(weights_[row] * kGrid + 0.5);
  return std::max<std::int64_t>(one, 1) * counts_[row];
}

void BoostedRows::add_up() {
  std::vector<Wide> sums(n_parts(), 0);
  for_each_part(sums.size(), [&](std::size_t part, Range rows) {
    Wide sum = 0;
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      sum += sum_weight(weights_[row]) * counts_[row];
      check_sum(sum);
      if (tracks_) whole_[row] = whole_weight(row);
    }
    sums[part] = sum;
  });
  total_ = 0;
  for (const Wide sum : sums) total_ += sum;
  check_sum(total_);
  is_renewed_ = true;
  for (AlignedVector<RowEntry>& of_class : changes_) of_class.clear();
}

std::vector<double> BoostedRows::shares(Groups groups, std::size_t n_groups) const {
  require_sound();
  const std::size_t size = n_groups * n_classes_;
  // Every part has a table of its own. Where they would be larger than the rows (each row may be a
  // group), there is one part.
  const std::size_t n_tables = n_parts() * size <= n_rows() ? n_parts() : 1;
  std::vector<std::vector<Wide>> sums(n_tables, std::vector<Wide>(size, 0));
  for_each_part(sums.size(), [&](std::size_t part, Range rows) {
    Wide* const own = sums[part].data();
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      own[std::size_t{groups[row]} * n_classes_ + classes_[row]] +=
          sum_weight(weights_[row]) * counts_[row];
    }
  });
  std::vector<double> shares(size);
  for (std::size_t i = 0; i < size; ++i) {
    Wide sum = 0;
    for (const std::vector<Wide>& part : sums) sum += part[i];
    shares[i] = static_cast<double>(sum) / static_cast<double>(total_);
  }
  return shares;
}

// Without a branch: which rows change is hard to foresee.
BoostedRows::Changing BoostedRows::find_changing(Groups groups,
                                                 std::span<const std::uint8_t> changes,
                                                 Range rows) {
  Changing changing;
  changing.n_of_class.assign(n_classes_, 0);
  std::uint32_t* const first = changing_.data() + rows.begin;
  std::uint32_t* next = first;
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const std::uint16_t code = classes_[row];
    const std::uint8_t is_changing = changes[std::size_t{groups[row]} * n_classes_ + code];
    *next = static_cast<std::uint32_t>(row);  // never beyond this row's own place
    next += is_changing;
    changing.n_of_class[code] += is_changing;
  }
  changing.rows = {first, next};
  return changing;
}

// Multiplies the weights of some rows; returns what that adds to the sum of all. `next` is where
// changes are noted, for each class; null: nowhere.
Wide BoostedRows::change(Groups groups, std::span<const double> factors, const Changing& changing,
                         std::vector<RowEntry*> next) {
  Wide added = 0;
  for (const std::uint32_t row : changing.rows) {
    const std::uint16_t code = classes_[row];
    const double before = weights_[row];
    const double factor = factors[std::size_t{groups[row]} * n_classes_ + code];
    const double weight = checked(before * factor, counts_[row]);
    weights_[row] = weight;
    added += (sum_weight(weight) - sum_weight(before)) * counts_[row];
    check_sum(added);
    if (!tracks_) continue;
    const std::int64_t whole = whole_weight(row);
    if (next[code] != nullptr) *next[code]++ = {whole - whole_[row], row, 0};
    whole_[row] = whole;
  }
  return added;
}

void BoostedRows::reweigh(Groups groups, std::span<const double> factors, double growth) {
  require_sound();
  is_sound_ = false;
  multiply(groups, factors, growth);
  // Rows below one unit are in `growth` with more than they weigh: large factors make that matter.
  if (from_wide(total_) < kLeastTotal / 2) scale_weights();
  is_sound_ = true;
}

void BoostedRows::require_sound() const {
  if (!is_sound_) throw std::logic_error("the weights of rows were left half changed");
}

void BoostedRows::multiply(Groups groups, std::span<const double> factors, double growth) {
  const double after = from_wide(total_) * growth;
  if (!(after >= kLeastTotal && after <= kMostTotal)) return renew(groups, factors, growth);
  std::vector<std::uint8_t> changes(factors.size());
  for (std::size_t i = 0; i < factors.size(); ++i) changes[i] = factors[i] != 1.0 ? 1 : 0;
  changing_.resize(n_rows());
  std::vector<Changing> parts(n_parts());
  for_each_part(parts.size(), [&](std::size_t part, Range rows) {
    parts[part] = find_changing(groups, changes, rows);
  });
  // Every part notes its changes behind those of the parts before it.
  std::vector<std::vector<RowEntry*>> places(parts.size(),
                                             std::vector<RowEntry*>(n_classes_, nullptr));
  for (std::size_t code = 0; tracks_ && !is_renewed_ && code < n_classes_; ++code) {
    std::size_t size = changes_[code].size();
    for (const Changing& part : parts) size += part.n_of_class[code];
    changes_[code].resize(size);
    for (std::size_t part = parts.size(); part-- > 0;) {
      size -= parts[part].n_of_class[code];
      places[part][code] = changes_[code].data() + size;
    }
  }
  std::vector<Wide> added(parts.size(), 0);
  for_each_part(parts.size(), [&](std::size_t part, Range) {
    added[part] = change(groups, factors, parts[part], std::move(places[part]));
  });
  total_ = std::accumulate(added.begin(), added.end(), total_);
  check_sum(total_);
}

// The same where the sum would leave its range: all weights are scaled.
void BoostedRows::renew(Groups groups, std::span<const double> factors, double growth) {
  // One after the other: a product may be out of range where its factors are not.
  const double first = inverse_scale(from_wide(total_));
  const double second = inverse_scale(growth);
  for_each_part(n_parts(), [&](std::size_t, Range rows) {
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      const double factor = factors[std::size_t{groups[row]} * n_classes_ + classes_[row]];
      weights_[row] = checked(weights_[row] * first * second * factor, counts_[row]);
    }
  });
  add_up();
}

double BoostedRows::add_votes(Groups groups, std::span<const double> votes) {
  const bool are_whole = given_.empty();
  const bool are_two = n_classes_ == 2;
  std::vector<Wide> sums(n_parts(), 0);
  for_each_part(sums.size(), [&](std::size_t part, Range rows) {
    sums[part] = are_whole ? (are_two ? add_votes_of<true, 2>(groups, votes, rows)
                                      : add_votes_of<true, 0>(groups, votes, rows))
                           : (are_two ? add_votes_of<false, 2>(groups, votes, rows)
                                      : add_votes_of<false, 0>(groups, votes, rows));
  });
  const Wide wrong = std::accumulate(sums.begin(), sums.end(), Wide{0});
  return static_cast<double>(wrong) / static_cast<double>(given_total_);
}

// kClasses is the number of classes where it is known to the compiler, else 0.
template <bool kWhole, std::uint32_t kClasses>
Wide BoostedRows::add_votes_of(Groups groups, std::span<const double> votes, Range rows) {
  const std::uint32_t n_classes = kClasses > 0 ? kClasses : n_classes_;
  Wide wrong = 0;
  std::uint64_t n_wrong = 0;
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    double* const scores = scores_.data() + row * n_classes;
    const double* const added = votes.data() + std::size_t{groups[row]} * n_classes;
    std::uint32_t best = 0;
    double largest = scores[0] += added[0];
    for (std::uint32_t code = 1; code < n_classes; ++code) {
      const double score = scores[code] += added[code];
      best = score > largest ? code : best;
      largest = score > largest ? score : largest;
    }
    // Products instead of branches.
    const std::uint32_t is_wrong = best != classes_[row] ? 1 : 0;
    if constexpr (kWhole) {
      n_wrong += std::uint64_t{is_wrong} * counts_[row];
    } else {
      wrong += to_wide(given_[row] * is_wrong) * counts_[row];
    }
  }
  return kWhole ? static_cast<Wide>(n_wrong) : wrong;
}

void BoostedRows::distribution(std::span<double> out) const {
  const double total = from_wide(total_);
  for (std::size_t row = 0; row < n_rows(); ++row) out[row] = weights_[row] * counts_[row] / total;
}

std::uint64_t BoostedRows::track() {
  require_sound();
  tracks_ = true;
  changes_.assign(n_classes_, AlignedVector<RowEntry>());
  whole_.resize(n_rows());
  add_up();
  return ++tracker_;
}

bool BoostedRows::take_changes(std::uint64_t tracker,
                               std::vector<AlignedVector<RowEntry>>& changes) {
  require_sound();
  if (tracker != tracker_) throw std::logic_error("another booster has taken over the rows");
  changes.resize(n_classes_);
  for (std::size_t code = 0; code < n_classes_; ++code) changes[code].clear();
  const bool are_known = !is_renewed_;
  if (are_known) std::swap(changes, changes_);
  is_renewed_ = false;
  return are_known;
}

}  // namespace committee
