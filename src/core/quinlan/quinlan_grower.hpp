// Grows trees after Quinlan: ID3 and C4.5.
//
// They have a grower of their own because two things differ from all other trees: the split of a
// node is chosen among the candidates of all its features together (gain ratio among those of at
// least average gain), and a row may be in several nodes at once (see cases.hpp).
#pragma once

#include "base/monitor.hpp"
#include "data/binned_dataset.hpp"
#include "data/target.hpp"
#include "quinlan/quinlan_nodes.hpp"
#include "quinlan/quinlan_options.hpp"

namespace committee {

// The same tree for any number of threads. `target` is one output of classes.
QuinlanTree grow_quinlan(const BinnedDataset& dataset, const Target& target, const Entries& entries,
                         const QuinlanOptions& options, Monitor& monitor);

}  // namespace committee
