#include "gradient_histogram.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "simd.hpp"
#include "thread_pool.hpp"

namespace committee {
namespace {

constexpr std::size_t kGroup = 32;     // features that one pass adds
constexpr std::size_t kPrefetch = 24;  // rows ahead

// Written out for each feature: compilers do not unroll so long a loop.
template <std::size_t... kFeatures>
COMMITTEE_INLINE void add_codes(const std::uint8_t* record, std::int64_t value,
                                std::int64_t* tables, std::index_sequence<kFeatures...>) {
  ((tables[kFeatures * kGradientCells + record[kFeatures]] += value), ...);
}

template <std::size_t kFeatures>
COMMITTEE_INLINE void add_record(const std::uint8_t* record, std::int64_t value,
                                 std::int64_t* tables) {
  add_codes(record, value, tables, std::make_index_sequence<kFeatures>());
}

// Adds rows, or the rows begin ... end - 1 where `rows` is null.
template <std::size_t kFeatures>
void add_group(const std::uint8_t* records, std::size_t stride, const std::int64_t* packed,
               const std::uint32_t* rows, std::size_t begin, std::size_t end,
               std::int64_t* tables) {
  if (rows == nullptr) {
    for (std::size_t row = begin; row < end; ++row) {
      add_record<kFeatures>(records + row * stride, packed[row], tables);
    }
    return;
  }
  const std::size_t n_ahead = end > begin + kPrefetch ? end - kPrefetch : begin;
  std::size_t i = begin;
  for (; i < n_ahead; ++i) {
    const std::size_t later = rows[i + kPrefetch];
    __builtin_prefetch(records + later * stride);
    __builtin_prefetch(packed + later);
    const std::size_t row = rows[i];
    add_record<kFeatures>(records + row * stride, packed[row], tables);
  }
  for (; i < end; ++i) {
    const std::size_t row = rows[i];
    add_record<kFeatures>(records + row * stride, packed[row], tables);
  }
}

using AddGroup = void (*)(const std::uint8_t*, std::size_t, const std::int64_t*,
                          const std::uint32_t*, std::size_t, std::size_t, std::int64_t*);

template <std::size_t... kWidths>
constexpr std::array<AddGroup, sizeof...(kWidths)> group_functions(
    std::index_sequence<kWidths...>) {
  return {&add_group<kWidths + 1>...};
}

// The rows begin ... end - 1 of `rows`, or of the table where it is null.
void add_rows(const RecordGroups& records, const std::int64_t* packed, const std::uint32_t* rows,
              Range range, std::int64_t* tables) {
  static constexpr auto kFunctions = group_functions(std::make_index_sequence<kGroup>());
  for (std::size_t i = 0; i < records.groups.size(); ++i) {
    const std::size_t first = i * records.width;
    const std::size_t width = std::min(records.width, records.n_features - first);
    const RecordMatrix& group = records.groups[i];
    kFunctions[width - 1](group.codes.data(), group.stride, packed, rows, range.begin, range.end,
                          tables + first * kGradientCells);
  }
}

}  // namespace

RecordGroups make_record_groups(const ByteColumns& columns, std::size_t n_rows,
                                std::size_t n_threads) {
  RecordGroups records;
  records.n_features = columns.size();
  const std::size_t n_groups = (records.n_features + kGroup - 1) / kGroup;
  records.width = (records.n_features + n_groups - 1) / n_groups;
  // A power of two: no record is in two cache lines.
  const std::size_t stride = std::bit_ceil(records.width);
  for (std::size_t first = 0; first < records.n_features; first += records.width) {
    const std::size_t last = std::min(first + records.width, records.n_features);
    std::vector<const std::uint8_t*> group;
    for (std::size_t feature = first; feature < last; ++feature) {
      group.push_back(columns.codes(feature));
    }
    records.groups.push_back(make_records(group, n_rows, stride, n_threads));
  }
  return records;
}

void build_histogram(const RecordGroups& records, std::span<const std::int64_t> packed,
                     std::span<const std::uint32_t> rows, std::size_t n_threads,
                     GradientHistogram& histogram, std::vector<GradientHistogram>& spare) {
  const std::size_t size = records.n_features * kGradientCells;
  const std::size_t n_rows = rows.empty() ? packed.size() : rows.size();
  const std::uint32_t* which = rows.empty() ? nullptr : rows.data();
  // Below so many additions a second thread, and a second table to add up, cost more than they
  // bring.
  constexpr std::size_t kMinAdditions = std::size_t{1} << 18;
  const std::size_t n_chunks =
      std::clamp<std::size_t>(n_rows * records.n_features / kMinAdditions, 1, n_threads);
  histogram.assign(size, 0);
  if (n_chunks == 1) return add_rows(records, packed.data(), which, {0, n_rows}, histogram.data());
  if (spare.size() < n_chunks - 1) spare.resize(n_chunks - 1);
  parallel_for(n_chunks, n_threads, [&](std::size_t chunk) {
    GradientHistogram& own = chunk == 0 ? histogram : spare[chunk - 1];
    if (chunk > 0) own.assign(size, 0);
    add_rows(records, packed.data(), which, chunk_range(n_rows, n_chunks, chunk), own.data());
  });
  for (std::size_t chunk = 1; chunk < n_chunks; ++chunk) {
    for (std::size_t i = 0; i < size; ++i) histogram[i] += spare[chunk - 1][i];
  }
}

void subtract_histogram(GradientHistogram& parent, const GradientHistogram& child) {
  const std::size_t size = parent.size();
  for (std::size_t i = 0; i < size; ++i) parent[i] -= child[i];
}

}  // namespace committee
