// The codes of one column: bins of neighbouring values, ranks, or levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/bucketed_values.hpp"
#include "base/radix_sort.hpp"
#include "data/binned_dataset.hpp"

namespace committee {

// Working memory for one column at a time.
struct BinningScratch {
  std::vector<double> values;
  BucketedValues buckets;
  std::vector<KeyedRow<std::uint32_t>> rows32, spare_rows32;
  std::vector<KeyedRow<std::uint64_t>> rows64, spare_rows64;

  template <typename Key>
  auto rows() {
    if constexpr (sizeof(Key) == 4) {
      return std::tie(rows32, spare_rows32);
    } else {
      return std::tie(rows64, spare_rows64);
    }
  }
};

// The values of a real or an integer column. `weights` (empty: one each) decide the quantiles; rows
// of weight zero get a code but have no influence. Sets everything of the feature but its kind.
void bin_values(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
                std::span<const std::uint64_t> weights, const BinningOptions& options,
                BinningScratch& scratch);

// What is known of all rows of a table.
struct RowsToBin {
  std::size_t n_rows;
  std::span<const std::uint64_t> weights;  // empty: one each
  std::uint64_t total_weight;
};

// The same for a sparse real column, at the cost of its stored values; codes are spread out where
// the options say so, or where they are exact.
void bin_sparse(BinnedFeature& feature, const ColumnView& column, const RowsToBin& rows,
                const BinningOptions& options, BinningScratch& scratch);

// The codes of some rows of a sparse feature, which `column` shows; bins are known.
void take_sparse(BinnedFeature& feature, const BinnedFeature& whole, const ColumnView& column);

// Level numbers, which are the codes.
void copy_levels(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
                 std::span<const std::uint64_t> weights, std::uint32_t n_levels);

// Room for the codes of a feature.
template <typename Code>
std::span<Code> allocate_codes(BinnedFeature& feature, std::size_t n_rows) {
  feature.storage = std::make_unique_for_overwrite<std::byte[]>(n_rows * sizeof(Code));
  feature.column.codes = feature.storage.get();
  feature.column.width = sizeof(Code);
  return {reinterpret_cast<Code*>(feature.storage.get()), n_rows};
}

// Calls visit with room for codes that are as wide as `n_codes` needs.
template <typename Visit>
void with_allocated_codes(BinnedFeature& feature, std::size_t n_rows, std::size_t n_codes,
                          Visit&& visit) {
  switch (code_width(n_codes)) {
    case 1:
      return visit(allocate_codes<std::uint8_t>(feature, n_rows));
    case 2:
      return visit(allocate_codes<std::uint16_t>(feature, n_rows));
    default:
      return visit(allocate_codes<std::uint32_t>(feature, n_rows));
  }
}

}  // namespace committee
