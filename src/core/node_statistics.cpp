#include "node_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace committee {
namespace {

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

double class_impurity(Criterion criterion, std::span<const double> shares) {
  double sum = 0.0;
  double largest = 0.0;
  for (const double share : shares) {
    sum += criterion == Criterion::kEntropy ? x_log2_x(share) : share * share;
    largest = std::max(largest, share);
  }
  if (criterion == Criterion::kError) return 1.0 - largest;
  return std::max(0.0, criterion == Criterion::kEntropy ? -sum : 1.0 - sum);
}

void fill_classes(Tree& tree, const FitData& data, Criterion criterion,
                  std::span<const std::uint32_t> order, std::span<const NodeRange> ranges) {
  const Target& target = data.target;
  const std::size_t n_values = tree.n_values;
  for (std::size_t node = tree.n_nodes(); node-- > 0;) {
    double* const values = tree.values.data() + node * n_values;
    if (tree.nodes[node].is_leaf()) {
      for (std::size_t i = ranges[node].begin; i < ranges[node].end; ++i) {
        const std::size_t row = std::size_t{data.entries.rows[order[i]]} * target.n_outputs;
        std::size_t first_class = 0;
        for (std::size_t output = 0; output < target.n_outputs; ++output) {
          values[first_class + static_cast<std::size_t>(target.classes[row + output])] +=
              data.entries.weights[order[i]];
          first_class += target.n_classes[output];
        }
      }
    } else {
      const std::size_t first = tree.nodes[node].first_child;
      const std::size_t n_children = tree.n_children(static_cast<std::uint32_t>(node));
      for (std::size_t child = first; child < first + n_children; ++child) {
        for (std::size_t i = 0; i < n_values; ++i) values[i] += tree.values[child * n_values + i];
      }
    }
  }
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

// The targets and weights of one output in leaf order, so that a node's are side by side.
struct OrderedTarget {
  std::vector<double> values;
  std::vector<double> weights;
};

OrderedTarget order_target(const FitData& data, std::span<const std::uint32_t> order,
                           std::size_t output) {
  OrderedTarget ordered;
  ordered.values.reserve(order.size());
  ordered.weights.reserve(order.size());
  for (const std::uint32_t entry : order) {
    const std::size_t row = data.entries.rows[entry];
    ordered.values.push_back(data.target.reals[row * data.target.n_outputs + output]);
    ordered.weights.push_back(data.entries.weights[entry]);
  }
  return ordered;
}

// Weighted mean and sum of squared deviations. Taking the first value off keeps large common
// offsets from cancelling.
struct Moments {
  double weight = 0.0;
  double mean = 0.0;
  double squares = 0.0;
};

Moments moments_of(const OrderedTarget& target, NodeRange range) {
  Moments moments;
  const double offset = target.values[range.begin];
  double sum = 0.0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    moments.weight += target.weights[i];
    sum += target.weights[i] * (target.values[i] - offset);
  }
  moments.mean = offset + sum / moments.weight;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const double deviation = target.values[i] - moments.mean;
    moments.squares += target.weights[i] * (deviation * deviation);
  }
  return moments;
}

// Chan, Golub and LeVeque 1979.
void merge(Moments& into, const Moments& other) {
  const double weight = into.weight + other.weight;
  const double difference = other.mean - into.mean;
  into.squares +=
      other.squares + difference * difference * (into.weight * (other.weight / weight));
  into.mean += difference * (other.weight / weight);
  into.weight = weight;
}

void fill_means(Tree& tree, const FitData& data, std::span<const std::uint32_t> order,
                std::span<const NodeRange> ranges) {
  std::vector<Moments> moments(tree.n_nodes());
  for (std::size_t output = 0; output < tree.n_values; ++output) {
    const OrderedTarget target = order_target(data, order, output);
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
      tree.values[node * tree.n_values + output] = moments[node].mean;
      tree.impurity[node] += moments[node].squares / moments[node].weight /
                             static_cast<double>(tree.n_values);
    }
  }
}

// Half the Poisson deviance around the mean, per unit of weight.
void fill_poisson_impurity(Tree& tree, const FitData& data, std::span<const std::uint32_t> order,
                           std::span<const NodeRange> ranges) {
  std::fill(tree.impurity.begin(), tree.impurity.end(), 0.0);
  for (std::size_t output = 0; output < tree.n_values; ++output) {
    const OrderedTarget target = order_target(data, order, output);
    for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
      const double mean = tree.values[node * tree.n_values + output];
      double deviance = 0.0;
      for (std::size_t i = ranges[node].begin; i < ranges[node].end; ++i) {
        const double value = target.values[i];
        const double log_part = value > 0.0 ? value * std::log(value / mean) : 0.0;
        deviance += target.weights[i] * (log_part - (value - mean));
      }
      tree.impurity[node] += std::max(0.0, deviance) / tree.weight[node] /
                             static_cast<double>(tree.n_values);
    }
  }
}

// The weighted median; the mean of both middle values where the weight splits in halves.
double weighted_median(std::vector<std::pair<double, double>>& sorted, double total) {
  double below = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    below += sorted[i].second;
    if (below > total / 2 || i + 1 == sorted.size()) return sorted[i].first;
    if (below == total / 2) return sorted[i].first / 2 + sorted[i + 1].first / 2;
  }
  return sorted.back().first;
}

void fill_medians(Tree& tree, const FitData& data, std::span<const std::uint32_t> order,
                  std::span<const NodeRange> ranges) {
  std::vector<std::pair<double, double>> sorted;
  for (std::size_t output = 0; output < tree.n_values; ++output) {
    const OrderedTarget target = order_target(data, order, output);
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
      tree.values[node * tree.n_values + output] = median;
      tree.impurity[node] += deviation / total / static_cast<double>(tree.n_values);
    }
  }
}

void clip_values(Tree& tree, const FitData& data, std::span<const Bounds> bounds) {
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

void fill_statistics(Tree& tree, const FitData& data, Criterion criterion,
                     std::span<const std::uint32_t> order, std::span<const NodeRange> ranges,
                     std::span<const Bounds> bounds) {
  tree.n_values = static_cast<std::uint32_t>(data.target.n_values());
  tree.values.assign(tree.n_nodes() * tree.n_values, 0.0);
  tree.impurity.assign(tree.n_nodes(), 0.0);
  tree.weight.assign(tree.n_nodes(), 0.0);
  tree.n_rows.assign(tree.n_nodes(), 0);
  fill_weights(tree, data, order, ranges);
  if (data.target.is_classification) {
    fill_classes(tree, data, criterion, order, ranges);
  } else if (criterion == Criterion::kAbsoluteError) {
    fill_medians(tree, data, order, ranges);
  } else {
    fill_means(tree, data, order, ranges);
    if (criterion == Criterion::kPoisson) fill_poisson_impurity(tree, data, order, ranges);
  }
  if (!bounds.empty()) clip_values(tree, data, bounds);
}

}  // namespace committee
