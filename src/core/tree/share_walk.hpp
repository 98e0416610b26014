// Walks that a row takes in shares: predictions of trees whose rows may be in several leaves.
//
// A row that misses the feature of a split goes down all branches, with shares like the weights of
// the training rows there. A level for which the node has no branch ends the walk at the node: what
// is known there is the answer. A walk *ends* at a leaf or at such a node; shares of ends sum to 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "data/column.hpp"
#include "tree/tree.hpp"

namespace committee {

// These take time like the whole tree for a row without any value; a stopped monitor ends them.

// The values of the ends of each row's walk, weighed by its shares: n_rows x n_values.
void predict_shares(const Tree& tree, const TableView& table, std::span<double> out,
                    std::size_t n_threads, Monitor& monitor);

// The end with the largest share of each row; of equal ones the first.
void apply_shares(const Tree& tree, const TableView& table, std::span<std::uint32_t> ends,
                  std::size_t n_threads, Monitor& monitor);

// All nodes that a row passes and its share there: row i passes indices[offsets[i]] ...
// indices[offsets[i + 1] - 1], ascending.
struct SharePath {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> indices;
  std::vector<double> shares;
};
SharePath share_path(const Tree& tree, const TableView& table, Monitor& monitor);

// The branch of an inner node that each row would take if it came there, -1 for none: its value is
// missing or has no branch.
void node_branches(const Tree& tree, const TableView& table, std::uint32_t node,
                   std::span<std::int32_t> out);

}  // namespace committee
