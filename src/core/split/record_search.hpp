// The search of a node in a block of records (block.hpp): kernels for bytes where there are some,
// the search by code for the rest. Both give the same splits.
//
// Each score has its search by kernels in a file of its own: record_binary.hpp, record_classes.hpp
// and record_sums.hpp; random thresholds are in record_drawn.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "split/record_binary.hpp"
#include "split/record_classes.hpp"
#include "split/record_drawn.hpp"
#include "split/record_features.hpp"
#include "split/record_sums.hpp"

namespace committee {

// Thresholds and subsets by kernels. False where there are none for this score or node.
template <typename Score>
inline bool search_by_kernels(const RecordSearch<Score>&, std::span<const std::uint32_t>) {
  return false;
}

// The features of a node, in order.
template <typename Score>
inline void search_records(const RecordSearch<Score>& search,
                           std::span<const std::uint32_t> features) {
  const GrowOptions& options = search.node.options;
  const bool counts_rows = search.node.counts_rows;
  const bool is_plain = !options.random_thresholds && options.monotonic.empty() && !counts_rows;
  if (is_plain && search_by_kernels(search, features)) return;
  if (options.random_thresholds && !counts_rows) return search_drawn_cuts(search, features);
  for (const std::uint32_t feature : features) {
    search.check_interrupt();
    search_gathered(search, feature);
  }
}

}  // namespace committee
