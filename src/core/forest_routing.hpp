// Rows down many trees.
//
// Many rows are taken in blocks: a block is copied to floats once, row by row, and goes down one
// tree after the other, so that the nodes of a tree serve many rows while they are in the cache.
// To that end trees are rewritten to nodes of 8 bytes with a threshold of single precision.
// Rounding keeps order: a value and a threshold that differ as floats differ in the same direction
// as doubles. Where they do not differ (equal when rounded, missing, or not a real feature) the
// exact node is asked. Few rows go down the exact nodes of all trees at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "forest.hpp"
#include "thread_pool.hpp"

namespace committee {

// What a walk needs of a node. A leaf has first_child 0, and its value row for a word; else the
// word is the threshold in single precision, not a number where the exact node has to be asked.
struct LoadedNode {
  std::uint32_t word;
  std::uint32_t feature;
  std::uint32_t first_child;

  bool is_leaf() const { return first_child == 0; }
  float threshold() const { return std::bit_cast<float>(word); }
  // Whether single precision decides where a value goes, and where.
  bool decides(float value) const { return (value > threshold()) | (value < threshold()); }
  std::uint32_t child(float value) const {
    return first_child + static_cast<std::uint32_t>(value > threshold());
  }
};

// Nodes of 8 bytes: the word, and the first child with the feature in its low bits.
class QuickNodes {
 public:
  explicit QuickNodes(const CompactTree& tree);
  // Whether links of this tree fit 32 bits.
  static bool fits(const CompactTree& tree);

  LoadedNode load(std::uint32_t node) const {
    const auto [word, link] = nodes_[node];
    return {word, link & mask_, link >> bits_};
  }

 private:
  struct QuickNode {
    std::uint32_t word = 0;
    std::uint32_t link = 0;
  };
  std::vector<QuickNode> nodes_;
  std::uint32_t mask_ = 0;
  int bits_ = 0;
};

// The nodes of the tree themselves, for trees whose links do not fit.
class PlainNodes {
 public:
  explicit PlainNodes(const CompactTree& tree) : nodes_(tree.tree.nodes) {}

  LoadedNode load(std::uint32_t node) const {
    const Node& n = nodes_[node];
    return {n.is_leaf() ? value_row(n) : kNotANumber, n.feature(), n.first_child};
  }

 private:
  static constexpr std::uint32_t kNotANumber = 0x7FC00000U;
  std::span<const Node> nodes_;
};

using RoutingNodes = std::variant<QuickNodes, PlainNodes>;
RoutingNodes make_routing_nodes(const CompactTree& tree);

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
FloatRows copy_table(const TableView& table, std::size_t n_threads);

// Rows of a block so large that a tree is read seldom and so small that it stays in the cache.
std::size_t block_rows(const TableView& table);

enum class Reached { kNode, kValueRow, kLeafNumber };

// What rows[0], rows[1], ... (numbers in the table, all of them in `floats`) reach in a tree.
void route(const CompactTree& tree, const RoutingNodes& nodes, const TableView& table,
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
