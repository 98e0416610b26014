// Errors to expect of a branch if it took the place of its parent: whether C4.5 raises it.
#pragma once

#include <cstdint>

#include "base/monitor.hpp"
#include "quinlan/pessimistic_error.hpp"
#include "quinlan/quinlan_nodes.hpp"

namespace committee {

// Errors to expect of a child of a node if it got all cases of the node. Without missing values
// only those of the other branches have to be sent down, and what they add to the leaves that they
// reach is added up; else they change the shares of others, and all are sent. In a chain of d
// splits the latter takes d times as long as a pass over the tree.
double expect_raised(const QuinlanNodes& nodes, std::uint32_t index, std::uint32_t child,
                     const Cases& cases, bool has_missing, const PessimisticError& error,
                     Monitor& monitor);

}  // namespace committee
