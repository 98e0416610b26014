// What the trees of a boosting fit share: the table in the layout of the search, the weights of the
// rows, and memory that the next tree uses again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "boost/boost_options.hpp"
#include "boost/gradient_histogram.hpp"
#include "boost/gradient_rows.hpp"
#include "boost/node_rows.hpp"
#include "data/binned_dataset.hpp"
#include "data/byte_columns.hpp"
#include "data/sorted_columns.hpp"
#include "score/block.hpp"

namespace committee {

struct BoostState {
  // `row_weights` may be empty: all one.
  BoostState(const BinnedDataset& binned, const BoostOptions& boost_options,
             std::span<const double> row_weights);

  // Other weights for the next trees. Where the first were repetitions, so are these.
  void weigh(std::span<const double> row_weights);

  const BinnedDataset& dataset;
  BoostOptions options;
  std::vector<double> weights;
  bool are_repetitions;
  std::vector<std::uint32_t> counts;  // how often each row counts; empty: once
  ByteColumns columns;
  std::vector<std::uint8_t> too_rare;   // features with too few rows of other codes than their rest
  RecordGroups records;                 // binned
  std::optional<SortedColumns> sorted;  // exact
  std::vector<std::uint8_t> marks;      // exact: of each row
  GradientRows gradients;
  std::vector<std::uint8_t> used;  // rows that a tree learns from; empty: all
  NodeRows rows;
  AlignedVector<std::uint32_t> leaves;        // the node of the last tree that each row has reached
  std::vector<GradientHistogram> histograms;  // not in use
  std::vector<GradientHistogram> spare;       // of further threads
};

}  // namespace committee
