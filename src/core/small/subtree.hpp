// Subtrees of few rows, grown in one go.
//
// Most nodes of a deep tree have a handful of rows; there the administration of the general search
// costs more than the search. Here the codes of the subtree's rows are copied once, each feature a
// column of 64 bytes in the nearest cache, and a row is known by its place in them: splitting a
// node moves bytes. The splits are those that the general search finds, its slow twin in the tests.
#pragma once

#include <memory>

#include "small/subtree_grower.hpp"

namespace committee {

// For one thread; null where the general search has to grow all nodes: there are categories, or
// constraints, or a criterion without a kernel for few rows.
std::unique_ptr<SubtreeGrower> make_subtree_grower(const FitData& data, const GrowOptions& options);

}  // namespace committee
