// The settings of a tree after Quinlan: ID3 and C4.5 differ in values only.
//
// Weights here are the grower's own: whole weights count repetitions, others are brought to a mean
// of one, so that "two cases" and a number of errors have a meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "quinlan/pessimistic_error.hpp"

namespace committee {

// What C4.5 takes for nothing: a gain this far below the average is still average, fewer errors
// than this are none.
constexpr double kEpsilon = 1e-3;
// Differences of gains, in bits, that come from rounding only; the first candidate wins a tie.
constexpr double kTie = 1e-10;

struct QuinlanOptions {
  bool use_ratio = true;            // gain ratio among gains of at least the average; else the gain
  bool corrects_thresholds = true;  // a threshold pays log2(thresholds tried) / weight
  bool groups_levels = false;       // levels are merged while the gain ratio rises
  double min_weight_leaf = 2.0;     // at least two branches of a split have this weight
  double min_weight_split = 4.0;
  double min_gain = 0.0;
  std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
  bool prunes = true;
  bool raises = true;  // a node may be replaced by its heaviest branch
  PessimisticError error;
  bool records = false;  // keep all candidates of all nodes
  std::size_t n_threads = 1;
};

}  // namespace committee
