#include "boost/node_steps.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/thread_pool.hpp"

namespace committee {
namespace {

// Gradient and hessian with scaled weights, weight as it is.
struct Sums {
  double gradient = 0.0;
  double hessian = 0.0;
  double weight = 0.0;

  void add(const Sums& more) {
    gradient += more.gradient;
    hessian += more.hessian;
    weight += more.weight;
  }
};

void add_rows(const StepRows& rows, Range range, Sums* sums) {
  const std::uint32_t* const leaves = rows.leaves.data();
  for (std::size_t row = range.begin; row < range.end; ++row) {
    if (!rows.used.empty() && rows.used[row] == 0) continue;
    const double weight = rows.weight(row);
    const double scaled = weight * rows.weight_scale;
    const double hessian = rows.hessians.empty() ? 1.0 : rows.hessians[row];
    sums[leaves[row]].add({scaled * rows.gradients[row], scaled * hessian, weight});
  }
}

// In the order of the rows, in parts of a fixed size: sums do not depend on threads, and
// derivatives are read in order.
std::vector<Sums> leaf_sums(const StepRows& rows, std::size_t n_nodes, std::size_t n_threads) {
  const std::size_t n_rows = rows.leaves.size();
  const std::size_t part_rows = std::max<std::size_t>(16384, 64 * n_nodes);
  const std::size_t n_parts = (n_rows + part_rows - 1) / part_rows;
  std::vector<std::vector<Sums>> parts(n_parts);
  parallel_parts(n_parts, n_threads, [&](std::size_t part) {
    parts[part].resize(n_nodes);
    add_rows(rows, {part * part_rows, std::min((part + 1) * part_rows, n_rows)},
             parts[part].data());
  });
  std::vector<Sums> sums(n_nodes);
  for (const std::vector<Sums>& part : parts) {
    for (std::size_t node = 0; node < n_nodes; ++node) sums[node].add(part[node]);
  }
  return sums;
}

void fill_node(std::size_t node, const Sums& sums, const StepRules& rules, double weight_scale,
               Tree& tree) {
  const double magnitude = std::max(std::abs(sums.gradient) - rules.l1 * weight_scale, 0.0);
  const double weight = sums.hessian + rules.l2 * weight_scale;
  const Bounds bounds{rules.bounds[node].low * rules.bound_unit,
                      rules.bounds[node].high * rules.bound_unit};
  const double best = weight > 0.0 ? std::copysign(magnitude / weight, -sums.gradient) : 0.0;
  const double step = bounds.clip(std::isfinite(best) ? best : 0.0);
  tree.values[node] = rules.learning_rate * step;
  // A bound may have turned the step around.
  const double gain = -std::copysign(magnitude, sums.gradient) * step - weight * step * step / 2;
  const double impurity = -gain / (tree.weight[node] * weight_scale);
  tree.impurity[node] = std::isfinite(impurity) ? impurity : 0.0;
}

}  // namespace

void fill_steps(const StepRows& rows, const StepRules& rules, std::size_t n_threads, Tree& tree) {
  const std::size_t n_nodes = tree.nodes.size();
  tree.n_values = 1;
  tree.values.assign(n_nodes, 0.0);
  tree.impurity.assign(n_nodes, 0.0);
  tree.weight.assign(n_nodes, 0.0);
  std::vector<Sums> sums = leaf_sums(rows, n_nodes, n_threads);
  for (std::size_t node = n_nodes; node-- > 0;) {  // children come after their parents
    const std::uint32_t first = tree.nodes[node].first_child;
    if (first != 0) {
      sums[node] = sums[first];
      sums[node].add(sums[first + 1]);
      tree.n_rows[node] = tree.n_rows[first] + tree.n_rows[first + 1];
    }
    tree.weight[node] = sums[node].weight;
    fill_node(node, sums[node], rules, rows.weight_scale, tree);
  }
}

}  // namespace committee
