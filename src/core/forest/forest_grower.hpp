// Grows the trees of a forest side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/monitor.hpp"
#include "data/binned_dataset.hpp"
#include "data/sampling.hpp"
#include "data/target.hpp"
#include "forest/forest.hpp"
#include "split/grow_options.hpp"

namespace committee {

// Tree i of a forest is the same however many trees are grown at a time: its rows, its features
// and its seed are functions of i and the seeds.
struct ForestOptions {
  std::uint64_t first_tree = 0;
  std::size_t n_trees = 0;
  std::uint64_t tree_seed = 0;
  const SamplingPlan* rows = nullptr;  // null: each tree learns from all rows
  std::uint64_t row_seed = 0;
  const SamplingPlan* features = nullptr;  // null: each tree may split all features
  std::uint64_t feature_seed = 0;
  bool balance_classes = false;  // reweight the sample of each tree: classes weigh the same
  double pruning_alpha = 0.0;    // cost-complexity pruning of each tree
  double leaf_smoothing = 0.0;   // classes: rows with the shares of its parent added to each leaf
  bool use_records = true;       // where the codes fit bytes: faster; ties may break differently
  std::size_t n_threads = 1;
};

// `weights` (empty: all one) multiply the draws of a row, or are its weight where nothing is drawn;
// `counts` are the repetitions of rows as in make_entries, for forests that draw no rows.
// The monitor counts trees.
Forest grow_forest(const BinnedDataset& dataset, const Target& target,
                   std::span<const double> weights, std::span<const std::uint32_t> counts,
                   const GrowOptions& tree_options, const ForestOptions& options, Monitor& monitor);

}  // namespace committee
