// Split search for absolute error.
//
// The best prediction of a side is its median, which is no function of sums, so the rows are
// swept in the order of their codes while a tree of partial sums over the ranks of the target
// (Fenwick 1994) answers "weight and target sum of the k smallest". Each feature costs
// O(n log n). All sums are integers. The levels of a category are swept in the order of their
// medians: a good order, not always the best subset.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "split/splitter.hpp"

namespace committee {
namespace {

// Partial sums over ranks.
class RankSums {
 public:
  explicit RankSums(std::size_t n) : weights_(n + 1), sums_(n + 1), top_(std::bit_floor(n)) {}

  void add(std::size_t rank, std::int64_t weight, std::int64_t sum) {
    total_weight_ += weight;
    total_sum_ += sum;
    for (std::size_t i = rank + 1; i < weights_.size(); i += i & (~i + 1)) {
      weights_[i] += weight;
      sums_[i] += sum;
    }
  }

  void clear() {
    std::fill(weights_.begin(), weights_.end(), 0);
    std::fill(sums_.begin(), sums_.end(), 0);
    total_weight_ = total_sum_ = 0;
  }

  // The first rank at which the weight of the smaller ranks and itself exceeds `weight`, with
  // the sums of the ranks before it.
  struct Position {
    std::size_t rank = 0;
    std::int64_t weight_before = 0;
    std::int64_t sum_before = 0;
  };
  Position find(std::int64_t weight) const {
    Position at;
    for (std::size_t step = top_; step > 0; step /= 2) {
      const std::size_t next = at.rank + step;
      if (next < weights_.size() && at.weight_before + weights_[next] <= weight) {
        at.rank = next;
        at.weight_before += weights_[next];
        at.sum_before += sums_[next];
      }
    }
    return at;
  }

  std::int64_t total_weight() const { return total_weight_; }
  std::int64_t total_sum() const { return total_sum_; }

 private:
  std::vector<std::int64_t> weights_;
  std::vector<std::int64_t> sums_;
  std::size_t top_;
  std::int64_t total_weight_ = 0;
  std::int64_t total_sum_ = 0;
};

// The rows of a node ranked by one output of the target.
struct RankedTarget {
  std::vector<std::uint32_t> rank;  // of each node row, by position in the node
  // Target (less the centre, in units of the fit's magnitude) of each rank, ascending.
  std::vector<double> value;
  double weight_unit = 1.0;
  double sum_unit = 1.0;
};

// Weighted sum of distances to the median of what has been added.
double absolute_deviation(const RankSums& sums, const RankedTarget& target) {
  const RankSums::Position at = sums.find((sums.total_weight() - 1) / 2);
  const double median = target.value[at.rank];
  const double weight_below = static_cast<double>(at.weight_before) * target.weight_unit;
  const double weight_above =
      static_cast<double>(sums.total_weight() - at.weight_before) * target.weight_unit;
  const double sum_below = static_cast<double>(at.sum_before) * target.sum_unit;
  const double sum_above = static_cast<double>(sums.total_sum() - at.sum_before) * target.sum_unit;
  return (median * weight_below - sum_below) + (sum_above - median * weight_above);
}

// The median with the mean of both middle ranks where the weight splits in halves.
double median_of(const RankSums& sums, const RankedTarget& target) {
  const std::int64_t total = sums.total_weight();
  const double low = target.value[sums.find((total - 1) / 2).rank];
  return total % 2 != 0 ? low : low / 2 + target.value[sums.find(total / 2).rank] / 2;
}

// Rows of a node that share a code; a sweep moves whole groups.
struct Group {
  std::uint32_t code = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// State of a sweep after each group.
struct Prefix {
  double deviation = 0.0;
  double median = 0.0;  // of the first output
  std::int64_t weight = 0;
  std::int64_t rows = 0;
};

// The search for the best split of one node.
class NodeSearch {
 public:
  NodeSearch(const FitData& data, const GrowOptions& options, const NodeView& node,
             const std::vector<RankedTarget>& targets)
      : data_(data),
        options_(options),
        node_(node),
        statistics_(node.block->statistics),
        targets_(targets) {
    min_weight_ = least_leaf_weight(data_, options_, node);
    std::vector<std::uint32_t> all(node.rows.size());
    std::iota(all.begin(), all.end(), 0U);
    total_ = sweep(all, {Group{0, 0, all.size()}}, nullptr, false).front();
  }

  double total_deviation() const { return total_.deviation; }

  void try_feature(std::uint32_t feature, Split& best) const {
    const CodeColumn& column = node_.block->columns[feature];
    std::vector<std::uint32_t> positions;
    std::vector<Group> groups = group_by_code(column, positions);
    if (groups.size() < 2) return;
    if (data_.dataset->feature(feature).kind == FeatureKind::kCategory) {
      try_category(feature, column, positions, groups, best);
      return;
    }
    Group missing;
    const bool has_missing = column.has_missing && groups.back().code == column.missing_code();
    if (has_missing) {
      missing = groups.back();
      groups.pop_back();
    }
    Split drawn;
    const bool is_random = options_.random_thresholds && groups.size() > 1;
    if (is_random) draw(feature, positions, groups, drawn);
    for (const int missing_child : {1, 0}) {
      if (!has_missing && missing_child == 0) break;
      const std::vector<Prefix> left =
          sweep(positions, groups, has_missing && missing_child == 0 ? &missing : nullptr, false);
      const std::vector<Prefix> right =
          sweep(positions, groups, has_missing && missing_child == 1 ? &missing : nullptr, true);
      for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
        if (is_random && groups[i].code != drawn.last_left) continue;
        Split split = drawn;
        split.last_left = groups[i].code;
        split.first_right = groups[i + 1].code;
        consider(feature, left[i], right[i + 1], has_missing ? missing_child : -1, split, best);
      }
      if (has_missing && missing_child == 1) {  // all values left, missing ones alone right
        Split split;
        split.last_left = groups.back().code;
        const std::vector<Prefix> alone = sweep(positions, {missing}, nullptr, false);
        consider(feature, left_of_all(positions, groups), alone.front(), 1, split, best);
      }
    }
  }

 private:
  // Positions of the node's rows in the order of their codes, and where each code begins.
  std::vector<Group> group_by_code(const CodeColumn& column,
                                   std::vector<std::uint32_t>& positions) const {
    std::vector<std::uint32_t> count(std::size_t{column.n_codes()} + 1);
    for (const std::uint32_t row : node_.rows) ++count[column.at(row) + 1];
    std::vector<Group> groups;
    for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
      if (count[code + 1] != 0) {
        groups.push_back({code, count[code], std::size_t{count[code]} + count[code + 1]});
      }
      count[code + 1] += count[code];
    }
    positions.resize(node_.rows.size());
    for (std::uint32_t i = 0; i < node_.rows.size(); ++i) {
      positions[count[column.at(node_.rows[i])]++] = i;
    }
    return groups;
  }

  // Adds the groups one after the other, from the last one on when `backwards`; entry i
  // describes the rows up to (from) group i, with `first` added before all.
  std::vector<Prefix> sweep(const std::vector<std::uint32_t>& positions,
                            const std::vector<Group>& groups, const Group* first,
                            bool backwards) const {
    std::vector<Prefix> prefixes(groups.size());
    RankSums sums(node_.rows.size());
    for (std::size_t output = 0; output < targets_.size(); ++output) {
      const RankedTarget& target = targets_[output];
      sums.clear();
      std::int64_t rows = 0;
      const auto add = [&](const Group& group) {
        for (std::size_t i = group.begin; i < group.end; ++i) {
          const std::size_t row = node_.rows[positions[i]];
          const std::int64_t* cell = statistics_.sums.data() + row * statistics_.cell_size;
          sums.add(target.rank[positions[i]], cell[0], cell[1 + output]);
          if (!statistics_.repetitions.empty()) rows += statistics_.repetitions[row];
        }
      };
      if (first != nullptr) add(*first);
      for (std::size_t step = 0; step < groups.size(); ++step) {
        const std::size_t i = backwards ? groups.size() - 1 - step : step;
        add(groups[i]);
        Prefix& prefix = prefixes[i];
        prefix.deviation += absolute_deviation(sums, target) / static_cast<double>(targets_.size());
        if (output == 0) {
          prefix.median = std::ldexp(median_of(sums, target), statistics_.target_magnitude) +
                          statistics_.centres[0];
          prefix.weight = sums.total_weight();
          prefix.rows = rows;
        }
      }
    }
    return prefixes;
  }

  Prefix left_of_all(const std::vector<std::uint32_t>& positions,
                     const std::vector<Group>& groups) const {
    return sweep(positions, groups, nullptr, false).back();
  }

  void draw(std::uint32_t feature, const std::vector<std::uint32_t>& positions,
            const std::vector<Group>& groups, Split& drawn) const {
    std::vector<std::uint32_t> present;
    std::vector<std::uint32_t> example(groups.back().code + 1);
    for (const Group& group : groups) {
      present.push_back(group.code);
      example[group.code] = node_.rows[positions[group.begin]];
    }
    draw_threshold(data_, node_, feature, present, example, drawn);
  }

  bool keeps_limits(const Prefix& side) const {
    return static_cast<double>(side.weight) >= min_weight_ &&
           (statistics_.repetitions.empty() || side.rows >= options_.min_rows_leaf);
  }

  // `split` holds what is known of the candidate; becomes `best` when it is better.
  void consider(std::uint32_t feature, const Prefix& left, const Prefix& right, int missing_child,
                Split& split, Split& best) const {
    const double score = -(left.deviation + right.deviation) - split.penalty;
    if (!(score > best.score) || !keeps_limits(left) || !keeps_limits(right)) return;
    const int direction = options_.monotonic_of(feature);
    if (direction != 0 &&
        (!node_.bounds.contains(left.median) || !node_.bounds.contains(right.median) ||
         (left.median - right.median) * direction > 0)) {
      return;
    }
    split.score = score;
    split.feature = feature;
    split.left_value = node_.bounds.clip(left.median);
    split.right_value = node_.bounds.clip(right.median);
    split.default_child = missing_child >= 0           ? static_cast<std::uint32_t>(missing_child)
                          : left.weight > right.weight ? 0
                                                       : 1;
    if (split.child_of_code.empty()) {
      split.kind = data_.dataset->feature(feature).kind == FeatureKind::kInteger
                       ? SplitKind::kInteger
                       : SplitKind::kReal;
    }
    best = split;
  }

  void try_category(std::uint32_t feature, const CodeColumn& column,
                    const std::vector<std::uint32_t>& positions, const std::vector<Group>& groups,
                    Split& best) const {
    if (options_.fan_out_categories) {
      try_fan_out(feature, column, positions, groups, best);
    } else if (options_.random_thresholds) {
      Random random(derive_key(node_.key, std::uint64_t{feature} + 1));
      std::vector<double> keys;
      for (std::size_t i = 0; i < groups.size(); ++i) keys.push_back(random.uniform());
      const std::size_t cut = random.below(static_cast<std::uint32_t>(groups.size() - 1));
      try_order(feature, column, positions, groups, keys, cut, cut, best);
    } else {
      for (std::size_t output = 0; output < targets_.size(); ++output) {
        std::vector<double> keys;
        for (const Group& group : groups) {
          keys.push_back(group_median(positions, group, output));
        }
        try_order(feature, column, positions, groups, keys, 0, groups.size(), best);
      }
    }
  }

  double group_median(const std::vector<std::uint32_t>& positions, const Group& group,
                      std::size_t output) const {
    RankSums sums(node_.rows.size());
    for (std::size_t i = group.begin; i < group.end; ++i) {
      const std::size_t row = node_.rows[positions[i]];
      sums.add(targets_[output].rank[positions[i]], statistics_.sums[row * statistics_.cell_size],
               0);
    }
    return median_of(sums, targets_[output]);
  }

  // Tries the cuts [first, last] of the groups in the order of their keys.
  void try_order(std::uint32_t feature, const CodeColumn& column,
                 const std::vector<std::uint32_t>& positions, const std::vector<Group>& groups,
                 const std::vector<double>& keys, std::size_t first, std::size_t last,
                 Split& best) const {
    std::vector<std::size_t> order(groups.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    std::vector<Group> ordered;
    for (const std::size_t i : order) ordered.push_back(groups[i]);
    const std::vector<Prefix> left = sweep(positions, ordered, nullptr, false);
    const std::vector<Prefix> right = sweep(positions, ordered, nullptr, true);
    const double penalty =
        options_.random_thresholds
            ? 0.0
            : level_price(options_.level_penalty, total_.deviation, node_.n_counted, groups.size());
    for (std::size_t cut = first; cut + 1 < ordered.size() && cut <= last; ++cut) {
      const double score = -(left[cut].deviation + right[cut + 1].deviation) - penalty;
      if (!(score > best.score)) continue;
      Split split;
      split.penalty = penalty;
      split.kind = SplitKind::kSubset;
      split.child_of_code.assign(column.n_codes(), kNoChild);
      for (std::size_t i = 0; i < ordered.size(); ++i) {
        split.child_of_code[ordered[i].code] = i <= cut ? 0 : 1;
      }
      consider(feature, left[cut], right[cut + 1], missing_child(column, split), split, best);
    }
  }

  static int missing_child(const CodeColumn& column, const Split& split) {
    if (!column.has_missing) return -1;
    const std::uint32_t child = split.child_of_code[column.missing_code()];
    return child == kNoChild ? -1 : static_cast<int>(child);
  }

  void try_fan_out(std::uint32_t feature, const CodeColumn& column,
                   const std::vector<std::uint32_t>& positions, const std::vector<Group>& groups,
                   Split& best) const {
    std::vector<Prefix> alone;
    for (const Group& group : groups) {
      alone.push_back(sweep(positions, {group}, nullptr, false).front());
    }
    Split split;
    split.score = 0.0;
    split.feature = feature;
    split.kind = SplitKind::kFanOut;
    split.n_children = static_cast<std::uint32_t>(groups.size());
    split.child_of_code.assign(column.n_codes(), kNoChild);
    for (std::uint32_t child = 0; child < groups.size(); ++child) {
      if (!keeps_limits(alone[child])) return;
      split.score -= alone[child].deviation;
      split.child_of_code[groups[child].code] = child;
      if (alone[child].weight > alone[split.default_child].weight) split.default_child = child;
    }
    const int missing = missing_child(column, split);
    if (missing >= 0) split.default_child = static_cast<std::uint32_t>(missing);
    if (split.score > best.score) best = std::move(split);
  }

  const FitData& data_;
  const GrowOptions& options_;
  const NodeView& node_;
  const RowStatistics& statistics_;
  const std::vector<RankedTarget>& targets_;
  double min_weight_ = 0.0;
  Prefix total_;
};

class MedianSplitter final : public Splitter {
 public:
  MedianSplitter(const FitData& data, const GrowOptions& options)
      : data_(data), options_(options) {}

  Split find(const NodeView& node, std::size_t n_threads, Monitor& monitor) override {
    const RowStatistics& statistics = node.block->statistics;
    std::vector<RankedTarget> targets(statistics.n_outputs);
    bool is_pure = true;
    for (std::size_t output = 0; output < targets.size(); ++output) {
      targets[output] = rank_targets(node, output);
      is_pure = is_pure && targets[output].value.front() == targets[output].value.back();
    }
    if (is_pure) return {};
    const NodeSearch search(data_, options_, node, targets);
    Split best = draw_.search(node, options_, [&](std::span<const std::uint32_t> features) {
      return try_features(
          features, node, n_threads, monitor,
          [&](std::uint32_t feature, Split& split) { search.try_feature(feature, split); });
    });
    if (best.exists()) best.decrease = best.score + best.penalty + search.total_deviation();
    return best;
  }

 private:
  static RankedTarget rank_targets(const NodeView& node, std::size_t output) {
    const RowStatistics& statistics = node.block->statistics;
    const std::size_t n_outputs = statistics.n_outputs;
    const auto target = [&](std::uint32_t position) {
      return statistics.targets[node.rows[position] * n_outputs + output];
    };
    std::vector<std::uint32_t> order(node.rows.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return target(a) < target(b); });
    RankedTarget ranked;
    // Equal targets share a rank: how often a row is repeated must not show in any sum.
    ranked.rank.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || target(order[i]) != target(order[i - 1])) {
        ranked.value.push_back(std::ldexp(target(order[i]) - statistics.centres[output],
                                          -statistics.target_magnitude));
      }
      ranked.rank[order[i]] = static_cast<std::uint32_t>(ranked.value.size() - 1);
    }
    const int weight_exponent = statistics.weight_magnitude + statistics.weight_exponent;
    ranked.weight_unit = std::ldexp(1.0, -weight_exponent);
    ranked.sum_unit =
        std::ldexp(1.0, -statistics.sum_exponents[output] - statistics.weight_magnitude -
                            statistics.target_magnitude);
    return ranked;
  }

  const FitData& data_;
  const GrowOptions& options_;
  FeatureDraw draw_;
};

}  // namespace

std::unique_ptr<Splitter> make_median_splitter(const FitData& data, const GrowOptions& options) {
  return std::make_unique<MedianSplitter>(data, options);
}

}  // namespace committee
