#include "forest/forest_routing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "forest/leaf_masks.hpp"
#include "tree/step.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kManyRows = 64;  // for which it is worth rewriting trees

// What is read of a leaf.
std::uint32_t reached_number(const Node& leaf, std::uint32_t number, Reached reached) {
  if (reached == Reached::kNode) return number;
  return reached == Reached::kValueRow ? value_row(leaf) : leaf_number(leaf);
}

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
      *lane.out = reached_number(node, lane.node, reached);
      if (!start(lane)) lane = lanes[--n_lanes];  // its turn is skipped once, which costs nothing
    }
  }
}

// ---- many rows: one tree after the other ----

// Rows go down in lanes: while one waits for its node, the others go on. Finished rows are looked
// for every kSteps steps, as the branch is mispredicted; finished lanes repeat their leaf.
template <bool kMissing, typename View, typename Finish>
void walk(const CompactTree& tree, const View nodes, const TableView& table, const KeyRows& keys,
          std::span<const std::uint32_t> rows, const Finish& finish) {
  constexpr std::size_t kWalkers = 12;
  constexpr int kSteps = 4;
  if (rows.empty()) return;
  if (tree.tree.n_nodes() == 1) {
    for (std::uint32_t i = 0; i < rows.size(); ++i) finish(i, 0, nodes.load(0).word);
    return;
  }
  const auto n_rows = static_cast<std::uint32_t>(rows.size());
  std::array<std::uint32_t, kWalkers> node{};
  std::array<const Key*, kWalkers> values;
  std::array<std::uint32_t, kWalkers> position;  // n_rows: has nothing to do, and repeats a row
  for (std::uint32_t i = 0; i < kWalkers; ++i) {
    position[i] = std::min(i, n_rows);
    values[i] = keys.row(rows[std::min(i, n_rows - 1)]);
  }
  std::uint32_t next = std::min<std::uint32_t>(kWalkers, n_rows);
  std::uint32_t n_arrived = 0;
  while (n_arrived < n_rows) {
    std::array<std::uint32_t, kWalkers> before;
    for (int step = 0; step < kSteps; ++step) {
#if defined(__GNUC__)  // lanes in registers
#pragma GCC unroll 12
#endif
      for (std::size_t i = 0; i < kWalkers; ++i) {
        before[i] = node[i];
        const RoutingNode at = nodes.load(node[i]);
        const Key key = values[i][at.feature];
        if (at.decides(key)) [[likely]] {
          node[i] = at.template child<kMissing>(key);
        } else {
          node[i] = exact_next(tree, node[i], table, rows[std::min(position[i], n_rows - 1)]);
        }
      }
    }
    for (std::size_t i = 0; i < kWalkers; ++i) {
      if (node[i] != before[i] || position[i] == n_rows) continue;
      finish(position[i], node[i], nodes.load(node[i]).word);
      ++n_arrived;
      position[i] = next;
      if (next == n_rows) continue;
      values[i] = keys.row(rows[next++]);
      node[i] = 0;
    }
  }
}

// Rewriting a node costs about as much as some steps of a walk.
bool is_worth_rewriting(const Forest& forest, std::size_t n_rows) {
  constexpr std::size_t kNodesPerRow = 32;
  return n_rows >= kManyRows && n_rows * kNodesPerRow * forest.n_trees() >= forest.n_nodes();
}

// ---- many rows: masks of leaves ----

// The masks of a forest, if there are some and enough rows to use them.
std::shared_ptr<const LeafMasks> masks_of(const Forest& forest, std::size_t n_rows) {
  if (n_rows < kManyRows) return nullptr;
  return forest.masks.get(forest.n_trees(), [&] { return LeafMasks::make(forest); });
}

// Calls body(rows, find) for blocks of rows, side by side, where find(tree, out) writes the leaf of
// each row in a tree, counted from left to right.
template <typename Body>
void for_masked_blocks(const LeafMasks& masks, const TableView& table, std::size_t n_threads,
                       Monitor& monitor, const Body& body) {
  constexpr std::size_t kMinBlocks = 4;
  constexpr std::size_t kBlock = LeafMasks::kBlock;
  const std::size_t n_blocks = (table.n_rows + kBlock - 1) / kBlock;
  const std::size_t n_chunks = chunk_count(n_blocks, kMinBlocks, n_threads);
  const auto run = [&](std::size_t chunk) {
    const Range blocks = chunk_range(n_blocks, n_chunks, chunk);
    LeafMasks::Block block;
    for (std::size_t i = blocks.begin; i < blocks.end; ++i) {
      monitor.check();
      const Range rows{i * kBlock, std::min((i + 1) * kBlock, table.n_rows)};
      masks.read(table, rows, block);
      body(rows, [&](std::size_t tree, std::uint8_t* out) {
        masks.find_leaves(tree, block, rows.end - rows.begin, out);
      });
    }
  };
  parallel_for(n_chunks, n_threads, run, &monitor);
}

// Calls body(rows, leaves) for blocks of rows, side by side, where leaves(tree) are what the rows
// reach in a tree (one number a row, valid until the next call); trees come in order.
template <typename Body>
void for_blocks(const Forest& forest, const TableView& table, Reached reached,
                std::size_t n_threads, Monitor& monitor, const Body& body) {
  constexpr std::size_t kFewRows = 256;
  if (!is_worth_rewriting(forest, table.n_rows)) {
    const std::size_t n_blocks = (table.n_rows + kFewRows - 1) / kFewRows;
    const auto walk_few = [&](std::size_t i) {
      monitor.check();
      const Range rows = chunk_range(table.n_rows, n_blocks, i);
      const std::size_t n_rows = rows.end - rows.begin;
      std::vector<std::uint32_t> leaves(forest.n_trees() * n_rows);
      walk_exact(forest.trees, table, rows, reached, leaves.data());
      body(rows, [&](std::size_t tree) { return leaves.data() + tree * n_rows; });
    };
    parallel_for(n_blocks, n_threads, walk_few, &monitor);
    return;
  }
  if (const auto masks = masks_of(forest, table.n_rows)) {
    for_masked_blocks(*masks, table, n_threads, monitor, [&](Range rows, const auto& find) {
      std::array<std::uint8_t, LeafMasks::kBlock> places;
      std::array<std::uint32_t, LeafMasks::kMaxLeaves> numbers;
      std::array<std::uint32_t, LeafMasks::kBlock> leaves;
      body(rows, [&](std::size_t tree) {
        const std::vector<Node>& nodes = forest.trees[tree]->tree.nodes;
        const std::span<const std::uint32_t> leaf_nodes = masks->leaf_nodes(tree);
        for (std::size_t i = 0; i < leaf_nodes.size(); ++i) {
          numbers[i] = reached_number(nodes[leaf_nodes[i]], leaf_nodes[i], reached);
        }
        find(tree, places.data());
        for (std::size_t i = 0; i < rows.end - rows.begin; ++i) leaves[i] = numbers[places[i]];
        return leaves.data();
      });
    });
    return;
  }
  const UsedFeatures used = UsedFeatures::of(forest, table.n_features());
  std::vector<std::optional<RoutingNodes>> nodes(forest.n_trees());
  const auto rewrite = [&](std::size_t i) {
    monitor.check();
    nodes[i] = make_routing_nodes(*forest.trees[i], used);
  };
  parallel_for(forest.n_trees(), n_threads, rewrite, &monitor);
  const std::size_t most = block_rows(table);
  const std::size_t n_blocks =
      std::max((table.n_rows + most - 1) / most, chunk_count(table.n_rows, kFewRows, n_threads));
  const auto walk_many = [&](std::size_t i) {
    const Range rows = chunk_range(table.n_rows, n_blocks, i);
    KeyRows keys;
    copy_rows(table, used, rows, keys);
    std::vector<std::uint32_t> which(rows.end - rows.begin);
    std::iota(which.begin(), which.end(), static_cast<std::uint32_t>(rows.begin));
    std::vector<std::uint32_t> leaves(which.size());
    body(rows, [&](std::size_t tree) {
      monitor.check();
      route(*forest.trees[tree], *nodes[tree], table, keys, which, reached, leaves.data());
      return leaves.data();
    });
  };
  parallel_for(n_blocks, n_threads, walk_many, &monitor);
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

// The values of all leaves of a tree from left to right, times its weight; n_values == 1.
struct LeafTables {
  std::vector<double> values;
  std::vector<std::size_t> begins;  // of each tree
};

LeafTables leaf_tables(const Forest& forest, const LeafMasks& masks,
                       std::span<const double> tree_weights) {
  LeafTables tables;
  for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
    const CompactTree& of = *forest.trees[tree];
    const double weight = tree_weights.empty() ? 1.0 : tree_weights[tree];
    tables.begins.push_back(tables.values.size());
    for (const std::uint32_t node : masks.leaf_nodes(tree)) {
      tables.values.push_back(weight * of.values()[value_row(of.tree.nodes[node])]);
    }
  }
  tables.values.resize(tables.values.size() + kLeafTable);  // kernels read that far
  return tables;
}

// Sums of trees of few leaves that predict one number: the same additions as in `predict`.
void predict_masked(const Forest& forest, const LeafMasks& masks, const TableView& table,
                    std::span<const double> tree_weights, std::span<const std::uint32_t> stages,
                    std::span<double> out, std::size_t n_threads, Monitor& monitor) {
  const LeafTables tables = leaf_tables(forest, masks, tree_weights);
  for_masked_blocks(masks, table, n_threads, monitor, [&](Range rows, const auto& find) {
    std::array<std::uint8_t, LeafMasks::kBlock> places;
    std::array<double, LeafMasks::kBlock> sums{};
    const std::size_t n_rows = rows.end - rows.begin;
    std::size_t tree = 0;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      for (; tree < stages[stage]; ++tree) {
        find(tree, places.data());
        add_leaf_values(tables.values.data() + tables.begins[tree], masks.leaf_nodes(tree).size(),
                        places.data(), n_rows, sums.data());
      }
      std::copy_n(sums.data(), n_rows, out.data() + stage * table.n_rows + rows.begin);
    }
  });
}

}  // namespace

bool has_leaf_masks(const Forest& forest) { return masks_of(forest, kManyRows) != nullptr; }

std::size_t block_rows(const TableView& table) {
  constexpr std::size_t kMaxCells = std::size_t{1} << 17;
  return std::clamp<std::size_t>(kMaxCells / std::max<std::size_t>(table.n_features(), 1), 64,
                                 4096);
}

void route(const CompactTree& tree, const RoutingNodes& nodes, const TableView& table,
           const KeyRows& keys, std::span<const std::uint32_t> rows, Reached reached,
           std::uint32_t* out) {
  const auto walk_to = [&](const auto& finish) {
    std::visit(
        [&](const auto& n) {
          if (keys.has_missing) {
            walk<true>(tree, n.view(), table, keys, rows, finish);
          } else {
            walk<false>(tree, n.view(), table, keys, rows, finish);
          }
        },
        nodes);
  };
  if (reached == Reached::kValueRow) {
    walk_to([&](std::uint32_t i, std::uint32_t leaf, Key word) {
      out[i] = value_row_of(tree, leaf, word);
    });
  } else if (reached == Reached::kNode) {
    walk_to([&](std::uint32_t i, std::uint32_t leaf, Key) { out[i] = leaf; });
  } else {
    walk_to([&](std::uint32_t i, std::uint32_t leaf, Key) {
      out[i] = leaf_number(tree.tree.nodes[leaf]);
    });
  }
}

void predict(const Forest& forest, const TableView& table, const Combination& combination,
             std::span<double> out, std::size_t n_threads, Monitor& monitor) {
  const std::size_t n_values = forest.info.n_values;
  std::vector<std::vector<double>> votes(combination.hard ? forest.n_trees() : 0);
  for (std::size_t i = 0; i < votes.size(); ++i) {
    votes[i] = as_votes(forest.trees[i]->values(), forest.info);
  }
  const auto all = static_cast<std::uint32_t>(forest.n_trees());
  const std::span<const std::uint32_t> stages =
      combination.stages.empty() ? std::span(&all, 1) : combination.stages;
  if (n_values == 1 && !combination.hard) {
    if (const auto masks = masks_of(forest, table.n_rows)) {
      return predict_masked(forest, *masks, table, combination.tree_weights, stages, out, n_threads,
                            monitor);
    }
  }
  for_blocks(forest, table, Reached::kValueRow, n_threads, monitor,
             [&](Range rows, const auto& leaves) {
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
                  std::size_t n_threads, Monitor& monitor) {
  const std::size_t n_values = forest.info.n_values;
  const std::size_t n_trees = forest.n_trees();
  for_blocks(forest, table, Reached::kValueRow, n_threads, monitor,
             [&](Range rows, const auto& leaves) {
               for (std::size_t tree = 0; tree < n_trees; ++tree) {
                 const double* values = forest.trees[tree]->values().data();
                 const std::uint32_t* value_rows = leaves(tree);
                 for (std::size_t row = rows.begin; row < rows.end; ++row) {
                   std::copy_n(values + std::size_t{value_rows[row - rows.begin]} * n_values,
                               n_values, out.data() + (row * n_trees + tree) * n_values);
                 }
               }
             });
}

void apply(const Forest& forest, const TableView& table, Reached reached,
           std::span<std::uint32_t> out, std::size_t n_threads, Monitor& monitor) {
  const std::size_t n_trees = forest.n_trees();
  for_blocks(forest, table, reached, n_threads, monitor, [&](Range rows, const auto& leaves) {
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
