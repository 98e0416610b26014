#include "tree/share_walk.hpp"

#include <algorithm>
#include <cmath>

#include "base/thread_pool.hpp"
#include "tree/step.hpp"

namespace committee {
namespace {

constexpr std::uint32_t kAll = 0xFFFFFFFEU;   // every branch, in shares
constexpr std::uint32_t kNone = 0xFFFFFFFFU;  // no branch: the walk ends
constexpr std::size_t kMinChunkRows = 256;
constexpr std::size_t kCheckedRows = 64;    // as often stop requests are looked at
constexpr std::int32_t kMissingLevel = -1;  // other negative levels are unseen ones

// The number of the child that a row takes.
std::uint32_t branch_of(const Tree& tree, const Node& node, const TableView& table,
                        std::size_t row) {
  const ColumnView& column = table.columns[node.feature()];
  if (node.kind() == SplitKind::kReal) {
    const double value = read_real(column, row);
    return std::isnan(value) ? kAll : real_child(node, value);
  }
  if (node.kind() == SplitKind::kInteger) {
    const Integer value = read_integer(column, row);
    return value.is_missing ? kAll : integer_child(node, value);
  }
  const std::int32_t level = read_level(column, row);
  if (level == kMissingLevel) return kAll;
  if (level < 0) return kNone;
  if (node.kind() == SplitKind::kSubset) return tree.child_of_level(node, level);
  const std::uint32_t* data = tree.category_data.data() + node.threshold.offset;
  return static_cast<std::uint32_t>(level) < data[2] ? data[3 + level] : kNone;
}

struct Part {
  std::uint32_t node;
  double share;
};

// Calls visit(node, share, is_end) for every node that a row passes, parents before children.
template <typename Visit>
void walk(const Tree& tree, const TableView& table, std::size_t row, std::vector<Part>& stack,
          Visit&& visit) {
  stack.assign(1, {0, 1.0});
  while (!stack.empty()) {
    const Part part = stack.back();
    stack.pop_back();
    const Node& node = tree.nodes[part.node];
    const std::uint32_t branch = node.is_leaf() ? kNone : branch_of(tree, node, table, row);
    if (branch < kAll) {
      visit(part.node, part.share, false);
      stack.push_back({node.first_child + branch, part.share});
      continue;
    }
    double total = 0.0;
    const std::uint32_t n_children = branch == kAll ? tree.n_children(part.node) : 0;
    for (std::uint32_t i = 0; i < n_children; ++i) total += tree.weight[node.first_child + i];
    const bool is_end = !(total > 0.0);
    visit(part.node, part.share, is_end);
    for (std::uint32_t i = is_end ? 0 : n_children; i-- > 0;) {
      const double share = tree.weight[node.first_child + i] / total;
      if (share > 0.0) stack.push_back({node.first_child + i, part.share * share});
    }
  }
}

// Calls body(row, stack) for all rows.
template <typename Body>
void for_rows(std::size_t n_rows, std::size_t n_threads, Monitor& monitor, Body&& body) {
  const std::size_t n_chunks = chunk_count(n_rows, kMinChunkRows, n_threads);
  const auto visit_chunk = [&](std::size_t chunk) {
    std::vector<Part> stack;
    const Range rows = chunk_range(n_rows, n_chunks, chunk);
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      if (row % kCheckedRows == 0) monitor.check();
      body(row, stack);
    }
  };
  parallel_for(n_chunks, n_threads, visit_chunk, &monitor);
}

}  // namespace

void predict_shares(const Tree& tree, const TableView& table, std::span<double> out,
                    std::size_t n_threads, Monitor& monitor) {
  const std::size_t n_values = tree.n_values;
  for_rows(table.n_rows, n_threads, monitor, [&](std::size_t row, std::vector<Part>& stack) {
    double* sums = out.data() + row * n_values;
    std::fill_n(sums, n_values, 0.0);
    walk(tree, table, row, stack, [&](std::uint32_t node, double share, bool is_end) {
      if (!is_end) return;
      const double* values = tree.values.data() + std::size_t{node} * n_values;
      for (std::size_t i = 0; i < n_values; ++i) sums[i] += share * values[i];
    });
  });
}

void apply_shares(const Tree& tree, const TableView& table, std::span<std::uint32_t> ends,
                  std::size_t n_threads, Monitor& monitor) {
  for_rows(table.n_rows, n_threads, monitor, [&](std::size_t row, std::vector<Part>& stack) {
    Part best{0, 0.0};
    walk(tree, table, row, stack, [&](std::uint32_t node, double share, bool is_end) {
      if (is_end && share > best.share) best = {node, share};
    });
    ends[row] = best.node;
  });
}

SharePath share_path(const Tree& tree, const TableView& table, Monitor& monitor) {
  SharePath path;
  path.offsets.push_back(0);
  std::vector<Part> stack;
  std::vector<Part> passed;
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    if (row % kCheckedRows == 0) monitor.check();
    passed.clear();
    walk(tree, table, row, stack,
         [&](std::uint32_t node, double share, bool) { passed.push_back({node, share}); });
    std::sort(passed.begin(), passed.end(),
              [](const Part& a, const Part& b) { return a.node < b.node; });
    for (const Part& part : passed) {
      path.indices.push_back(static_cast<std::int32_t>(part.node));
      path.shares.push_back(part.share);
    }
    path.offsets.push_back(static_cast<std::int64_t>(path.indices.size()));
  }
  return path;
}

void node_branches(const Tree& tree, const TableView& table, std::uint32_t node,
                   std::span<std::int32_t> out) {
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    const std::uint32_t branch = branch_of(tree, tree.nodes[node], table, row);
    out[row] = branch < kAll ? static_cast<std::int32_t>(branch) : -1;
  }
}

}  // namespace committee
