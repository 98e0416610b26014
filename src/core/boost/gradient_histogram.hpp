// Sums of gradients by code, for all features of a node at once.
//
// Rows are records (block.hpp): the codes of a row lie side by side, so one visit of a row adds it
// to the tables of many features. Features of few values share a byte, as digits of one number: one
// addition serves all of them, and the sums of each are added up from the table of the byte when
// the node is searched. Wide tables come in groups of bytes, so that a visit stays within a cache
// line and the tables of a group in the nearest caches. Tables are a little longer than a power of
// two, for features of few codes would otherwise meet in the same cache sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "boost/node_rows.hpp"
#include "data/byte_columns.hpp"
#include "score/block.hpp"

namespace committee {

constexpr std::size_t kGradientCells = 264;  // of one byte of a record

// kGradientCells cells a byte, packed as GradientRows are.
using GradientHistogram = std::vector<std::int64_t>;

// Where a feature is in a record: its code is byte / divisor % n_codes. Sparse features are in
// bundles (sparse_bundles.hpp): a byte is the number `first` or one of those behind it where the
// code of the feature is not `rest`.
struct RecordPlace {
  std::uint32_t byte = 0;
  std::uint32_t divisor = 1;
  std::uint32_t n_codes = 0;  // 0: in no record
  std::uint32_t n_joint = 0;  // codes of the whole byte
  std::uint32_t first = 0;    // in a bundle; 0: in none
  std::uint32_t rest = 0;
  bool is_alone() const { return n_joint == n_codes && first == 0; }
};

// The codes of a dataset row by row, in groups of bytes.
struct RecordGroups {
  std::vector<RecordPlace> places;  // of each feature
  std::size_t n_bytes = 0;
  std::size_t width = 0;  // bytes of a group; the last may have less
  std::vector<RecordMatrix> groups;
};
// Features whose codes need more than a byte are in no record.
RecordGroups make_record_groups(std::span<const CodeColumn> columns, std::size_t n_rows,
                                std::size_t n_threads);

// Who works, and who may stop it.
struct HistogramRun {
  std::size_t n_threads;
  Monitor& monitor;
};

// Adds rows to a histogram that is cleared first: `entries`, or where there are none all rows of
// the table, with what they add in `packed`. `spare` is working memory for further threads.
void build_histogram(const RecordGroups& records, std::span<const std::int64_t> packed,
                     std::span<const RowEntry> entries, const HistogramRun& run,
                     GradientHistogram& histogram, std::vector<GradientHistogram>& spare);

// parent -= child: what is left is the other child.
void subtract_histogram(GradientHistogram& parent, const GradientHistogram& child);

// The sum of all rows: of any byte, the first one.
std::int64_t sum_of_rows(const GradientHistogram& histogram);

// The sum of the rows that a feature of a bundle tells from the rest, if it has two codes.
inline const std::int64_t* lone_cell(const RecordGroups& records,
                                     const GradientHistogram& histogram, std::size_t feature) {
  const RecordPlace& place = records.places[feature];
  if (place.first == 0 || place.n_codes != 2) return nullptr;
  return histogram.data() + place.byte * kGradientCells + place.first;
}

// The sums of one feature by code; `total` is the sum of all rows, and `scratch`, of kGradientCells
// cells, is used where it shares its byte.
const std::int64_t* feature_cells(const RecordGroups& records, const GradientHistogram& histogram,
                                  std::size_t feature, std::int64_t total, std::int64_t* scratch);

}  // namespace committee
