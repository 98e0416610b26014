// What a user reads of the nodes: values, impurities, weights, row counts.
//
// Integers chose the splits; these numbers are float64 sums over the original targets and
// weights, added in a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "score/block.hpp"
#include "score/criterion.hpp"
#include "split/split.hpp"
#include "tree/tree.hpp"

namespace committee {

// The entries of a node are order[begin] ... order[end - 1], its children's one after the other.
struct NodeRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Fills values, impurity, weight and n_rows of `tree`, whose nodes are complete. `bounds` (empty
// or one a node) clip the values of monotone trees.
void fill_statistics(Tree& tree, const FitData& data, Criterion criterion,
                     std::span<const std::uint32_t> order, std::span<const NodeRange> ranges,
                     std::span<const Bounds> bounds);

// Classes: the same for leaves, but impurities. Other nodes have zeros.
void fill_leaves(Tree& tree, const FitData& data, std::span<const std::uint32_t> order,
                 std::span<const NodeRange> ranges);

}  // namespace committee
