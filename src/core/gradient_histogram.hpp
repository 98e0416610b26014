// Sums of gradients by code, for all features of a node at once.
//
// Rows are records (block.hpp): the codes of a row lie side by side, so one visit of a row adds it
// to the tables of many features. Wide tables come in groups of features, so that a visit stays
// within a cache line and the tables of a group in the nearest caches. Tables are a little longer
// than a power of two, for features of few codes would otherwise meet in the same cache sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block.hpp"
#include "byte_columns.hpp"

namespace committee {

constexpr std::size_t kGradientCells = 264;  // of one feature

// kGradientCells cells a feature, packed as GradientRows are.
using GradientHistogram = std::vector<std::int64_t>;

// The codes of a dataset row by row, in groups of features.
struct RecordGroups {
  std::size_t n_features = 0;
  std::size_t width = 0;  // features of a group; the last may have less
  std::vector<RecordMatrix> groups;
};
RecordGroups make_record_groups(const ByteColumns& columns, std::size_t n_rows,
                                std::size_t n_threads);

// Adds rows to a histogram that is cleared first. `rows` ascend; where it is empty all rows of the
// matrix are added. `spare` is working memory for further threads.
void build_histogram(const RecordGroups& records, std::span<const std::int64_t> packed,
                     std::span<const std::uint32_t> rows, std::size_t n_threads,
                     GradientHistogram& histogram, std::vector<GradientHistogram>& spare);

// parent -= child: what is left is the other child.
void subtract_histogram(GradientHistogram& parent, const GradientHistogram& child);

}  // namespace committee
