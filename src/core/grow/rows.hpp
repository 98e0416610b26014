// Sends the rows of a node to its children, keeping their order.
//
//   rows    = [ 3 8 1 9 4 7 ]     before: the rows of one node
//   rows    = [ 3 1 4 | 8 9 7 ]   after: first child, then second child
//
// Order is kept so that a tree does not depend on the number of threads, and so that a pass over
// a child still walks memory forward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "score/block.hpp"
#include "split/split.hpp"

namespace committee {

struct PartitionScratch {
  std::vector<std::size_t> begins;
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> rows;
  std::vector<std::uint8_t> goes_left;
  std::vector<std::byte> bytes;
};

// Divides rows begin ... end - 1 of the block. Puts into scratch.begins where each child's rows
// begin, counted from `begin`, and their end: n_children + 1 numbers.
void partition_rows(Block& block, std::size_t begin, std::size_t end, const Split& split,
                    PartitionScratch& scratch);

}  // namespace committee
