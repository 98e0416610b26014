// The best cut of a feature in a block of records, where codes are bytes.
//
// Two classes, Gini:
// A small node compares all pairs of its rows: no table to clear and to scan, and bytes go through
// a vector register 32 at a time. A larger node adds up its rows by code. Both look at the same
// cuts as the general search does. They are screened in single precision, and those that come
// close to the best are compared with the same arithmetic (gini_cut_score), so all give the same
// split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "score/byte_cut.hpp"

namespace committee {

// `packed` as in RowStatistics.
void fill_small_node(SmallNode& node, std::span<const std::uint64_t> packed);

// `codes` has room for kSmallNodeRows codes, those of the node first.
ByteCut best_small_gini_cut(const SmallNode& rows, const std::uint8_t* codes, const GiniNode& node);

// Adds the statistics of records to one table for each of up to four features. Tables have
// kByteCodes cells and follow each other at a distance of kTableCells.
constexpr std::size_t kTableCells = kByteCodes + 8;  // not a power of two: tables share cache sets
constexpr std::size_t kMaxTables = 4;
void add_records(const std::uint8_t* records, std::size_t stride,
                 std::span<const std::uint64_t> packed, std::span<const std::uint32_t> features,
                 std::uint64_t* tables);

// The best cut of a table, which is cleared. `n_codes` <= kByteCodes.
ByteCut best_table_gini_cut(std::uint64_t* table, std::size_t n_codes, const GiniNode& node);

// The smallest and the largest of some codes, at least one.
CodeRange range_of(std::span<const std::uint8_t> codes);

// The same for some features of records, of which neighbours are looked at together.
void range_of_records(const std::uint8_t* records, std::size_t stride, std::size_t n_rows,
                      std::span<const std::uint32_t> features, CodeRange* ranges);

// A cut of records: codes up to `last_left` of a feature, of those up to `largest`.
struct RecordCut {
  std::uint32_t feature = 0;
  std::uint8_t last_left = 0;
  std::uint8_t largest = 0;
};

// lefts[k] = the sum of the statistics of the rows to the left of cuts[k].
void sum_left_records(const std::uint8_t* records, std::size_t stride,
                      std::span<const std::uint64_t> packed, std::span<const RecordCut> cuts,
                      std::uint64_t* lefts);

// Adds records to tables of up to four features, which follow each other: row i adds weights[i] to
// lane lanes[i] of the cell of its code.
void add_class_records(const std::uint8_t* records, std::size_t stride, std::size_t n_rows,
                       const std::uint8_t* lanes, const std::int64_t* weights,
                       std::span<const std::uint32_t> features, ClassCell* tables);

// The best cut of a table of `n_codes` cells, which is cleared; its score is the sum of squares
// over weights of both sides.
ByteCut best_table_class_cut(ClassCell* table, std::size_t n_codes, const ClassNode& node);

// One target: the same for cells of a weight and a sum, of which row i adds sums[i].
void add_sum_records(const std::uint8_t* records, std::size_t stride, std::span<const SumCell> sums,
                     std::span<const std::uint32_t> features, SumCell* tables);

// The positions 0 ... n - 1 in the order of their codes, equal codes in order of position.
// n <= kSmallNodeRows; `codes` and `order` have room for that many.
void sort_codes(const std::uint8_t* codes, std::size_t n, std::uint8_t* order);

}  // namespace committee
