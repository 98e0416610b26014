#include "grow/node_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "score/impurity.hpp"

namespace committee {
namespace {

std::span<const std::uint32_t> entries_of(std::span<const std::uint32_t> order, NodeRange range) {
  return order.subspan(range.begin, range.end - range.begin);
}

// Leaves add up their rows; inner nodes, met after their children, add up these.
void fill_weights(Tree& tree, const FitData& data, std::span<const std::uint32_t> order,
                  std::span<const NodeRange> ranges) {
  for (std::size_t node = tree.n_nodes(); node-- > 0;) {
    double weight = 0.0;
    std::int64_t n_rows = 0;
    if (tree.nodes[node].is_leaf()) {
      for (std::size_t i = ranges[node].begin; i < ranges[node].end; ++i) {
        weight += data.entries.weights[order[i]];
        n_rows += data.entries.repetitions_of(order[i]);
      }
    } else {
      const std::uint32_t first = tree.nodes[node].first_child;
      const std::uint32_t n_children = tree.n_children(static_cast<std::uint32_t>(node));
      for (std::uint32_t child = first; child < first + n_children; ++child) {
        weight += tree.weight[child];
        n_rows += tree.n_rows[child];
      }
    }
    tree.weight[node] = weight;
    tree.n_rows[node] = n_rows;
  }
}

// Which value of its leaf an entry adds to, for each output. Leaves visit entries out of order, so
// what they need is put together first.
std::vector<std::uint32_t> slots_of_entries(const FitData& data) {
  const Target& target = data.target;
  std::vector<std::uint32_t> slots;
  slots.reserve(data.entries.size() * target.n_outputs);
  for (const std::uint32_t row : data.entries.rows) {
    std::uint32_t first_class = 0;
    for (std::size_t output = 0; output < target.n_outputs; ++output) {
      const std::int32_t code = target.classes[std::size_t{row} * target.n_outputs + output];
      slots.push_back(first_class + static_cast<std::uint32_t>(code));
      first_class += target.n_classes[output];
    }
  }
  return slots;
}

// The weights of the classes of the rows of a leaf.
void add_classes(const FitData& data, std::span<const std::uint32_t> slots,
                 std::span<const std::uint32_t> entries, double* values) {
  const std::size_t n_outputs = data.target.n_outputs;
  for (const std::size_t entry : entries) {
    const double weight = data.entries.weights[entry];
    for (std::size_t output = 0; output < n_outputs; ++output) {
      values[slots[entry * n_outputs + output]] += weight;
    }
  }
}

// Weights that count repetitions: the classes of one output add up to both.
void fill_whole_weights(Tree& tree, std::uint32_t n_classes) {
  for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
    const double* const values = tree.values.data() + node * tree.n_values;
    tree.weight[node] = std::accumulate(values, values + n_classes, 0.0);
    tree.n_rows[node] = static_cast<std::int64_t>(tree.weight[node]);
  }
}

void fill_classes(Tree& tree, const FitData& data, Criterion criterion,
                  std::span<const std::uint32_t> order, std::span<const NodeRange> ranges) {
  const Target& target = data.target;
  const std::size_t n_values = tree.n_values;
  const std::vector<std::uint32_t> slots = slots_of_entries(data);
  for (std::size_t node = tree.n_nodes(); node-- > 0;) {
    double* const values = tree.values.data() + node * n_values;
    if (tree.nodes[node].is_leaf()) {
      add_classes(data, slots, entries_of(order, ranges[node]), values);
    } else {
      const std::size_t first = tree.nodes[node].first_child;
      const std::size_t n_children = tree.n_children(static_cast<std::uint32_t>(node));
      for (std::size_t child = first; child < first + n_children; ++child) {
        for (std::size_t i = 0; i < n_values; ++i) values[i] += tree.values[child * n_values + i];
      }
    }
  }
  if (data.entries.weights_are_repetitions) fill_whole_weights(tree, target.n_classes[0]);
  // Weights of classes become shares only now that every parent has added up its children.
  for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
    double* values = tree.values.data() + node * n_values;
    double impurity = 0.0;
    for (const std::uint32_t n_classes : target.n_classes) {
      double total = 0.0;
      for (std::size_t i = 0; i < n_classes; ++i) total += values[i];
      for (std::size_t i = 0; i < n_classes; ++i) values[i] /= total;
      impurity += class_impurity(criterion, {values, n_classes});
      values += n_classes;
    }
    tree.impurity[node] = impurity / static_cast<double>(target.n_outputs);
  }
}

// The targets of one output and the weights in leaf order, so that a node's are side by side.
// Both are scaled by powers of two (largest target and sum of weights about one), so that
// products and squares neither overflow nor vanish.
struct OrderedTarget {
  std::vector<double> values;
  std::vector<double> weights;
  int exponent = 0;  // target = value * 2^exponent
};

OrderedTarget order_target(const FitData& data, double total_weight,
                           std::span<const std::uint32_t> order, std::size_t output) {
  OrderedTarget ordered;
  ordered.values.reserve(order.size());
  ordered.weights.reserve(order.size());
  int weight_exponent = 0;
  std::frexp(total_weight, &weight_exponent);
  double largest = 0.0;
  for (const std::uint32_t entry : order) {
    const std::size_t row = data.entries.rows[entry];
    ordered.values.push_back(data.target.reals[row * data.target.n_outputs + output]);
    ordered.weights.push_back(std::ldexp(data.entries.weights[entry], -weight_exponent));
    largest = std::max(largest, std::abs(ordered.values.back()));
  }
  std::frexp(largest, &ordered.exponent);
  for (double& value : ordered.values) value = std::ldexp(value, -ordered.exponent);
  return ordered;
}

Moments moments_of(const OrderedTarget& target, NodeRange range) {
  Moments moments;
  for (std::size_t i = range.begin; i < range.end; ++i) moments.weight += target.weights[i];
  for (int round = 0; round < 3; ++round) {  // each round removes the rounding of the one before
    double sum = 0.0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const double share = target.weights[i] / moments.weight;
      sum += share * ((target.values[i] - moments.mean) - moments.rest);
    }
    shift_mean(moments, sum);
  }
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const double deviation = (target.values[i] - moments.mean) - moments.rest;
    moments.squares += target.weights[i] * (deviation * deviation);
  }
  return moments;
}

// Half the Poisson deviance of the rows around their mean, per unit of weight.
double poisson_impurity(const OrderedTarget& target, NodeRange range, const Moments& moments) {
  double sum = 0.0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const double deviation = (target.values[i] - moments.mean) - moments.rest;
    const double share = target.weights[i] / moments.weight;
    sum += share * moments.mean *
           (target.values[i] == 0.0 ? 1.0 : half_deviance(deviation / moments.mean));
  }
  return moments.mean > 0.0 ? sum : 0.0;
}

void fill_means(Tree& tree, const FitData& data, Criterion criterion,
                std::span<const std::uint32_t> order, std::span<const NodeRange> ranges) {
  std::vector<Moments> moments(tree.n_nodes());
  for (std::size_t output = 0; output < tree.n_values; ++output) {
    const OrderedTarget target = order_target(data, tree.weight[0], order, output);
    for (std::size_t node = tree.n_nodes(); node-- > 0;) {
      if (tree.nodes[node].is_leaf()) {
        moments[node] = moments_of(target, ranges[node]);
      } else {
        const std::size_t first = tree.nodes[node].first_child;
        const std::size_t n_children = tree.n_children(static_cast<std::uint32_t>(node));
        moments[node] = moments[first];
        for (std::size_t child = 1; child < n_children; ++child) {
          merge(moments[node], moments[first + child]);
        }
      }
      const bool is_poisson = criterion == Criterion::kPoisson;
      const double impurity = is_poisson ? poisson_impurity(target, ranges[node], moments[node])
                                         : moments[node].squares / moments[node].weight;
      tree.values[node * tree.n_values + output] = std::ldexp(moments[node].mean, target.exponent);
      tree.impurity[node] += std::ldexp(impurity / static_cast<double>(tree.n_values),
                                        target_power(criterion) * target.exponent);
    }
  }
}

// The weighted median; the mean of both middle values where the weight splits in halves.
double weighted_median(std::vector<std::pair<double, double>>& sorted, double total) {
  const double slack = 1e-12 * total;  // sums of weights such as 0.1 are not exact
  double below = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    below += sorted[i].second;
    if (below > total / 2 + slack || i + 1 == sorted.size()) return sorted[i].first;
    if (below >= total / 2 - slack) return sorted[i].first / 2 + sorted[i + 1].first / 2;
  }
  return sorted.back().first;
}

void fill_medians(Tree& tree, const FitData& data, std::span<const std::uint32_t> order,
                  std::span<const NodeRange> ranges) {
  std::vector<std::pair<double, double>> sorted;
  for (std::size_t output = 0; output < tree.n_values; ++output) {
    const OrderedTarget target = order_target(data, tree.weight[0], order, output);
    for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
      sorted.clear();
      double total = 0.0;
      for (std::size_t i = ranges[node].begin; i < ranges[node].end; ++i) {
        sorted.emplace_back(target.values[i], target.weights[i]);
        total += target.weights[i];
      }
      std::sort(sorted.begin(), sorted.end());
      const double median = weighted_median(sorted, total);
      double deviation = 0.0;
      for (const auto& [value, weight] : sorted) deviation += weight * std::abs(value - median);
      tree.values[node * tree.n_values + output] = std::ldexp(median, target.exponent);
      tree.impurity[node] +=
          std::ldexp(deviation / total / static_cast<double>(tree.n_values), target.exponent);
    }
  }
}

void clip_values(Tree& tree, const FitData& data, std::span<const Bounds> bounds) {
  if (data.target.is_classification && data.target.n_classes[0] < 2) return;  // nothing to order
  for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
    double* const values = tree.values.data() + node * tree.n_values;
    if (data.target.is_classification) {  // bounds speak of the second class
      values[1] = bounds[node].clip(values[1]);
      values[0] = 1.0 - values[1];
    } else {
      values[0] = bounds[node].clip(values[0]);
    }
  }
}

}  // namespace

namespace {

void start_statistics(Tree& tree, const FitData& data) {
  tree.n_values = static_cast<std::uint32_t>(data.target.n_values());
  tree.values.assign(tree.n_nodes() * tree.n_values, 0.0);
  tree.impurity.assign(tree.n_nodes(), 0.0);
  tree.weight.assign(tree.n_nodes(), 0.0);
  tree.n_rows.assign(tree.n_nodes(), 0);
}

// Leaves visit entries out of order: what they need of one lies in one place.
void fill_binary_leaves(Tree& tree, const FitData& data, std::span<const std::uint32_t> order,
                        std::span<const NodeRange> ranges) {
  std::vector<std::uint32_t> all(data.entries.size());
  std::iota(all.begin(), all.end(), 0U);
  const RowStatistics rows = make_statistics(data.target, data.entries, all, data.statistics);
  for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
    if (!tree.nodes[node].is_leaf()) continue;
    std::uint64_t sum = 0;
    for (const std::uint32_t entry : entries_of(order, ranges[node])) sum += rows.packed[entry];
    const auto total = static_cast<double>(sum & 0xFFFFFFFFULL);
    const auto ones = static_cast<double>(sum >> 32);
    tree.values[2 * node] = (total - ones) / total;
    tree.values[2 * node + 1] = ones / total;
    tree.weight[node] = total;
    tree.n_rows[node] = static_cast<std::int64_t>(total);
  }
}

}  // namespace

void fill_leaves(Tree& tree, const FitData& data, std::span<const std::uint32_t> order,
                 std::span<const NodeRange> ranges) {
  start_statistics(tree, data);
  if (data.statistics.layout == StatisticLayout::kBinaryCounts) {
    return fill_binary_leaves(tree, data, order, ranges);
  }
  const std::vector<std::uint32_t> slots = slots_of_entries(data);
  for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
    if (!tree.nodes[node].is_leaf()) continue;
    const auto entries = entries_of(order, ranges[node]);
    double* values = tree.values.data() + node * tree.n_values;
    add_classes(data, slots, entries, values);
    for (const std::uint32_t entry : entries) {
      tree.weight[node] += data.entries.weights[entry];
      tree.n_rows[node] += data.entries.repetitions_of(entry);
    }
    for (const std::uint32_t n_classes : data.target.n_classes) {
      const double total = std::accumulate(values, values + n_classes, 0.0);
      for (std::size_t i = 0; i < n_classes; ++i) values[i] /= total;
      values += n_classes;
    }
  }
}

void fill_statistics(Tree& tree, const FitData& data, Criterion criterion,
                     std::span<const std::uint32_t> order, std::span<const NodeRange> ranges,
                     std::span<const Bounds> bounds) {
  start_statistics(tree, data);
  const bool counts_rows = data.target.is_classification && data.entries.weights_are_repetitions;
  if (!counts_rows) fill_weights(tree, data, order, ranges);
  if (data.target.is_classification) {
    fill_classes(tree, data, criterion, order, ranges);
  } else if (criterion == Criterion::kAbsoluteError) {
    fill_medians(tree, data, order, ranges);
  } else if (criterion == Criterion::kSquaredError || criterion == Criterion::kPoisson) {
    fill_means(tree, data, criterion, order, ranges);
  } else {
    throw std::logic_error("no node statistics have this criterion");
  }
  if (!bounds.empty()) clip_values(tree, data, bounds);
}

}  // namespace committee
