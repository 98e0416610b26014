// What trees say about the rows they did not learn from.
//
// The rows that a tree left out are drawn again from its plan; nothing is stored between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "base/thread_pool.hpp"
#include "data/sampling.hpp"
#include "data/target.hpp"
#include "forest/forest.hpp"

namespace committee {

enum class Loss {
  kError,         // share of outputs whose likeliest class is wrong
  kBrier,         // squared distance of the shares of classes from the true class, per output
  kSquaredError,  // mean of the outputs
};

// The loss of a tree's leaves for the rows of a target.
class LeafLoss {
 public:
  LeafLoss(const CompactTree& tree, const ForestInfo& info, const Target& target, Loss loss);

  double operator()(std::uint32_t value_row, std::size_t row) const;

 private:
  double brier(std::uint32_t value_row, std::size_t row) const;

  std::span<const double> values_;
  std::size_t n_values_;
  const Target* target_;
  Loss loss_;
  std::vector<std::uint32_t> classes_;  // kError: likeliest class for each value row and output
};

// Which rows each tree may predict: not drawn, and of positive weight.
struct LeftOut {
  const SamplingPlan& plan;
  std::uint64_t row_seed = 0;
  std::span<const double> weights;  // empty: all one

  double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
  // In ascending order. `counts` is working memory.
  std::vector<std::uint32_t> rows(std::uint64_t tree, std::vector<std::uint32_t>& counts) const;
};

struct TreeLoss {
  double loss = 0.0;    // weighted mean over the left out rows; 0 if there are none
  double weight = 0.0;  // of these rows
};

// Adds the values (or votes) of the trees in `trees` to `sums` (n_rows x n_values) for the rows
// they left out, in the order of the trees, and counts these trees in `n_votes` (n_rows). Returns
// each tree's own loss (error rate or squared error). Same bits for any number of threads.
std::vector<TreeLoss> add_out_of_bag(const Forest& forest, const TableView& table,
                                     const Target& target, const LeftOut& left_out, Range trees,
                                     bool hard, std::span<double> sums,
                                     std::span<std::uint32_t> n_votes, std::size_t n_threads,
                                     Monitor& monitor);

}  // namespace committee
