// The nodes of pieces (piece.hpp) as one tree.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "grow/node_statistics.hpp"
#include "small/piece.hpp"
#include "split/split.hpp"
#include "tree/tree.hpp"

namespace committee {

// A tree without what users read of its nodes, the entries of each and its bounds, if any.
struct GrownTree {
  Tree tree;
  std::vector<NodeRange> ranges;
  std::vector<Bounds> bounds;
};

// Of a piece that one thread has grown depth-first: its nodes have the order of join_pieces.
GrownTree tree_of(Piece piece, std::size_t n_features);

// Numbers the nodes depth-first, siblings side by side.
GrownTree join_pieces(const Piece& top, std::span<const Piece> pieces, std::size_t n_features);

}  // namespace committee
