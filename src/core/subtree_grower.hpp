// What grows subtrees of few rows in one go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block.hpp"
#include "byte_cut.hpp"
#include "grow_options.hpp"
#include "piece.hpp"

namespace committee {

// An open node of a block of records, of at most kSmallNodeRows rows.
struct SubtreeRoot {
  const Block* block = nullptr;
  std::size_t begin = 0;  // its rows in the block
  std::size_t end = 0;
  std::size_t index = 0;  // in its piece
  std::uint32_t depth = 0;
  std::uint64_t key = 0;
};

// A node of the subtree that asks for statistics on a finer grid: it is left open.
struct CoarseNode {
  std::vector<std::uint32_t> rows;  // of the block
  std::size_t index = 0;
  std::uint32_t depth = 0;
  std::uint64_t key = 0;
};

class SubtreeGrower {
 public:
  virtual ~SubtreeGrower() = default;
  // Grows the subtree into `piece` and writes the entries of its rows, leaf by leaf, to `order`.
  // False, and nothing done, where the general search has to.
  virtual bool grow(const SubtreeRoot& root, Piece& piece, std::span<std::uint32_t> order,
                    std::vector<CoarseNode>& coarse) = 0;
};

}  // namespace committee
