// Sends the rows of a node to its children, keeping their order.
//
//   rows    = [ 3 8 1 9 4 7 ]     before: the rows of one node
//   rows    = [ 3 1 4 | 8 9 7 ]   after: first child, then second child
//
// Order is kept so that a tree does not depend on the number of threads, and so that a pass over
// a child still walks memory forward.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "binned_dataset.hpp"
#include "split.hpp"

namespace committee {

// Returns where each child's rows begin in `rows`, and their end: n_children + 1 numbers.
std::vector<std::size_t> partition_rows(const CodeColumn& column, const Split& split,
                                        std::span<std::uint32_t> rows,
                                        std::vector<std::uint32_t>& scratch);

}  // namespace committee
