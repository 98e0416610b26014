// A dense copy of the part of the table that one subtree needs.
//
// The rows of a deep node are scattered over the table: reading them costs a cache miss each, and
// most codes of a feature no longer occur. A block holds the codes of just these rows side by
// side, numbered anew without gaps, and their statistics on a grid of their own. The root's block
// is the dataset itself; a node gets a block of its own when it has shrunk enough.
//
//   table rows   0 1 2 3 4 5 6 7      codes of a feature   9 0 7 7 3 9 0 3
//   node         . 1 . . 4 . 6 7      block, codes                0     1   0 1
//
// Where a node looks at few of its features, copying all of them would cost more than the search.
// A block of *records* serves there: the codes of a row side by side, one byte each, and the rows
// of every open node side by side too, because a split moves the records themselves. One such
// block serves a whole tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "data/binned_dataset.hpp"
#include "data/target.hpp"
#include "score/statistic.hpp"

namespace committee {

// The codes of a dataset row by row; made once for all trees of a forest.
struct RecordMatrix {
  std::size_t stride = 0;  // bytes of a record, a multiple of 16
  AlignedVector<std::uint8_t> codes;
};

// Whether every code of the dataset fits a byte.
bool fits_records(const BinnedDataset& dataset);
RecordMatrix make_records(const BinnedDataset& dataset, std::size_t n_threads);
// The same for some columns of byte codes, in records of `stride` bytes.
RecordMatrix make_records(std::span<const std::uint8_t* const> columns, std::size_t n_rows,
                          std::size_t stride, std::size_t n_threads);

// What all nodes of a fit share.
struct FitData {
  const BinnedDataset* dataset = nullptr;
  const RecordMatrix* records = nullptr;  // null: blocks of columns
  Target target;
  Entries entries;
  StatisticOptions statistics;
};

struct Block {
  std::vector<std::uint32_t> entries;       // entry of each block row
  std::vector<CodeColumn> columns;          // one a feature
  std::vector<std::uint32_t> varying;       // features with at least two codes, ascending
  std::unique_ptr<std::byte[]> storage;     // what the columns point to; empty in the root's block
  std::unique_ptr<std::uint8_t[]> records;  // in a block of records: what the columns point to
  std::size_t record_stride = 0;
  RowStatistics statistics;
  std::vector<std::uint32_t> rows;  // the block's rows, each open node a contiguous part; in a
                                    // block of records always 0, 1, 2, ...

  std::int64_t n_counted = 0;   // rows, repetitions included
  bool has_categories = false;  // among the varying features

  std::size_t n_rows() const { return entries.size(); }
  bool has_records() const { return record_stride != 0; }
};

// The block of all entries of the fit. Its columns are indexed by table row where every row has
// an entry, else it is a copy.
std::shared_ptr<Block> make_root_block(const FitData& data);

// The block of some rows of another block.
std::shared_ptr<Block> make_block(const FitData& data, const Block& parent,
                                  std::span<const std::uint32_t> parent_rows,
                                  std::size_t n_threads);

// Whether a node of `n_rows` rows deserves a block of its own inside a block of `n_block_rows`.
// Both count repetitions, so that a row of weight two makes the same blocks as that row twice.
inline bool deserves_block(std::int64_t n_rows, std::int64_t n_block_rows) {
  constexpr std::int64_t kShrinkage = 4;
  constexpr std::int64_t kTiny = 64;  // codes of so few rows fit one 64-bit mask
  return n_rows * kShrinkage <= n_block_rows ? n_block_rows > kTiny
                                             : n_rows <= kTiny && n_block_rows > kTiny;
}

}  // namespace committee
