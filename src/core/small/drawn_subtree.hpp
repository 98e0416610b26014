// Subtrees of few rows whose thresholds are drawn, grown in one go.
//
// A node is a set of at most 64 rows, the bits of a word: comparing a column of codes with a
// threshold gives such a set, and counting bits gives class counts. The smallest and the largest
// codes of all features come from one pass over the node's records. The splits are those of the
// general search, the slow twin in the tests.
#pragma once

#include <memory>

#include "small/subtree_grower.hpp"

namespace committee {

// For one thread; null where there is no kernel for the criterion. Features have thresholds only,
// and differences of their values are finite.
std::unique_ptr<SubtreeGrower> make_drawn_subtree_grower(const FitData& data,
                                                         const GrowOptions& options);

}  // namespace committee
