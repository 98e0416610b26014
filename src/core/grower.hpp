// Grows one tree on a binned dataset.
#pragma once

#include "binned_dataset.hpp"
#include "grow_options.hpp"
#include "monitor.hpp"
#include "target.hpp"
#include "tree.hpp"

namespace committee {

// The same tree for any number of threads. Throws Interrupted when the monitor says stop.
Tree grow_tree(const BinnedDataset& dataset, const Target& target, Entries entries,
               const GrowOptions& options, Monitor& monitor);

}  // namespace committee
