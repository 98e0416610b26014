#include "quinlan/candidate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/portable_math.hpp"
#include "score/criterion.hpp"

namespace committee {
namespace {

// Weights are mostly whole and small, whose logarithms are known.
double weight_log(double x) {
  const auto whole = static_cast<std::uint64_t>(std::max(x, 0.0));
  return static_cast<double>(whole) == x ? WholeLogs::x_log2_x(whole) : x_log2_x(x);
}

double total_of(std::span<const double> counts) {
  double total = 0.0;
  for (const double count : counts) total += count;
  return total;
}

// Entropy of the classes times their weight.
double entropy_sum(std::span<const double> counts, double total) {
  double sum = weight_log(total);
  for (const double count : counts) sum -= weight_log(count);
  return sum;
}

// The class weights of the codes that occur in a node, by code; returns those of missing values.
// A table of all codes where it is not much larger than the node, else the cases are sorted. Both
// add the cases of a code in their order.
double count_codes(const CodeColumn& column, const NodeCases& node, CandidateScratch& scratch) {
  const std::size_t n_classes = node.n_classes;
  const std::size_t n_cases = node.rows.size();
  scratch.codes.clear();
  scratch.counts.clear();
  double missing = 0.0;
  const std::uint32_t missing_code = column.has_missing ? column.missing_code() : 0xFFFFFFFFU;
  if (column.n_codes() * n_classes <= 4 * n_cases + 64) {
    scratch.dense.assign(column.n_codes() * n_classes, 0.0);
    visit_codes(column, [&](const auto* codes) {
      for (std::size_t i = 0; i < n_cases; ++i) {
        scratch.dense[codes[node.rows[i]] * n_classes + node.classes[i]] += node.weights[i];
      }
    });
    for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
      const auto counts = std::span(scratch.dense).subspan(code * n_classes, n_classes);
      const double total = total_of(counts);
      if (code == missing_code) {
        missing = total;
      } else if (total > 0.0) {
        scratch.codes.push_back(code);
        scratch.counts.insert(scratch.counts.end(), counts.begin(), counts.end());
      }
    }
    return missing;
  }
  scratch.keys.resize(n_cases);
  visit_codes(column, [&](const auto* codes) {
    for (std::size_t i = 0; i < n_cases; ++i) {
      scratch.keys[i] = (std::uint64_t{codes[node.rows[i]]} << 32) | i;
    }
  });
  std::sort(scratch.keys.begin(), scratch.keys.end());
  for (const std::uint64_t key : scratch.keys) {
    const auto code = static_cast<std::uint32_t>(key >> 32);
    const std::size_t i = key & 0xFFFFFFFFU;
    if (code == missing_code) {
      missing += node.weights[i];
      continue;
    }
    if (scratch.codes.empty() || scratch.codes.back() != code) {
      scratch.codes.push_back(code);
      scratch.counts.resize(scratch.counts.size() + n_classes, 0.0);
    }
    scratch.counts[(scratch.codes.size() - 1) * n_classes + node.classes[i]] += node.weights[i];
  }
  return missing;
}

// The cut with the largest gain; of equal ones the lowest.
void find_threshold(const CandidateScratch& scratch, const NodeCases& node, double known,
                    std::span<const double> totals, const QuinlanOptions& options,
                    Candidate& best) {
  const std::size_t n_classes = node.n_classes;
  double smallest = options.min_weight_leaf;
  if (options.corrects_thresholds) {
    // C4.5 wants a tenth of an average class on each side, at most 25 cases.
    const double tenth = 0.1 * known / static_cast<double>(n_classes);
    smallest = std::max(smallest, std::min(tenth, 25.0));
  }
  const double before = entropy_sum(totals, known);
  std::vector<double> left(n_classes, 0.0);
  std::vector<double> right(n_classes, 0.0);
  double left_weight = 0.0;
  double least = 0.0;  // entropy of both sides times their weight
  double best_left = 0.0;
  std::size_t n_tries = 0;
  for (std::size_t i = 0; i + 1 < scratch.codes.size(); ++i) {
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double count = scratch.counts[i * n_classes + k];
      left[k] += count;
      left_weight += count;
    }
    const double right_weight = known - left_weight;
    if (left_weight < smallest - kTie) continue;
    if (right_weight < smallest - kTie) break;
    ++n_tries;
    for (std::size_t k = 0; k < n_classes; ++k) right[k] = totals[k] - left[k];
    const double after = entropy_sum(left, left_weight) + entropy_sum(right, right_weight);
    if (n_tries > 1 && (least - after) / node.weight <= kTie) continue;
    least = after;
    best_left = left_weight;
    best.last_left = scratch.codes[i];
    best.first_right = scratch.codes[i + 1];
  }
  if (n_tries == 0) return;
  if (options.corrects_thresholds) {
    best.correction = log2_of(static_cast<double>(n_tries)) / node.weight;
  }
  best.gain = (before - least) / node.weight - best.correction;
  // A threshold has to be worth its price; without a price, one that gains nothing is fine.
  best.exists = options.corrects_thresholds ? best.gain > kTie : true;
  best.n_branches = 2;
  best.split_information = (weight_log(node.weight) - weight_log(best_left) -
                            weight_log(known - best_left) - weight_log(node.weight - known)) /
                           node.weight;
}

// Groups of levels: which two to merge is decided by the gain ratio that results.
//
// Groups with the same class weights are *twins*: what a merger with one of them brings, one with
// the other brings too. So only the first two of each set of twins are looked at, and the many
// levels that few rows have cost no more than there are different ones.
class LevelGroups {
 public:
  LevelGroups(const CandidateScratch& scratch, const NodeCases& node, double missing)
      : n_classes_(node.n_classes),
        n_groups_(scratch.codes.size()),
        counts_(scratch.counts),
        group_of_(n_groups_),
        weight_(node.weight) {
    std::vector<double> all(n_classes_, 0.0);
    double known = 0.0;
    for (std::size_t i = 0; i < n_groups_; ++i) {
      weights_.push_back(total_of(counts_of(i)));
      known += weights_.back();
      for (std::size_t k = 0; k < n_classes_; ++k) all[k] += counts_of(i)[k];
      group_of_[i] = i;
    }
    before_ = entropy_sum(all, known);
    branches_ = weight_log(weight_) - weight_log(missing);
    for (std::size_t i = 0; i < n_groups_; ++i) {
      entropies_.push_back(entropy_sum(counts_of(i), weights_[i]));
      logs_.push_back(weight_log(weights_[i]));
      after_ += entropies_[i];
      branches_ -= logs_[i];
    }
  }

  double gain() const { return (before_ - after_) / weight_; }
  double split_information() const { return branches_ / weight_; }
  std::size_t size() const { return n_groups_; }

  // Merges while that raises the ratio and more than two groups are left.
  void merge(Monitor& monitor) {
    std::map<std::vector<double>, std::set<std::size_t>> twins;
    for (std::size_t i = 0; i < weights_.size(); ++i) twins[key_of(i)].insert(i);
    while (n_groups_ > 2) {
      const Merge best = find_best(twins, monitor);
      if (best.second == 0) return;
      for (const std::size_t group : {best.first, best.second}) {
        const auto same = twins.find(key_of(group));
        same->second.erase(group);
        if (same->second.empty()) twins.erase(same);
      }
      apply(best);
      twins[key_of(best.first)].insert(best.first);
    }
  }

  // Numbers the groups that are left, in the order of their first levels.
  void number(std::vector<std::uint32_t>& branch_of, std::vector<double>& weights) const {
    for (std::size_t i = 0; i < group_of_.size(); ++i) {
      if (group_of_[i] == i) {
        branch_of.push_back(static_cast<std::uint32_t>(weights.size()));
        weights.push_back(weights_[i]);
      } else {
        branch_of.push_back(branch_of[group_of_[i]]);
      }
    }
  }

 private:
  struct Merge {
    double ratio = 0.0;
    double after = 0.0;
    double branches = 0.0;
    std::size_t first = 0;
    std::size_t second = 0;  // 0: none
  };

  std::span<const double> counts_of(std::size_t group) const {
    return std::span(counts_).subspan(group * n_classes_, n_classes_);
  }
  // What all statistics of a group follow from.
  std::vector<double> key_of(std::size_t group) const {
    std::vector<double> key(counts_of(group).begin(), counts_of(group).end());
    key.push_back(weights_[group]);
    return key;
  }
  double ratio(double after, double branches) const {
    return branches / weight_ > kEpsilon ? (before_ - after) / branches : 0.0;
  }

  // The best merger that raises the ratio; of equal ones the first in the order of groups.
  Merge find_best(const std::map<std::vector<double>, std::set<std::size_t>>& twins,
                  Monitor& monitor) const {
    struct Pair {
      std::size_t first;
      std::size_t second;  // the next twin, 0 for none
    };
    std::vector<Pair> pairs;
    for (const auto& [key, groups] : twins) {
      pairs.push_back({*groups.begin(), groups.size() > 1 ? *std::next(groups.begin()) : 0});
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const Pair& a, const Pair& b) { return a.first < b.first; });
    Merge best;
    best.ratio = ratio(after_, branches_) + kTie;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      monitor.check();
      const std::size_t a = pairs[i].first;
      if (pairs[i].second != 0) improve(best, a, pairs[i].second);
      for (std::size_t j = i + 1; j < pairs.size(); ++j) improve(best, a, pairs[j].first);
    }
    return best;
  }

  void improve(Merge& best, std::size_t a, std::size_t b) const {
    const double weight = weights_[a] + weights_[b];
    const double log = weight_log(weight);
    const double branches = branches_ + (logs_[a] + logs_[b]) - log;
    // A merger never gains bits. If even without a loss the ratio is too small, that is all.
    if ((before_ - after_ + kTie * weight_) < best.ratio * branches) return;
    double merged = log;
    for (std::size_t k = 0; k < n_classes_; ++k) {
      merged -= weight_log(counts_of(a)[k] + counts_of(b)[k]);
    }
    const double after = after_ - (entropies_[a] + entropies_[b]) + merged;
    const double found = ratio(after, branches);
    const bool is_earlier = found == best.ratio && a == best.first && b < best.second;
    if (found > best.ratio || is_earlier) best = {found, after, branches, a, b};
  }

  void apply(const Merge& merge) {
    const std::size_t first = merge.first;
    for (std::size_t k = 0; k < n_classes_; ++k) {
      counts_[first * n_classes_ + k] += counts_[merge.second * n_classes_ + k];
    }
    weights_[first] += weights_[merge.second];
    entropies_[first] = entropy_sum(counts_of(first), weights_[first]);
    logs_[first] = weight_log(weights_[first]);
    for (std::size_t& group : group_of_) {
      if (group == merge.second) group = first;
    }
    --n_groups_;
    after_ = merge.after;
    branches_ = merge.branches;
  }

  std::size_t n_classes_;
  std::size_t n_groups_;
  // A group has the number of its first level; there is nothing behind the others' numbers.
  std::vector<double> counts_;     // one row a group
  std::vector<double> weights_;    // their sums,
  std::vector<double> entropies_;  // entropies times weight
  std::vector<double> logs_;       // and x log2 x of the weights
  std::vector<std::size_t> group_of_;
  double weight_;
  double before_ = 0.0;    // entropy of all known cases times their weight
  double after_ = 0.0;     // the same of the groups
  double branches_ = 0.0;  // entropy of the branches times the weight
};

void split_levels(const CandidateScratch& scratch, const NodeCases& node, double missing,
                  const QuinlanOptions& options, Monitor& monitor, Candidate& best) {
  LevelGroups groups(scratch, node, missing);
  if (options.groups_levels) groups.merge(monitor);
  const auto is_large = [&](double weight) { return weight >= options.min_weight_leaf - kTie; };
  std::vector<double> weights;
  groups.number(best.branch_of, weights);
  best.exists = std::count_if(weights.begin(), weights.end(), is_large) >= 2;
  best.gain = groups.gain();
  best.split_information = groups.split_information();
  best.n_branches = static_cast<std::uint32_t>(groups.size());
  best.codes = scratch.codes;
}

}  // namespace

Candidate find_candidate(const BinnedFeature& feature, const NodeCases& node,
                         const QuinlanOptions& options, CandidateScratch& scratch,
                         Monitor& monitor) {
  monitor.check();
  Candidate best;
  best.is_threshold = feature.kind != FeatureKind::kCategory;
  const double missing = count_codes(feature.column, node, scratch);
  std::vector<double> totals(node.n_classes, 0.0);
  for (std::size_t i = 0; i < scratch.counts.size(); ++i) {
    totals[i % node.n_classes] += scratch.counts[i];
  }
  const double known = total_of(totals);
  if (known <= 0.0) return best;
  best.known = known / (known + missing);
  best.entropy = entropy_sum(totals, known) / known;
  if (scratch.codes.size() < 2) return best;
  if (best.is_threshold) {
    find_threshold(scratch, node, known, totals, options, best);
  } else {
    split_levels(scratch, node, missing, options, monitor, best);
  }
  if (best.gain < options.min_gain - kTie) best.exists = false;
  return best;
}

std::size_t choose(std::span<const Candidate> candidates, const std::vector<bool>& is_many_valued,
                   const QuinlanOptions& options) {
  double average = 0.0;
  if (options.use_ratio) {
    std::size_t n_averaged = 0;
    for (const Candidate& candidate : candidates) {
      if (!candidate.exists || is_many_valued[candidate.feature]) continue;
      average += candidate.gain;
      ++n_averaged;
    }
    if (n_averaged > 0) average /= static_cast<double>(n_averaged);
  }
  std::size_t best = candidates.size();
  double best_worth = 0.0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (!candidate.exists) continue;
    if (options.use_ratio &&
        (candidate.gain < average - kEpsilon || candidate.split_information <= kEpsilon)) {
      continue;
    }
    const double worth = options.use_ratio ? candidate.ratio() : candidate.gain;
    if (best == candidates.size() || worth > best_worth + kTie) {
      best = i;
      best_worth = worth;
    }
  }
  return best;
}

}  // namespace committee
