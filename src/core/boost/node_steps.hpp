// The steps of the nodes of a boosted tree, from the derivatives of the rows in its leaves.
//
// Integers have chosen the splits; steps come from sums of the doubles, added in parts of a fixed
// size so that they do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "split/split.hpp"
#include "tree/tree.hpp"

namespace committee {

struct StepRows {
  std::span<const double> gradients;      // one a row, without weights
  std::span<const double> hessians;       // empty: all one
  std::span<const double> weights;        // empty: all one
  std::span<const std::uint8_t> used;     // rows that the tree learns from; empty: all
  std::span<const std::uint32_t> leaves;  // the node that each row has reached
  // A power of two that scales weights to a sum of about one: large weights times large gradients
  // stay finite.
  double weight_scale = 1.0;

  double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

struct StepRules {
  double learning_rate = 1.0;
  double l1 = 0.0;
  double l2 = 0.0;
  std::span<const Bounds> bounds;  // of the step of each node, in units of `bound_unit`
  double bound_unit = 1.0;
};

// Fills values, impurities and weights of all nodes, and the row counts of inner nodes: those of
// leaves are in `tree.n_rows` already.
void fill_steps(const StepRows& rows, const StepRules& rules, std::size_t n_threads, Tree& tree);

}  // namespace committee
