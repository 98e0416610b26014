// Subtrees of few rows, grown in one go.
//
// Most nodes of a deep tree have a handful of rows; there the administration of the general search
// costs more than the search. Here the codes of the subtree's rows are copied once, each feature a
// column of 64 bytes in the nearest cache, and a row is told by its place in them: splitting a node
// moves bytes. The splits are those that the general search finds, its slow twin in the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

// For one thread; null where the general search has to grow all nodes: there are categories, or
// constraints, or a criterion without a kernel for few rows.
std::unique_ptr<SubtreeGrower> make_subtree_grower(const FitData& data, const GrowOptions& options);

}  // namespace committee
