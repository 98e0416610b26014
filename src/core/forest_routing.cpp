#include "forest_routing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "step.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 16;

// ---- few rows: exact nodes of all trees ----

// Real values of a few rows as doubles.
std::vector<double> copy_doubles(const TableView& table, Range rows) {
  std::vector<double> values((rows.end - rows.begin) * table.n_features());
  for (std::size_t i = 0; i < table.n_features(); ++i) {
    if (table.kinds[i] != FeatureKind::kReal) continue;
    copy_column(table.columns[i], rows.begin, rows.end, values.data() + i, table.n_features());
  }
  return values;
}

// Walks all rows down all trees, several pairs of a row and a tree at a time. out has a line of
// rows for each tree.
void walk_exact(std::span<const std::shared_ptr<const CompactTree>> trees, const TableView& table,
                Range rows, Reached reached, std::uint32_t* out) {
  struct Lane {
    const Tree* tree;
    std::size_t row;
    std::uint32_t node;
    std::uint32_t* out;
  };
  const std::vector<double> values = copy_doubles(table, rows);
  const BlockCells cells{table, values.data(), rows.begin};
  std::size_t next_tree = 0;
  std::size_t next_row = rows.begin;
  const auto start = [&](Lane& lane) {
    if (next_tree == trees.size()) return false;
    lane = {&trees[next_tree]->tree, next_row, 0, out++};
    if (++next_row == rows.end) {
      next_row = rows.begin;
      ++next_tree;
    }
    return true;
  };
  std::array<Lane, kLanes> lanes;
  std::size_t n_lanes = 0;
  while (n_lanes < kLanes && start(lanes[n_lanes])) ++n_lanes;
  while (n_lanes > 0) {
    for (std::size_t i = 0; i < n_lanes; ++i) {
      Lane& lane = lanes[i];
      const Node& node = lane.tree->nodes[lane.node];
      if (!node.is_leaf()) {
        lane.node = next_node(*lane.tree, node, cells, lane.row);
        continue;
      }
      *lane.out = reached == Reached::kNode       ? lane.node
                  : reached == Reached::kValueRow ? value_row(node)
                                                  : leaf_number(node);
      if (!start(lane)) lane = lanes[--n_lanes];  // its turn is skipped once, which costs nothing
    }
  }
}

// ---- many rows: one tree after the other ----

template <typename Nodes, typename Finish>
void walk(const CompactTree& tree, const Nodes& nodes, const TableView& table,
          const FloatRows& floats, std::span<const std::uint32_t> rows, const Finish& finish) {
  struct Lane {
    const float* values;
    std::uint32_t node;
    std::uint32_t position;
  };
  const TableCells cells{table};
  std::array<Lane, kLanes> lanes;
  const auto n_rows = static_cast<std::uint32_t>(rows.size());
  std::uint32_t next = 0;
  std::size_t n_lanes = 0;
  for (; n_lanes < kLanes && next < n_rows; ++n_lanes, ++next) {
    lanes[n_lanes] = {floats.row(rows[next]), 0, next};
  }
  while (n_lanes > 0) {
    for (std::size_t i = 0; i < n_lanes; ++i) {
      Lane& lane = lanes[i];
      const LoadedNode node = nodes.load(lane.node);
      if (!node.is_leaf()) {
        const float value = lane.values[node.feature];
        if (node.decides(value)) [[likely]] {
          lane.node = node.child(value);
        } else {
          lane.node = next_node(tree.tree, tree.tree.nodes[lane.node], cells, rows[lane.position]);
        }
        continue;
      }
      finish(lane.position, lane.node, node.word);
      if (next < n_rows) {
        lane = {floats.row(rows[next]), 0, next};
        ++next;
      } else {
        lane = lanes[--n_lanes];
      }
    }
  }
}

void copy_cells(const TableView& table, Range rows, float* out) {
  const std::size_t n_features = table.n_features();
  // A few rows at a time, so that what is written stays in the cache whatever the table's order.
  constexpr std::size_t kTile = 64;
  for (std::size_t begin = rows.begin; begin < rows.end; begin += kTile) {
    const std::size_t end = std::min(begin + kTile, rows.end);
    for (std::size_t i = 0; i < n_features; ++i) {
      if (table.kinds[i] == FeatureKind::kReal) {
        copy_column(table.columns[i], begin, end, out + i, n_features);
      } else {
        for (std::size_t row = 0; row < end - begin; ++row) {
          out[row * n_features + i] = std::numeric_limits<float>::quiet_NaN();
        }
      }
    }
    out += (end - begin) * n_features;
  }
}

// Compiling a tree pays off when each node is likely to be used.
bool is_worth_compiling(const Forest& forest, std::size_t n_rows) {
  return n_rows >= 64 &&
         n_rows * 16 >= forest.n_nodes() / std::max<std::size_t>(forest.n_trees(), 1);
}

// Calls body(rows, leaves) for blocks of rows, side by side, where leaves(tree) are what the rows
// reach in a tree (one number a row, valid until the next call); trees are asked in order.
template <typename Body>
void for_blocks(const Forest& forest, const TableView& table, Reached reached,
                std::size_t n_threads, const Body& body) {
  constexpr std::size_t kFewRows = 256;
  if (!is_worth_compiling(forest, table.n_rows)) {
    const std::size_t n_blocks = (table.n_rows + kFewRows - 1) / kFewRows;
    parallel_for(n_blocks, n_threads, [&](std::size_t i) {
      const Range rows = chunk_range(table.n_rows, n_blocks, i);
      const std::size_t n_rows = rows.end - rows.begin;
      std::vector<std::uint32_t> leaves(forest.n_trees() * n_rows);
      walk_exact(forest.trees, table, rows, reached, leaves.data());
      body(rows, [&](std::size_t tree) { return leaves.data() + tree * n_rows; });
    });
    return;
  }
  std::vector<std::optional<RoutingNodes>> nodes(forest.n_trees());
  parallel_for(forest.n_trees(), n_threads,
               [&](std::size_t i) { nodes[i] = make_routing_nodes(*forest.trees[i]); });
  const std::size_t most = block_rows(table);
  const std::size_t n_blocks =
      std::max((table.n_rows + most - 1) / most, chunk_count(table.n_rows, kFewRows, n_threads));
  parallel_for(n_blocks, n_threads, [&](std::size_t i) {
    const Range rows = chunk_range(table.n_rows, n_blocks, i);
    FloatRows floats;
    copy_rows(table, rows, floats);
    std::vector<std::uint32_t> which(rows.end - rows.begin);
    std::iota(which.begin(), which.end(), static_cast<std::uint32_t>(rows.begin));
    std::vector<std::uint32_t> leaves(which.size());
    body(rows, [&](std::size_t tree) {
      route(*forest.trees[tree], *nodes[tree], table, floats, which, reached, leaves.data());
      return leaves.data();
    });
  });
}

// sums += weight * values of the leaves, row by row.
void add_values(const double* values, std::size_t n_values, const std::uint32_t* value_rows,
                std::size_t n_rows, double weight, double* sums) {
  if (n_values == 1) {
    for (std::size_t i = 0; i < n_rows; ++i) sums[i] += weight * values[value_rows[i]];
  } else if (n_values == 2) {
    for (std::size_t i = 0; i < n_rows; ++i) {
      const double* leaf = values + std::size_t{value_rows[i]} * 2;
      sums[2 * i] += weight * leaf[0];
      sums[2 * i + 1] += weight * leaf[1];
    }
  } else {
    for (std::size_t i = 0; i < n_rows; ++i) {
      const double* leaf = values + std::size_t{value_rows[i]} * n_values;
      double* const sum = sums + i * n_values;
      for (std::size_t k = 0; k < n_values; ++k) sum[k] += weight * leaf[k];
    }
  }
}

}  // namespace

bool QuickNodes::fits(const CompactTree& tree) {
  return std::bit_width(tree.tree.n_nodes()) + std::bit_width(tree.tree.n_features) <= 32;
}

QuickNodes::QuickNodes(const CompactTree& tree)
    : nodes_(tree.tree.n_nodes()), bits_(std::bit_width(tree.tree.n_features)) {
  mask_ = (1U << bits_) - 1;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = tree.tree.nodes[i];
    if (node.is_leaf()) {
      nodes_[i].word = value_row(node);
      continue;
    }
    const float threshold = node.kind() == SplitKind::kReal
                                ? static_cast<float>(node.threshold.real)
                                : std::numeric_limits<float>::quiet_NaN();
    nodes_[i].word = std::bit_cast<std::uint32_t>(threshold);
    nodes_[i].link = (node.first_child << bits_) | node.feature();
  }
}

RoutingNodes make_routing_nodes(const CompactTree& tree) {
  if (QuickNodes::fits(tree)) return QuickNodes(tree);
  return PlainNodes(tree);
}

void copy_rows(const TableView& table, Range rows, FloatRows& out) {
  out.first_row = rows.begin;
  out.n_features = table.n_features();
  out.values.resize((rows.end - rows.begin) * out.n_features);
  copy_cells(table, rows, out.values.data());
}

FloatRows copy_table(const TableView& table, std::size_t n_threads) {
  FloatRows out;
  out.n_features = table.n_features();
  out.values.resize(table.n_rows * out.n_features);
  constexpr std::size_t kMinChunk = 4096;
  const std::size_t n_chunks = chunk_count(table.n_rows, kMinChunk, n_threads);
  parallel_for(n_chunks, n_threads, [&](std::size_t i) {
    const Range rows = chunk_range(table.n_rows, n_chunks, i);
    copy_cells(table, rows, out.values.data() + rows.begin * out.n_features);
  });
  return out;
}

std::size_t block_rows(const TableView& table) {
  constexpr std::size_t kMaxCells = std::size_t{1} << 17;
  return std::clamp<std::size_t>(kMaxCells / std::max<std::size_t>(table.n_features(), 1), 64,
                                 4096);
}

void route(const CompactTree& tree, const RoutingNodes& nodes, const TableView& table,
           const FloatRows& floats, std::span<const std::uint32_t> rows, Reached reached,
           std::uint32_t* out) {
  const auto walk_to = [&](const auto& finish) {
    std::visit([&](const auto& n) { walk(tree, n, table, floats, rows, finish); }, nodes);
  };
  if (reached == Reached::kValueRow) {
    walk_to([out](std::uint32_t i, std::uint32_t, std::uint32_t row) { out[i] = row; });
  } else if (reached == Reached::kNode) {
    walk_to([out](std::uint32_t i, std::uint32_t node, std::uint32_t) { out[i] = node; });
  } else {
    walk_to([out, &tree](std::uint32_t i, std::uint32_t node, std::uint32_t) {
      out[i] = leaf_number(tree.tree.nodes[node]);
    });
  }
}

void predict(const Forest& forest, const TableView& table, const Combination& combination,
             std::span<double> out, std::size_t n_threads) {
  const std::size_t n_values = forest.info.n_values;
  std::vector<std::vector<double>> votes(combination.hard ? forest.n_trees() : 0);
  for (std::size_t i = 0; i < votes.size(); ++i) {
    votes[i] = as_votes(forest.trees[i]->values(), forest.info);
  }
  const auto all = static_cast<std::uint32_t>(forest.n_trees());
  const std::span<const std::uint32_t> stages =
      combination.stages.empty() ? std::span(&all, 1) : combination.stages;
  for_blocks(forest, table, Reached::kValueRow, n_threads, [&](Range rows, const auto& leaves) {
    const std::size_t n_rows = rows.end - rows.begin;
    std::vector<double> sums(n_rows * n_values, 0.0);
    std::size_t tree = 0;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      for (; tree < stages[stage]; ++tree) {
        const double* values =
            votes.empty() ? forest.trees[tree]->values().data() : votes[tree].data();
        const double weight =
            combination.tree_weights.empty() ? 1.0 : combination.tree_weights[tree];
        add_values(values, n_values, leaves(tree), n_rows, weight, sums.data());
      }
      std::copy(sums.begin(), sums.end(),
                out.data() + (stage * table.n_rows + rows.begin) * n_values);
    }
  });
}

void predict_each(const Forest& forest, const TableView& table, std::span<double> out,
                  std::size_t n_threads) {
  const std::size_t n_values = forest.info.n_values;
  const std::size_t n_trees = forest.n_trees();
  for_blocks(forest, table, Reached::kValueRow, n_threads, [&](Range rows, const auto& leaves) {
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
      const double* values = forest.trees[tree]->values().data();
      const std::uint32_t* value_rows = leaves(tree);
      for (std::size_t row = rows.begin; row < rows.end; ++row) {
        std::copy_n(values + std::size_t{value_rows[row - rows.begin]} * n_values, n_values,
                    out.data() + (row * n_trees + tree) * n_values);
      }
    }
  });
}

void apply(const Forest& forest, const TableView& table, Reached reached,
           std::span<std::uint32_t> out, std::size_t n_threads) {
  const std::size_t n_trees = forest.n_trees();
  for_blocks(forest, table, reached, n_threads, [&](Range rows, const auto& leaves) {
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
      const std::uint32_t* of_tree = leaves(tree);
      for (std::size_t row = rows.begin; row < rows.end; ++row) {
        out[row * n_trees + tree] = of_tree[row - rows.begin];
      }
    }
  });
}

std::vector<std::uint32_t> likeliest_classes(std::span<const double> values,
                                             const ForestInfo& info) {
  std::vector<std::uint32_t> classes;
  classes.reserve(values.size() / info.n_values * info.n_classes.size());
  for (std::size_t begin = 0; begin < values.size();) {
    for (const std::uint32_t n_classes : info.n_classes) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
      classes.push_back(
          static_cast<std::uint32_t>(std::max_element(first, first + n_classes) - first));
      begin += n_classes;
    }
  }
  return classes;
}

std::vector<double> as_votes(std::span<const double> values, const ForestInfo& info) {
  std::vector<double> votes(values.size(), 0.0);
  const std::vector<std::uint32_t> classes = likeliest_classes(values, info);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    votes[begin + classes[i]] = 1.0;
    begin += info.n_classes[i % info.n_classes.size()];
  }
  return votes;
}

}  // namespace committee
