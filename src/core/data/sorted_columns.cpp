#include "data/sorted_columns.hpp"

#include <algorithm>
#include <numeric>

#include "base/thread_pool.hpp"

namespace committee {

// Counting sort: codes are ranks, so there are at most as many as rows.
std::vector<SortedRow> sort_rows(const CodeColumn& column, std::size_t n_rows) {
  std::vector<std::uint32_t> next(std::size_t{column.n_codes()} + 1, 0);
  for (std::size_t row = 0; row < n_rows; ++row) ++next[column.at(row) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<SortedRow> sorted(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::uint32_t code = column.at(row);
    sorted[next[code]++] = {static_cast<std::uint32_t>(row), code};
  }
  return sorted;
}

SortedColumns::SortedColumns(const BinnedDataset& dataset, std::size_t n_threads)
    : all_(dataset.n_features()), lists_(all_.size()), scratch_(all_.size()) {
  parallel_for(all_.size(), n_threads, [&](std::size_t feature) {
    const BinnedFeature& binned = dataset.feature(feature);
    if (binned.kind == FeatureKind::kCategory || binned.column.n_codes() < 2) return;
    all_[feature] = sort_rows(binned.column, dataset.n_rows());
  });
}

void SortedColumns::start(std::span<const std::uint8_t> is_used, std::size_t n_threads,
                          Monitor& monitor) {
  const auto start_list = [&](std::size_t feature) {
    std::vector<SortedRow>& list = lists_[feature];
    list.resize(all_[feature].size() + 1);  // one more: the last write may not count
    std::size_t n_used = 0;
    for (const SortedRow& row : all_[feature]) {
      list[n_used] = row;
      n_used += is_used[row.row];
    }
    list.resize(n_used);
    scratch_[feature].resize(n_used);
  };
  parallel_for(all_.size(), n_threads, start_list, &monitor);
}

void SortedColumns::divide(std::size_t begin, std::size_t end,
                           std::span<const std::uint8_t> is_left, std::size_t n_threads,
                           Monitor& monitor) {
  const auto divide_list = [&](std::size_t feature) {
    if (!has(feature)) return;
    SortedRow* const rows = lists_[feature].data() + begin;
    SortedRow* const right = scratch_[feature].data();
    const std::size_t n_rows = end - begin;
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      // Both writes happen, one counts: a branch would be mispredicted half of the time.
      const SortedRow row = rows[i];
      rows[n_left] = row;
      right[i - n_left] = row;
      n_left += is_left[row.row];
    }
    std::copy_n(right, n_rows - n_left, rows + n_left);
  };
  constexpr std::size_t kParallelMoves = std::size_t{1} << 17;
  const bool is_large = (end - begin) * all_.size() >= kParallelMoves;
  parallel_for(all_.size(), is_large ? n_threads : 1, divide_list, &monitor);
}

}  // namespace committee
