// Intervals of a numeric feature by minimal description length (Fayyad and Irani 1993).
//
// The rows are cut where the entropy of the classes falls most, and both parts again, as long as a
// cut pays for its description. With N cases of k classes and entropy H, and k1, H1, k2, H2 of the
// parts, a cut is kept if
//
//   gain > (log2(N - 1) + log2(3^k - 2) - k H + k1 H1 + k2 H2) / N.
#pragma once

#include <cstddef>
#include <vector>

#include "base/monitor.hpp"
#include "data/binned_dataset.hpp"
#include "data/target.hpp"

namespace committee {

// The cuts, ascending, in the type of the feature: values up to the first are in the first
// interval.
std::vector<Value> interval_cuts(const BinnedDataset& dataset, std::size_t feature,
                                 const Target& target, const Entries& entries, Monitor& monitor);

}  // namespace committee
