// Finds the stump of each round of AdaBoost.
//
// The weights of the classes by code are kept from round to round: where a round changes the
// weights of some rows only (those it got wrong), just their differences are added, exactly,
// because they are integers. Features whose codes fit a byte are added up as records, many at a
// time (gradient_histogram.hpp); numbers with more values (exact splits) are passed in their order;
// categories of many levels have tables of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adaboost/boosted_rows.hpp"
#include "adaboost/stump_search.hpp"
#include "base/monitor.hpp"
#include "base/scratch_pool.hpp"
#include "boost/gradient_histogram.hpp"
#include "data/binned_dataset.hpp"
#include "tree/tree.hpp"

namespace committee {

struct StumpOptions {
  Criterion criterion = Criterion::kGini;
  double level_penalty = 0.0;
  std::size_t n_threads = 1;
};

class StumpBooster {
 public:
  // Both have to stay alive.
  StumpBooster(const BinnedDataset& dataset, BoostedRows& rows, const StumpOptions& options,
               Monitor& monitor);

  // The best stump for the present weights, a leaf where nothing can be split. Its values are
  // shares of classes, its weights shares of all.
  Tree find(Monitor& monitor);

  // The node of the last stump that each row has reached, and the weights of the classes in its
  // nodes as shares of all (BoostedRows::shares).
  Groups groups() const { return groups_; }
  const std::vector<double>& shares() const { return shares_; }

 private:
  // A feature that is not in the records.
  struct WideFeature {
    SortedFeature sorted;                           // numbers
    std::vector<std::vector<std::int64_t>> levels;  // categories: of each class
  };

  void sort(const StumpFeature& feature);
  void add_changes(Monitor& monitor);
  void add_entries(std::size_t code, std::span<const RowEntry> entries, Monitor& monitor);
  Split search(Monitor& monitor);
  void try_feature(std::size_t index, const StumpSearch& search, Split& best);
  Tree make_tree(const Split& split) const;
  Value threshold(const Split& split) const;
  std::uint32_t row_with(std::uint32_t feature, std::uint32_t code) const;
  void find_groups(const Split& split);
  void fill_statistics(const Split& split, Tree& tree);
  std::uint32_t group_of(const Split& split, std::uint32_t code) const;
  void count_rows(const Split& split, std::span<std::int64_t> n_rows) const;

  const BinnedDataset& dataset_;
  BoostedRows& rows_;
  StumpOptions options_;
  std::vector<StumpFeature> features_;  // those that vary
  std::vector<std::uint16_t> classes_;
  RecordGroups records_;
  std::vector<WideFeature> wide_;                  // of each feature; empty for those in records
  std::vector<std::vector<std::int64_t>> n_rows_;  // of each feature by code; not for sorted ones
  std::vector<GradientHistogram> histograms_;      // of each class
  GradientHistogram added_;
  std::vector<GradientHistogram> spare_;
  StumpTarget target_;
  std::uint64_t tracker_ = 0;
  bool are_summed_ = false;  // whether all changes that were taken are in the sums
  std::vector<AlignedVector<RowEntry>> changes_;
  AlignedVector<std::int64_t> signed_weights_;  // of two classes, where some feature is sorted
  std::vector<std::uint32_t> groups_;
  std::vector<double> shares_;
  ScratchPool<StumpScratch> pool_;
};

}  // namespace committee
