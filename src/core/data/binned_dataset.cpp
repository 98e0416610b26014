#include "data/binned_dataset.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "base/quantize.hpp"
#include "base/scratch_pool.hpp"
#include "base/thread_pool.hpp"
#include "data/binning.hpp"
#include "data/column_groups.hpp"

namespace committee {
namespace {

// Weights for quantiles as whole numbers: order-free sums, and two equal rows count as one row of
// twice the weight. Empty means one each.
std::vector<std::uint64_t> whole_weights(std::span<const double> weights) {
  std::vector<std::uint64_t> whole(weights.size());
  int exponent = 0;
  if (!are_repetitions(weights)) {
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    exponent = grid_exponent(sum, 52);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto units = static_cast<std::uint64_t>(to_grid(weights[i], exponent));
    whole[i] = weights[i] > 0.0 ? std::max<std::uint64_t>(units, 1) : 0;
  }
  return whole;
}

// Working memory for one group of columns at a time.
struct GroupScratch {
  std::vector<std::uint64_t> copy;
  BinningScratch binning;
};

// Gives the working memory of a large table back to the system. Allocators keep it for each thread,
// where later arrays of others do not find it.
void return_memory(std::size_t n_cells) {
#ifdef __GLIBC__
  constexpr std::size_t kMany = std::size_t{1} << 22;
  if (n_cells >= kMany) malloc_trim(0);
#else
  static_cast<void>(n_cells);
#endif
}

}  // namespace

BinnedDataset::BinnedDataset(const TableView& table, std::span<const double> weights,
                             std::span<const std::uint32_t> n_levels, const BinningOptions& options,
                             Monitor& monitor)
    : table_(table), features_(table.n_features()) {
  if (table.n_rows >= std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("a table can have at most 2**32 - 2 rows");
  }
  const std::vector<std::uint64_t> whole = whole_weights(weights);
  const std::size_t n_rows = table.n_rows;
  const std::uint64_t total_weight =
      whole.empty() ? n_rows : std::accumulate(whole.begin(), whole.end(), std::uint64_t{0});
  std::optional<ScratchPool<GroupScratch>> pool(std::in_place);
  const auto read_feature = [&](std::size_t index, const ColumnView& column,
                                BinningScratch& scratch) {
    BinnedFeature& feature = features_[index];
    feature.kind = table_.kinds[index];
    if (feature.kind == FeatureKind::kCategory) {
      copy_levels(feature, column, n_rows, whole, n_levels[index]);
    } else if (column.is_sparse()) {
      bin_sparse(feature, column, {n_rows, whole, total_weight}, options, scratch);
    } else {
      bin_values(feature, column, n_rows, whole, options, scratch);
    }
    // Every row has a code, also where those with a value have weight zero.
    if (feature.column.n_values == 0) feature.column.has_missing = true;
  };
  const std::vector<std::size_t> begins = group_neighbours(table_);
  const auto read_group = [&](std::size_t group) {
    pool->lend([&](GroupScratch& scratch) {
      const std::size_t first = begins[group];
      const std::vector<ColumnView> columns =
          gather_columns(std::span(table_.columns).subspan(first, begins[group + 1] - first),
                         n_rows, scratch.copy);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        monitor.check();
        read_feature(first + i, columns[i], scratch.binning);
      }
    });
  };
  parallel_for(begins.size() - 1, options.n_threads, read_group, &monitor);
  pool.reset();
  return_memory(n_rows * features_.size());
}

BinnedDataset::BinnedDataset(const BinnedDataset& whole, const TableView& table,
                             std::span<const std::uint32_t> rows, std::size_t n_threads)
    : table_(table), features_(whole.n_features()) {
  parallel_for(features_.size(), n_threads, [&](std::size_t index) {
    const BinnedFeature& all = whole.feature(index);
    BinnedFeature& own = features_[index];
    own.kind = all.kind;
    own.low = all.low;
    own.high = all.high;
    own.column.n_values = all.column.n_values;
    const auto copy = [&](auto code_of) {
      const std::uint32_t missing = all.column.missing_code();
      own.column.has_missing =
          all.column.has_missing && std::any_of(rows.begin(), rows.end(), [&](std::uint32_t row) {
            return std::uint32_t{code_of(row)} == missing;
          });
      // Codes are as wide as there are codes: without missing values that may be less than there.
      with_allocated_codes(own, rows.size(), own.column.n_codes(), [&](auto out) {
        using Code = typename decltype(out)::value_type;
        for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<Code>(code_of(rows[i]));
      });
    };
    if (all.sparse == nullptr) {
      visit_codes(all.column, [&](const auto* codes) {
        copy([codes](std::uint32_t row) { return codes[row]; });
      });
    } else if (table_.columns[index].is_sparse()) {
      take_sparse(own, all, table_.columns[index]);
    } else {
      copy([&](std::uint32_t row) { return all.sparse->at(row); });
    }
  });
}

Value BinnedDataset::value(std::size_t feature, std::size_t row) const {
  if (features_[feature].kind == FeatureKind::kInteger) {
    return {.integer = read_integer(table_.columns[feature], row).value};
  }
  return {.real = read_real(table_.columns[feature], row)};
}

Value BinnedDataset::low(std::size_t feature, std::size_t row) const {
  const BinnedFeature& binned = features_[feature];
  return binned.low.empty() ? value(feature, row) : binned.low[binned.column.at(row)];
}

Value BinnedDataset::high(std::size_t feature, std::size_t row) const {
  const BinnedFeature& binned = features_[feature];
  return binned.high.empty() ? value(feature, row) : binned.high[binned.column.at(row)];
}

}  // namespace committee
