// Grows one tree on a binned dataset.
#pragma once

#include "base/monitor.hpp"
#include "data/binned_dataset.hpp"
#include "data/target.hpp"
#include "score/block.hpp"
#include "split/grow_options.hpp"
#include "tree/tree.hpp"

namespace committee {

// The same tree for any number of threads. Throws Interrupted when the monitor says stop.
// With `records` (of the dataset; not for absolute error) the tree is grown in a block of records
// by one thread: faster where a node draws few of its features.
Tree grow_tree(const BinnedDataset& dataset, const Target& target, Entries entries,
               const GrowOptions& options, Monitor& monitor, const RecordMatrix* records = nullptr);

}  // namespace committee
