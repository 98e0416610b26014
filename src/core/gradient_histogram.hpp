// Sums of gradients by code, for all features of a node at once.
//
// Rows are records (block.hpp): the codes of a row lie side by side, so one visit of a row adds it
// to the table of every feature. Tables are a little longer than a power of two, for features of
// few codes would otherwise meet in the same cache sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block.hpp"

namespace committee {

constexpr std::size_t kGradientCells = 264;  // of one feature

// kGradientCells cells a feature, packed as GradientRows are.
using GradientHistogram = std::vector<std::int64_t>;

// Adds rows to a histogram that is cleared first. `rows` ascend; where it is empty all rows of the
// matrix are added. `spare` is working memory for further threads.
void build_histogram(const RecordMatrix& records, std::size_t n_features,
                     std::span<const std::int64_t> packed, std::span<const std::uint32_t> rows,
                     std::size_t n_threads, GradientHistogram& histogram,
                     std::vector<GradientHistogram>& spare);

// parent -= child: what is left is the other child.
void subtract_histogram(GradientHistogram& parent, const GradientHistogram& child);

}  // namespace committee
