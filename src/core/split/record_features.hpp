// The features of a node in a block of records (block.hpp), for the searches by kernels: codes
// gathered into a column, or tables of up to four features, which one pass over the records adds
// up. What no kernel can do (missing values, most categories) the search by code does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "score/record_kernels.hpp"
#include "split/drawn_cuts.hpp"
#include "split/histogram_search.hpp"

namespace committee {

// What a search in a block of records needs besides; tables are all zero between two features.
struct RecordScratch {
  // Random thresholds: the bins of each feature; those of a node, and its features' ranges.
  std::vector<DrawnCuts> cuts;
  std::vector<CodeRange> ranges;
  std::vector<std::uint32_t> varying;  // of the features drawn
  std::vector<RecordCut> drawn;
  std::vector<Value> thresholds;
  std::vector<std::uint8_t> codes;  // of one feature, side by side
  SmallNode small;
  std::array<std::uint64_t, kMaxTables * kTableCells> tables{};
  // Of a node with more than two classes:
  std::vector<std::uint64_t> packed;  // two classes are left: what a row adds, as in RowStatistics
  std::vector<std::uint8_t> lane_of_class;
  std::vector<std::uint8_t> lanes;  // of each row
  std::vector<ClassCell> class_tables = std::vector<ClassCell>(kMaxTables * kByteCodes);
  std::vector<SumCell> sum_tables = std::vector<SumCell>(kMaxTables * kByteCodes);  // one target
};

// The features of one node; `best` is the best split so far.
template <typename ScoreType>
struct RecordSearch {
  using Score = ScoreType;
  using Adder = typename Score::Adder;
  using Cell = typename Adder::Cell;

  const NodeSearch<Score>& node;
  SearchScratch<Score>& scratch;
  RecordScratch& records;
  Split& best;

  std::size_t n_rows() const { return node.view.rows.size(); }
  std::size_t stride() const { return node.view.block->record_stride; }
  const std::uint8_t* first_record() const {
    return node.view.block->records.get() + node.first_row * stride();
  }
  FeatureSearch<Score> of(std::uint32_t feature) const { return of(feature, node.column(feature)); }
  FeatureSearch<Score> of(std::uint32_t feature, const CodeColumn& column) const {
    return {node, feature, column, scratch, best};
  }
  // So many rows take long enough to check between features whether the fit was interrupted.
  void check_interrupt() const {
    constexpr std::size_t kLongRows = std::size_t{1} << 15;
    if (n_rows() >= kLongRows) node.monitor.check();
  }
};

// Found when the search is over: a cut whose next code of the node is not known yet.
constexpr std::uint32_t kUnknownCode = kNoCode - 1;

// The codes of a feature side by side, as a column of the rows of this node.
template <typename Score>
inline CodeColumn gather(const RecordSearch<Score>& search, std::uint32_t feature) {
  const std::size_t stride = search.stride();
  const std::uint8_t* source = search.first_record() + feature;
  std::vector<std::uint8_t>& codes = search.records.codes;
  const std::size_t room = std::max(search.n_rows(), kSmallNodeRows);
  if (codes.size() < room) codes.resize(room);
  std::uint8_t* const out = codes.data();
  // The end is read once: for all the compiler knows, bytes may be written to any place.
  const std::size_t n_rows = search.n_rows();
  for (std::size_t i = 0; i < n_rows; ++i, source += stride) out[i] = *source;
  CodeColumn column = search.node.column(feature);
  column.codes = out;
  column.stride = 0;
  return column;
}

template <typename Score>
inline void search_gathered(const RecordSearch<Score>& search, std::uint32_t feature) {
  const CodeColumn column = gather(search, feature);
  search_histogram(search.of(feature, column));
}

// Calls try_threshold_feature(feature), its codes gathered, for features without categories and
// missing values; the search by code takes the others.
template <typename Score, typename TryFeature>
inline void for_each_threshold(const RecordSearch<Score>& search,
                               std::span<const std::uint32_t> features,
                               TryFeature&& try_threshold_feature) {
  for (const std::uint32_t feature : features) {
    const CodeColumn column = gather(search, feature);
    const std::span codes(std::as_const(search.records.codes).data(), search.n_rows());
    const CodeRange range = range_of(codes);
    if (range.smallest == range.largest) continue;
    const bool misses = column.has_missing && range.largest == column.missing_code();
    if (!search.node.is_category(feature) && !misses) {
      try_threshold_feature(feature);
      // Two rows can be divided in one way only: the first feature that does so is the best.
      if (search.n_rows() == 2 && search.best.exists()) return;
    } else {
      search_histogram(search.of(feature, column));
    }
  }
}

// Calls add(features) for groups of features with tables, then try_table(feature, number in the
// group) for each; it returns false where missing values need the search by code. try_other takes
// these and the features without tables.
template <typename Score, typename HasTable, typename AddGroup, typename TryTable,
          typename TryOther>
inline void for_each_group(const RecordSearch<Score>& search,
                           std::span<const std::uint32_t> features, HasTable&& has_table,
                           AddGroup&& add, TryTable&& try_table, TryOther&& try_other) {
  std::array<std::uint32_t, kMaxTables> group;
  for (std::size_t begin = 0; begin < features.size(); begin += kMaxTables) {
    const auto part = features.subspan(begin, std::min(kMaxTables, features.size() - begin));
    std::size_t n_group = 0;
    for (const std::uint32_t feature : part) {
      if (has_table(feature)) group[n_group++] = feature;
    }
    search.check_interrupt();
    if (n_group > 0) add(std::span<const std::uint32_t>(group).first(n_group));
    n_group = 0;
    for (const std::uint32_t feature : part) {
      if (!has_table(feature) || !try_table(feature, n_group++)) try_other(feature);
    }
  }
}

// Tables of all features.
template <typename Score, typename AddGroup, typename TryTable>
inline void for_each_table(const RecordSearch<Score>& search,
                           std::span<const std::uint32_t> features, AddGroup&& add,
                           TryTable&& try_table) {
  for_each_group(
      search, features, [](std::uint32_t) { return true; }, add, try_table,
      [&](std::uint32_t feature) { search_gathered(search, feature); });
}

// The levels of a category from its table: take(code, cell) moves what the table has of a code to
// a cell, which is empty, and returns whether there was anything.
template <typename Score, typename Take>
inline bool try_level_table(const RecordSearch<Score>& search, std::uint32_t feature, Take&& take) {
  const FeatureSearch<Score> one = search.of(feature);
  SearchScratch<Score>& scratch = search.scratch;
  const std::size_t size = search.node.adder.cell_size();
  const std::size_t n_cells = one.column.n_codes() * size;
  if (scratch.cells.size() < n_cells) scratch.cells.resize(n_cells);
  scratch.left.assign(size, 0);
  scratch.right.assign(size, 0);
  scratch.present.clear();
  for (std::uint32_t code = 0; code < one.column.n_codes(); ++code) {
    if (take(code, one.cell(code))) scratch.present.push_back(code);
  }
  try_levels(one);
  for (const std::uint32_t code : scratch.present) one.clear(code);
  return true;
}

// The same for a table whose cells are those of the search by code.
template <typename Score, typename TableCell>
inline bool try_level_cells(const RecordSearch<Score>& search, std::uint32_t feature,
                            TableCell* table) {
  using Cell = typename RecordSearch<Score>::Cell;
  static_assert(sizeof(TableCell) % sizeof(Cell) == 0);
  return try_level_table(search, feature, [&](std::uint32_t code, Cell* cell) {
    std::memcpy(cell, table + code, sizeof(TableCell));
    table[code] = TableCell{};
    return !search.node.adder.is_empty(cell);
  });
}

// Keeps the cut of a kernel if it is better than the best split.
template <typename Score>
inline void keep_byte_cut(const RecordSearch<Score>& search, std::uint32_t feature,
                          const ByteCut& cut, double score) {
  Split& best = search.best;
  if (!cut.exists || !(score > best.score)) return;
  best = Split{};
  best.score = score;
  best.feature = feature;
  best.kind = search.node.threshold_kind(feature);
  best.last_left = cut.last_left;
  best.first_right = cut.first_right;
  best.default_child =
      cut.left_weight > static_cast<double>(search.node.total_weight) - cut.left_weight ? 0 : 1;
}

// The tables that have the cells of the search by code.
template <typename Score>
struct RecordTables {
  static constexpr bool kExist = false;
};

template <Criterion kCriterion>
struct RecordTables<BinaryScore<kCriterion>> {
  static constexpr bool kExist = true;
  using Search = RecordSearch<BinaryScore<kCriterion>>;
  static bool fit(const Search&) { return true; }
  // What each row adds.
  static std::span<const std::uint64_t> of_rows(const Search& search) {
    return {search.node.statistics.packed.data() + search.node.first_row, search.n_rows()};
  }
  static void add(const Search& search, std::span<const std::uint32_t> group) {
    add_records(search.first_record(), search.stride(), of_rows(search), group,
                search.records.tables.data());
  }
  static std::uint64_t* at(const Search& search, std::size_t number) {
    return search.records.tables.data() + number * kTableCells;
  }
};

template <>
struct RecordTables<SquaredScore> {
  static constexpr bool kExist = true;
  using Search = RecordSearch<SquaredScore>;
  static bool fit(const Search& search) { return search.node.score.has_kernel(); }
  static std::span<const SumCell> of_rows(const Search& search) {
    return {reinterpret_cast<const SumCell*>(search.node.statistics.sums.data()) +
                search.node.first_row,
            search.n_rows()};
  }
  static void add(const Search& search, std::span<const std::uint32_t> group) {
    add_sum_records(search.first_record(), search.stride(), of_rows(search), group,
                    search.records.sum_tables.data());
  }
  static SumCell* at(const Search& search, std::size_t number) {
    return search.records.sum_tables.data() + number * kByteCodes;
  }
};

}  // namespace committee
