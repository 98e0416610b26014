// Grows the trees of gradient boosting, one after the other, on the same table.
//
// A tree is grown from the derivatives of the loss at the current scores. Open nodes wait in a
// heap; the rows of each lie side by side in one array of row numbers. When a node is split, the
// histogram of the smaller child is built from its rows and that of the larger is what is left of
// the parent's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "boost/boost_options.hpp"
#include "data/binned_dataset.hpp"
#include "tree/tree.hpp"

namespace committee {

struct BoostState;

// What changes from tree to tree.
struct BoostRound {
  std::span<const double> gradients;     // one a row, without weights
  std::span<const double> hessians;      // empty: all one
  std::span<const std::uint8_t> sample;  // empty: all rows; else rows with 0 are left out
  double learning_rate = 1.0;
  std::uint64_t seed = 0;
};

class Booster {
 public:
  // Features with a code for each value are split exactly. `weights` may be empty: all one.
  Booster(const BinnedDataset& dataset, const BoostOptions& options,
          std::span<const double> weights);
  ~Booster();
  Booster(Booster&&) noexcept;

  // Other weights for the next trees, such as those of repetitions that are drawn.
  void weigh(std::span<const double> weights);

  // Values of the tree are steps, -learning_rate * G / (H + l2). Its impurities are the
  // second-order loss after the best step, per unit of weight, so that their decreases are gains.
  Tree grow(const BoostRound& round, Monitor& monitor);

  // The node of the last tree that each row has reached, whether it was in the sample or not.
  std::span<const std::uint32_t> leaves() const;

 private:
  static const BinnedDataset& checked(const BinnedDataset& dataset);
  class Grower;
  std::unique_ptr<BoostState> state_;
};

}  // namespace committee
