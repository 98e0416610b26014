// Rows down many trees.
//
// Many rows are taken in blocks: a block is copied to floats once, row by row, and goes down one
// tree after the other, so that the nodes of a tree serve many rows while they are in the cache.
// To that end trees are rewritten to nodes of 8 bytes with a threshold of single precision.
// Rounding keeps order: a value and a threshold that differ as floats differ in the same direction
// as doubles. Where they do not differ (equal when rounded, missing, or not a real feature) the
// exact node is asked. Few rows go down the exact nodes of all trees at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forest.hpp"
#include "thread_pool.hpp"

namespace committee {

// Of 8 bytes: a rounded threshold, and the first child with the feature in its low bits.
// A leaf has link 0 and holds its value row.
struct QuickNode {
  std::uint32_t word = 0;
  std::uint32_t link = 0;
};

struct QuickTree {
  std::vector<QuickNode> nodes;  // empty if the links do not fit: the exact nodes serve then
  int feature_bits = 0;
};
QuickTree make_quick(const CompactTree& tree);

// The real values of some rows as floats, row by row; NaN in other features.
struct FloatRows {
  std::size_t first_row = 0;
  std::size_t n_features = 0;
  std::vector<float> values;

  const float* row(std::size_t table_row) const {
    return values.data() + (table_row - first_row) * n_features;
  }
};
void copy_rows(const TableView& table, Range rows, FloatRows& out);

// Rows of a block so large that a tree is read seldom and so small that it stays in the cache.
std::size_t block_rows(const TableView& table);

enum class Reached { kNode, kValueRow, kLeafNumber };

// What rows[0], rows[1], ... (numbers in the table, all of them in `floats`) reach in a tree.
void route(const CompactTree& tree, const QuickTree& quick, const TableView& table,
           const FloatRows& floats, std::span<const std::uint32_t> rows, Reached reached,
           std::uint32_t* out);

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
             std::span<double> out, std::size_t n_threads);

// The values of each tree: n_rows x n_trees x n_values.
void predict_each(const Forest& forest, const TableView& table, std::span<double> out,
                  std::size_t n_threads);

// The leaf of each row in each tree, n_rows x n_trees: numbers of nodes, or of leaves.
void apply(const Forest& forest, const TableView& table, Reached reached,
           std::span<std::uint32_t> out, std::size_t n_threads);

// ---- values of leaves ----

// The likeliest class of each output for each row of a matrix of values, the first of equals:
// n_rows x n_outputs.
std::vector<std::uint32_t> likeliest_classes(std::span<const double> values,
                                             const ForestInfo& info);

// The same as ones among zeros, in the shape of `values`.
std::vector<double> as_votes(std::span<const double> values, const ForestInfo& info);

}  // namespace committee
