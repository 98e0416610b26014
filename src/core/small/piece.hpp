// A part of a tree as it is grown, before its nodes are numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "split/split.hpp"
#include "tree/tree.hpp"

namespace committee {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

// A node as it is grown; numbers are positions in its piece. There is one for every few rows of
// the table, so it is kept small.
struct GrownNode {
  Node node;  // its threshold is an offset into the piece's category data for category splits
  std::uint32_t begin = 0;  // its entries are order[begin] ... order[end - 1]
  std::uint32_t end = 0;
  std::uint32_t n_children = 0;
  std::uint32_t first_child = kNone;
  std::uint32_t piece = kNone;  // the piece that continues here
};

// Grown by one thread.
struct Piece {
  std::vector<GrownNode> nodes;
  std::vector<std::uint32_t> category_data;
  std::vector<Bounds> bounds;  // one a node for monotone trees, else empty

  Bounds bounds_of(std::size_t node) const { return bounds.empty() ? Bounds{} : bounds[node]; }

  // Adds two children to a node, the left one with its first `n_left` entries; returns the number
  // of the left one. Not for monotone trees.
  std::uint32_t add_children(std::size_t parent, std::size_t n_left) {
    const auto first_child = static_cast<std::uint32_t>(nodes.size());
    nodes[parent].n_children = 2;
    nodes[parent].first_child = first_child;
    GrownNode left;
    left.begin = nodes[parent].begin;
    left.end = left.begin + static_cast<std::uint32_t>(n_left);
    GrownNode right;
    right.begin = left.end;
    right.end = nodes[parent].end;
    nodes.push_back(left);
    nodes.push_back(right);
    return first_child;
  }
};

}  // namespace committee
