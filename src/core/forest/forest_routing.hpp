// Rows down many trees.
//
// Many rows are taken in blocks, one tree after the other, so that a tree serves many rows while it
// is in the cache. Trees of few leaves are not walked at all (leaf_masks.hpp); for others a block
// is rewritten to keys (routing_nodes.hpp). Few rows go down the exact nodes of all trees at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "base/thread_pool.hpp"
#include "forest/forest.hpp"
#include "forest/routing_nodes.hpp"

namespace committee {

// Rows of a block so large that a tree is read seldom and so small that it stays in the cache.
std::size_t block_rows(const TableView& table);

enum class Reached { kNode, kValueRow, kLeafNumber };

// What rows[0], rows[1], ... (numbers in the table, all of them in `keys`) reach in a tree.
void route(const CompactTree& tree, const RoutingNodes& nodes, const TableView& table,
           const KeyRows& keys, std::span<const std::uint32_t> rows, Reached reached,
           std::uint32_t* out);

// Whether many rows find their leaves by masks (leaf_masks.hpp).
bool has_leaf_masks(const Forest& forest);

// ---- what users ask ----

// How the values of leaves are put together.
struct Combination {
  bool hard = false;                      // a tree votes for its likeliest class of each output
  std::span<const double> tree_weights;   // empty: all one
  std::span<const std::uint32_t> stages;  // ascending numbers of trees; empty: all of them
};

// Sums of (weighted) leaf values over the trees, added in the order of the trees:
// n_stages x n_rows x n_values.
void predict(const Forest& forest, const TableView& table, const Combination& combination,
             std::span<double> out, std::size_t n_threads, Monitor& monitor);

// The values of each tree: n_rows x n_trees x n_values.
void predict_each(const Forest& forest, const TableView& table, std::span<double> out,
                  std::size_t n_threads, Monitor& monitor);

// The leaf of each row in each tree, n_rows x n_trees: numbers of nodes, or of leaves.
void apply(const Forest& forest, const TableView& table, Reached reached,
           std::span<std::uint32_t> out, std::size_t n_threads, Monitor& monitor);

// ---- values of leaves ----

// The likeliest class of each output for each row of a matrix of values, the first of equals:
// n_rows x n_outputs.
std::vector<std::uint32_t> likeliest_classes(std::span<const double> values,
                                             const ForestInfo& info);

// The same as ones among zeros, in the shape of `values`.
std::vector<double> as_votes(std::span<const double> values, const ForestInfo& info);

}  // namespace committee
