#include "forest/forest_grower.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/scratch_pool.hpp"
#include "base/thread_pool.hpp"
#include "grow/grower.hpp"
#include "score/block.hpp"
#include "tree/pruning.hpp"

namespace committee {
namespace {

// The entries of the rows that were drawn.
Entries drawn_entries(std::span<const std::uint32_t> counts, std::span<const double> weights) {
  std::size_t n_entries = 0;
  std::uint64_t n_drawn = 0;
  bool is_repeated = false;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    n_drawn += counts[row];
    const bool is_used = counts[row] != 0 && (weights.empty() || weights[row] != 0.0);
    n_entries += is_used ? 1 : 0;
    is_repeated = is_repeated || counts[row] > 1;
  }
  if (n_drawn >= std::uint64_t{1} << 31) {
    throw std::invalid_argument("max_samples: a sample must have less than 2**31 rows; one has " +
                                std::to_string(n_drawn));
  }
  // What a row left out wrote is overwritten by the next: a branch would be mispredicted for every
  // third row of a bootstrap sample. The last one needs a place of its own.
  Entries entries;
  entries.rows.resize(n_entries + 1);
  entries.weights.resize(n_entries + 1);
  if (is_repeated) entries.repetitions.resize(n_entries + 1);
  entries.weights_are_repetitions = true;
  std::size_t n = 0;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const double factor = weights.empty() ? 1.0 : weights[row];
    const bool is_used = (counts[row] != 0) & (factor != 0.0);
    entries.rows[n] = static_cast<std::uint32_t>(row);
    entries.weights[n] = factor * counts[row];
    if (is_repeated) entries.repetitions[n] = counts[row];
    entries.weights_are_repetitions &= !is_used | (factor == 1.0);
    n += is_used ? 1 : 0;
  }
  entries.rows.pop_back();
  entries.weights.pop_back();
  if (is_repeated) entries.repetitions.pop_back();
  return entries;
}

// Multiplies weights so that the classes that are present weigh the same, output by output.
void balance_classes(const Target& target, Entries& entries) {
  std::vector<double> factors(entries.size(), 1.0);
  for (std::size_t output = 0; output < target.n_outputs; ++output) {
    std::vector<double> totals(target.n_classes[output], 0.0);
    const auto class_of = [&](std::size_t entry) {
      return static_cast<std::size_t>(
          target.classes[std::size_t{entries.rows[entry]} * target.n_outputs + output]);
    };
    double total = 0.0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      totals[class_of(i)] += entries.weights[i];
      total += entries.weights[i];
    }
    double n_present = 0.0;
    for (const double of_class : totals) n_present += of_class > 0.0 ? 1.0 : 0.0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      factors[i] *= total / (n_present * totals[class_of(i)]);
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (factors[i] != 1.0) entries.weights_are_repetitions = false;
    entries.weights[i] *= factors[i];
  }
}

// Draws the class shares of each leaf to those of its parent, as if `strength` rows of the parent's
// shares were in the leaf too. Inner nodes keep their shares: they say what rows there were.
void smooth_leaves(Tree& tree, double strength) {
  for (std::size_t parent = 0; parent < tree.n_nodes(); ++parent) {
    if (tree.nodes[parent].is_leaf()) continue;
    const double* const prior = tree.values.data() + parent * tree.n_values;
    const std::size_t first = tree.nodes[parent].first_child;
    const std::size_t n_children = tree.n_children(static_cast<std::uint32_t>(parent));
    for (std::size_t child = first; child < first + n_children; ++child) {
      if (!tree.nodes[child].is_leaf()) continue;
      const double share = strength / (tree.weight[child] + strength);
      double* const values = tree.values.data() + child * tree.n_values;
      for (std::size_t i = 0; i < tree.n_values; ++i) values[i] += share * (prior[i] - values[i]);
    }
  }
}

std::vector<std::uint32_t> drawn_features(const ForestOptions& options, std::uint64_t tree) {
  std::vector<std::uint32_t> counts;
  options.features->draw(options.feature_seed, tree, counts);
  std::vector<std::uint32_t> features;
  for (std::uint32_t feature = 0; feature < counts.size(); ++feature) {
    if (counts[feature] > 0) features.push_back(feature);
  }
  return features;
}

class ForestGrower {
 public:
  ForestGrower(const BinnedDataset& dataset, const Target& target, std::span<const double> weights,
               std::span<const std::uint32_t> counts, const GrowOptions& tree_options,
               const ForestOptions& options)
      : dataset_(dataset),
        target_(target),
        weights_(weights),
        counts_(counts),
        tree_options_(tree_options),
        options_(options) {
    // Never a question of threads: sums on another grid may break a tie differently.
    const bool has_records = options.use_records && fits_records(dataset) &&
                             tree_options.criterion != Criterion::kAbsoluteError;
    if (has_records) records_ = make_records(dataset, options.n_threads);
    // Fewer trees than half the threads are grown one after the other, by all threads.
    const bool is_small_forest = !has_records && 2 * options.n_trees <= options.n_threads;
    tree_options_.n_threads = is_small_forest ? options.n_threads : 1;
    info_.n_features = static_cast<std::uint32_t>(dataset.n_features());
    info_.n_values = static_cast<std::uint32_t>(target.n_values());
    info_.criterion = tree_options.criterion;
    info_.is_classification = target.is_classification;
    info_.n_classes = target.n_classes;
    // Where inner nodes do not follow from leaves.
    keep_all_ = tree_options.criterion == Criterion::kAbsoluteError ||
                !tree_options.monotonic.empty() || options.leaf_smoothing > 0.0;
  }

  Forest grow(Monitor& monitor) {
    std::vector<std::shared_ptr<const CompactTree>> trees(options_.n_trees);
    const auto task = [&](std::size_t i) {
      trees[i] = std::make_shared<CompactTree>(grow_one(options_.first_tree + i, monitor));
      monitor.advance(1);
    };
    if (tree_options_.n_threads == 1) {
      parallel_for(trees.size(), options_.n_threads, task, &monitor);
    } else {
      for (std::size_t i = 0; i < trees.size(); ++i) task(i);
    }
    Forest forest{info_, {}};
    for (auto& tree : trees) forest.add(std::move(tree));
    return forest;
  }

 private:
  CompactTree grow_one(std::uint64_t index, Monitor& monitor) {
    // Trees are what the caller counts, so the rows of a tree are counted by a monitor of its own.
    Monitor of_tree([&monitor](std::uint64_t) {
      monitor.listen();
      return monitor.is_stopped();
    });
    GrowOptions options = tree_options_;
    options.seed = derive_key(options_.tree_seed, index);
    if (options_.features != nullptr) options.allowed = drawn_features(options_, index);
    Entries of_rows = entries(index, of_tree);
    const bool is_pruned = options_.pruning_alpha > 0.0;
    options.leaves_only =
        target_.is_classification && !is_pruned && !keep_all_ && fits_compact(count_rows(of_rows));
    Tree tree = grow_tree(dataset_, target_, std::move(of_rows), options, of_tree,
                          records_ ? &*records_ : nullptr);
    if (is_pruned) tree = prune(tree, options_.pruning_alpha);
    if (options_.leaf_smoothing > 0.0) smooth_leaves(tree, options_.leaf_smoothing);
    return compact(std::move(tree), info_, keep_all_, !is_pruned);
  }

  static double count_rows(const Entries& entries) {
    double n_rows = 0.0;
    for (std::size_t i = 0; i < entries.size(); ++i) n_rows += entries.repetitions_of(i);
    return n_rows;
  }

  Entries entries(std::uint64_t index, Monitor& monitor) {
    Entries entries;
    if (options_.rows == nullptr) {
      entries = make_entries(dataset_.n_rows(), weights_, counts_);
    } else {
      draws_.lend([&](std::vector<std::uint32_t>& counts) {
        options_.rows->draw(options_.row_seed, index, counts, &monitor);
        entries = drawn_entries(counts, weights_);
      });
    }
    if (entries.size() == 0) throw std::invalid_argument("no row has a positive weight");
    if (options_.balance_classes) balance_classes(target_, entries);
    return entries;
  }

  const BinnedDataset& dataset_;
  const Target& target_;
  std::span<const double> weights_;
  std::span<const std::uint32_t> counts_;
  GrowOptions tree_options_;
  const ForestOptions& options_;
  std::optional<RecordMatrix> records_;
  ForestInfo info_;
  bool keep_all_ = false;
  ScratchPool<std::vector<std::uint32_t>> draws_;
};

}  // namespace

Forest grow_forest(const BinnedDataset& dataset, const Target& target,
                   std::span<const double> weights, std::span<const std::uint32_t> counts,
                   const GrowOptions& tree_options, const ForestOptions& options,
                   Monitor& monitor) {
  return ForestGrower(dataset, target, weights, counts, tree_options, options).grow(monitor);
}

}  // namespace committee
