// The same search in a block of records (block.hpp): kernels for bytes where there are some, the
// general search for the rest. Both give the same splits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
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

template <typename Score>
class RecordSearch : public HistogramSearch<Score> {
  using Base = HistogramSearch<Score>;
  using Adder = typename Score::Adder;
  using Cell = typename Adder::Cell;

 public:
  using Base::Base;
  using Base::try_column;
  using typename Base::Memory;

  // The features of a node in a block of records, in order.
  Split try_records(std::span<const std::uint32_t> features, Memory& scratch,
                    RecordScratch& records) const {
    Split best;
    const bool is_plain =
        !options_.random_thresholds && options_.monotonic.empty() && !counts_rows_;
    if (is_plain && try_kernels(features, scratch, records, best)) return best;
    if (options_.random_thresholds && !counts_rows_) {
      try_drawn_cuts(features, scratch, records, best);
    } else {
      for (const std::uint32_t feature : features) {
        if (node_.rows.size() >= kLongRows) monitor_.check();
        try_column(feature, gather(feature, records), scratch, best);
      }
    }
    if (best.exists() && best.has_threshold && best.first_right == kUnknownCode) {
      settle_drawn_threshold(records, best);
    }
    return best;
  }

 private:
  // So many rows take long enough to ask between features whether to go on.
  static constexpr std::size_t kLongRows = std::size_t{1} << 15;
  static constexpr bool kIsBinary = std::is_same_v<Score, BinaryScore<Criterion::kGini>>;
  static constexpr bool kIsClasses = std::is_same_v<Score, ClassScore<Criterion::kGini>>;
  static constexpr bool kIsSquared = std::is_same_v<Score, SquaredScore>;
  static constexpr bool kIsOtherBinary = std::is_same_v<Adder, BinaryAdder> && !kIsBinary;

  // Thresholds by the kernels for bytes. False where there are none for this node.
  bool try_kernels(std::span<const std::uint32_t> features, Memory& scratch, RecordScratch& records,
                   Split& best) const {
    if constexpr (kIsBinary) {
      const GiniNode limits{score_.total_weight(), score_.total_ones(), min_weight_, false};
      const auto packed = std::span(statistics_.packed).subspan(first_row_, node_.rows.size());
      try_record_cuts(features, packed, limits, scratch, records, best);
      return true;
    } else if constexpr (kIsClasses) {
      return data_.entries.weights_are_repetitions && statistics_.n_outputs == 1 &&
             try_class_kernels(features, scratch, records, best);
    } else if constexpr (kIsSquared) {
      if (!score_.has_kernel()) return false;
      if (node_.rows.size() > kSmallNodeRows) {
        try_sum_tables(features, scratch, records, best);
      } else {
        for_each_threshold(features, scratch, records, best, [&](std::uint32_t feature) {
          try_sorted_sums(feature, scratch, records, best);
        });
      }
      return true;
    } else if constexpr (kIsOtherBinary) {
      try_binary_scores(features, scratch, records, best);
      return true;
    }
    return false;
  }

  // Calls add(features) for groups of features with tables, then try_table(feature, number in the
  // group) for each; it returns false where missing values ask for the general search. try_other
  // takes these and the features without tables.
  template <typename HasTable, typename AddGroup, typename TryTable, typename TryOther>
  void for_each_group(std::span<const std::uint32_t> features, HasTable&& has_table, AddGroup&& add,
                      TryTable&& try_table, TryOther&& try_other) const {
    std::array<std::uint32_t, kMaxTables> group;
    for (std::size_t begin = 0; begin < features.size(); begin += kMaxTables) {
      const auto part = features.subspan(begin, std::min(kMaxTables, features.size() - begin));
      std::size_t n_group = 0;
      for (const std::uint32_t feature : part) {
        if (has_table(feature)) group[n_group++] = feature;
      }
      if (node_.rows.size() >= kLongRows) monitor_.check();
      if (n_group > 0) add(std::span<const std::uint32_t>(group).first(n_group));
      n_group = 0;
      for (const std::uint32_t feature : part) {
        if (!has_table(feature) || !try_table(feature, n_group++)) try_other(feature);
      }
    }
  }

  // Tables of all features.
  template <typename AddGroup, typename TryTable>
  void for_each_table(std::span<const std::uint32_t> features, Memory& scratch,
                      RecordScratch& records, Split& best, AddGroup&& add,
                      TryTable&& try_table) const {
    for_each_group(
        features, [](std::uint32_t) { return true; }, add, try_table,
        [&](std::uint32_t feature) {
          try_column(feature, gather(feature, records), scratch, best);
        });
  }

  // The levels of a category from its table: take(code, cell) moves what the table has of a code to
  // a cell, which is empty, and says whether there was anything.
  template <typename Take>
  bool try_level_table(std::uint32_t feature, Memory& scratch, Split& best, Take&& take) const {
    const CodeColumn& column = node_.block->columns[feature];
    const std::size_t size = adder_.cell_size();
    const std::size_t n_cells = column.n_codes() * size;
    if (scratch.cells.size() < n_cells) scratch.cells.resize(n_cells);
    scratch.left.assign(size, 0);
    scratch.right.assign(size, 0);
    scratch.present.clear();
    for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
      if (take(code, scratch.cells.data() + code * size)) scratch.present.push_back(code);
    }
    try_levels(feature, column, scratch, best);
    for (const std::uint32_t code : scratch.present) clear(code, scratch);
    return true;
  }

  // The same for a table whose cells are those of the general search.
  template <typename TableCell>
  bool try_cells(std::uint32_t feature, TableCell* table, Memory& scratch, Split& best) const {
    static_assert(sizeof(TableCell) % sizeof(Cell) == 0);
    return try_level_table(feature, scratch, best, [&](std::uint32_t code, Cell* cell) {
      std::memcpy(cell, table + code, sizeof(TableCell));
      table[code] = TableCell{};
      return !adder_.is_empty(cell);
    });
  }

  // Random subsets of many rows; try_one takes the other features. False where there are no tables
  // for this node.
  template <typename TryOne>
  bool try_random_levels(Memory& scratch, RecordScratch& records, Split& best,
                         TryOne&& try_one) const {
    if (!node_.block->has_categories) return false;
    const std::span<const std::uint32_t> features = records.varying;
    const auto is_category = [&](std::uint32_t feature) { return !is_threshold(feature); };
    if constexpr (std::is_same_v<Adder, BinaryAdder>) {
      const auto packed = std::span(statistics_.packed).subspan(first_row_, node_.rows.size());
      for_each_group(
          features, is_category,
          [&](std::span<const std::uint32_t> group) {
            add_records(first_record(), node_.block->record_stride, packed, group,
                        records.tables.data());
          },
          [&](std::uint32_t feature, std::size_t number) {
            return try_cells(feature, records.tables.data() + number * kTableCells, scratch, best);
          },
          try_one);
      return true;
    } else if constexpr (kIsSquared) {
      if (!score_.has_kernel()) return false;
      for_each_group(
          features, is_category,
          [&](std::span<const std::uint32_t> group) { add_sums(group, records); },
          [&](std::uint32_t feature, std::size_t number) {
            return try_cells(feature, records.sum_tables.data() + number * kByteCodes, scratch,
                             best);
          },
          try_one);
      return true;
    }
    return false;
  }

  // One target.
  void add_sums(std::span<const std::uint32_t> group, RecordScratch& records) const {
    const auto* sums = reinterpret_cast<const SumCell*>(statistics_.sums.data()) + first_row_;
    add_sum_records(first_record(), node_.block->record_stride, {sums, node_.rows.size()}, group,
                    records.sum_tables.data());
  }

  const std::uint8_t* first_record() const {
    return node_.block->records.get() + first_row_ * node_.block->record_stride;
  }

  // One target, many rows.
  void try_sum_tables(std::span<const std::uint32_t> features, Memory& scratch,
                      RecordScratch& records, Split& best) const {
    if constexpr (kIsSquared) {
      const auto add = [&](std::span<const std::uint32_t> group) { add_sums(group, records); };
      for_each_table(features, scratch, records, best, add,
                     [&](std::uint32_t feature, std::size_t number) {
                       return try_sum_table(
                           feature, records.sum_tables.data() + number * kByteCodes, scratch, best);
                     });
    }
  }

  bool try_sum_table(std::uint32_t feature, SumCell* table, Memory& scratch, Split& best) const {
    if constexpr (kIsSquared) {
      if (!is_threshold(feature)) return try_cells(feature, table, scratch, best);
      const CodeColumn& column = node_.block->columns[feature];
      const bool misses = column.has_missing && table[column.missing_code()][0] != 0;
      scratch.present.resize(std::max(scratch.present.size(), CutArrays<Score>::kSize));
      scratch.cuts.start(score_);
      std::array<Cell, 2> left{};
      std::size_t n_present = 0;
      for (std::uint32_t code = 0; code < column.n_values && !misses; ++code) {
        left[0] += table[code][0];
        left[1] += table[code][1];
        scratch.cuts.set(n_present, left);
        scratch.present[n_present] = code;
        n_present += table[code][0] != 0 ? 1 : 0;
      }
      std::fill_n(table, column.n_codes(), SumCell{});
      if (misses) return false;
      keep_best_cut(feature, n_present, scratch, best);
    }
    return true;
  }

  bool is_threshold(std::uint32_t feature) const {
    return data_.dataset->feature(feature).kind != FeatureKind::kCategory;
  }

  // Calls try_threshold_feature(feature), its codes gathered, for features without categories and
  // missing values; the general search takes the others.
  template <typename TryFeature>
  void for_each_threshold(std::span<const std::uint32_t> features, Memory& scratch,
                          RecordScratch& records, Split& best,
                          TryFeature&& try_threshold_feature) const {
    for (const std::uint32_t feature : features) {
      const CodeColumn column = gather(feature, records);
      const std::span codes(std::as_const(records.codes).data(), node_.rows.size());
      const CodeRange range = range_of(codes);
      if (range.smallest == range.largest) continue;
      const bool misses = column.has_missing && range.largest == column.missing_code();
      if (is_threshold(feature) && !misses) {
        try_threshold_feature(feature);
        // Two rows can be divided in one way only: the first feature that does so is the best.
        if (node_.rows.size() == 2 && best.exists()) return;
      } else {
        try_column(feature, column, scratch, best);
      }
    }
  }

  // One target, few rows: sums in the order of the codes, without a table.
  void try_sorted_sums(std::uint32_t feature, Memory& scratch, RecordScratch& records,
                       Split& best) const {
    if constexpr (kIsSquared) {
      const std::size_t n_rows = node_.rows.size();
      const std::uint8_t* codes = records.codes.data();
      alignas(32) std::array<std::uint8_t, kSmallNodeRows> order;
      sort_codes(codes, n_rows, order.data());
      scratch.cuts.start(score_);
      scratch.present.resize(std::max(scratch.present.size(), CutArrays<Score>::kSize));
      const std::int64_t* sums = statistics_.sums.data() + 2 * first_row_;
      std::array<Cell, 2> left{};
      std::size_t n_present = 0;
      for (std::size_t i = 0; i < n_rows; ++i) {
        const std::size_t row = order[i];
        left[0] += sums[2 * row];
        left[1] += sums[2 * row + 1];
        scratch.cuts.set(n_present, left);
        scratch.present[n_present] = codes[row];
        // Rows of the same code write to the same place; the last of them counts.
        n_present += i + 1 == n_rows || codes[order[i + 1]] != codes[row] ? 1 : 0;
      }
      keep_best_cut(feature, n_present, scratch, best);
    }
  }

  // Two classes, entropy or error: cuts one by one.
  void try_binary_scores(std::span<const std::uint32_t> features, Memory& scratch,
                         RecordScratch& records, Split& best) const {
    if constexpr (kIsOtherBinary) {
      const std::uint64_t* packed = statistics_.packed.data() + first_row_;
      const std::size_t n_rows = node_.rows.size();
      scratch.right.assign(1, 0);
      if (n_rows <= kSmallNodeRows) {
        for_each_threshold(features, scratch, records, best, [&](std::uint32_t feature) {
          const std::uint8_t* codes = records.codes.data();
          alignas(32) std::array<std::uint8_t, kSmallNodeRows> order;
          sort_codes(codes, n_rows, order.data());
          Cell left = 0;
          for (std::size_t i = 0; i + 1 < n_rows; ++i) {
            left += packed[order[i]];
            const std::uint8_t code = codes[order[i]];
            const std::uint8_t next = codes[order[i + 1]];
            if (next != code) try_threshold(feature, &left, 0, code, next, -1, scratch, best);
          }
        });
        return;
      }
      const auto add = [&](std::span<const std::uint32_t> group) {
        add_records(first_record(), node_.block->record_stride, {packed, n_rows}, group,
                    records.tables.data());
      };
      for_each_table(features, scratch, records, best, add,
                     [&](std::uint32_t feature, std::size_t number) {
                       return try_binary_table(
                           feature, records.tables.data() + number * kTableCells, scratch, best);
                     });
    }
  }

  bool try_binary_table(std::uint32_t feature, std::uint64_t* table, Memory& scratch,
                        Split& best) const {
    if constexpr (kIsOtherBinary) {
      if (!is_threshold(feature)) return try_cells(feature, table, scratch, best);
      const CodeColumn& column = node_.block->columns[feature];
      const bool misses = column.has_missing && table[column.missing_code()] != 0;
      Cell left = 0;
      std::uint32_t previous = kNoCode;
      for (std::uint32_t code = 0; code < column.n_values && !misses; ++code) {
        if (table[code] == 0) continue;
        if (previous != kNoCode) {
          try_threshold(feature, &left, 0, previous, code, -1, scratch, best);
        }
        left += table[code];
        previous = code;
      }
      std::fill_n(table, column.n_codes(), std::uint64_t{0});
      return !misses;
    }
    return true;
  }

  // Only the classes that the node still has matter: two of them make it a binary node.
  bool try_class_kernels(std::span<const std::uint32_t> features, Memory& scratch,
                         RecordScratch& records, Split& best) const {
    const std::size_t n_rows = node_.rows.size();
    const std::size_t n_classes = adder_.cell_size();
    records.lane_of_class.resize(n_classes);
    ClassNode node;
    std::size_t n_present = 0;
    for (std::size_t i = 0; i < n_classes; ++i) {
      if (total_[i] == 0) continue;
      if (n_present == kClassLanes) return false;
      node.totals[n_present] = static_cast<std::int32_t>(total_[i]);
      records.lane_of_class[i] = static_cast<std::uint8_t>(n_present++);
    }
    node.total_weight = static_cast<double>(total_weight_);
    node.min_weight = min_weight_;
    records.lanes.resize(std::max(records.lanes.size(), n_rows));
    const std::uint32_t* slots = statistics_.slots.data() + first_row_;
    const std::int64_t* weights = statistics_.weights.data() + first_row_;
    std::uint8_t* const lanes = records.lanes.data();
    const std::uint8_t* const lane_of_class = records.lane_of_class.data();
    for (std::size_t i = 0; i < n_rows; ++i) lanes[i] = lane_of_class[slots[i]];
    if (n_present == 2) {
      records.packed.resize(std::max(records.packed.size(), n_rows));
      for (std::size_t i = 0; i < n_rows; ++i) {
        const auto weight = static_cast<std::uint64_t>(weights[i]);
        records.packed[i] = weight | (weight << 32 & (0 - std::uint64_t{lanes[i]}));
      }
      const GiniNode limits{node.total_weight, static_cast<double>(node.totals[1]), min_weight_,
                            true};
      try_record_cuts(features, std::span(records.packed).first(n_rows), limits, scratch, records,
                      best);
      return true;
    }
    if (n_rows <= kSmallNodeRows) {
      for_each_threshold(features, scratch, records, best, [&](std::uint32_t feature) {
        keep_byte_cut(feature, best_small_class_cut(node, records), best);
      });
      return true;
    }
    const auto add = [&](std::span<const std::uint32_t> group) {
      add_class_records(first_record(), node_.block->record_stride, n_rows, records.lanes.data(),
                        weights, group, records.class_tables.data());
    };
    for_each_table(
        features, scratch, records, best, add, [&](std::uint32_t feature, std::size_t number) {
          ClassCell* const table = records.class_tables.data() + number * kByteCodes;
          return is_threshold(feature) ? try_class_table(feature, table, node, best)
                                       : try_class_levels(feature, table, scratch, records, best);
        });
    return true;
  }

  bool try_class_table(std::uint32_t feature, ClassCell* table, const ClassNode& node,
                       Split& best) const {
    const CodeColumn& column = node_.block->columns[feature];
    if (column.has_missing && table[column.missing_code()] != ClassCell{}) {
      std::fill_n(table, column.n_codes(), ClassCell{});
      return false;
    }
    keep_byte_cut(feature, best_table_class_cut(table, column.n_values, node), best);
    return true;
  }

  bool try_class_levels(std::uint32_t feature, ClassCell* table, Memory& scratch,
                        const RecordScratch& records, Split& best) const {
    return try_level_table(feature, scratch, best, [&](std::uint32_t code, Cell* cell) {
      if (table[code] == ClassCell{}) return false;
      for (std::size_t i = 0; i < adder_.cell_size(); ++i) {
        if (total_[i] != 0) cell[i] = table[code][records.lane_of_class[i]];
      }
      table[code] = ClassCell{};
      return true;
    });
  }

  // Few rows.
  ByteCut best_small_class_cut(const ClassNode& node, const RecordScratch& records) const {
    alignas(32) std::array<std::uint8_t, kSmallNodeRows> order;
    sort_codes(records.codes.data(), node_.rows.size(), order.data());
    return best_sorted_class_cut(std::span<const std::uint8_t>(order).first(node_.rows.size()),
                                 records.codes.data(), records.lanes.data(),
                                 statistics_.weights.data() + first_row_, node);
  }

  // The codes of a feature side by side, as a column of the rows of this node.
  CodeColumn gather(std::uint32_t feature, RecordScratch& records) const {
    const std::size_t stride = node_.block->record_stride;
    const std::uint8_t* source = node_.block->records.get() + first_row_ * stride + feature;
    const std::size_t room = std::max(node_.rows.size(), kSmallNodeRows);
    if (records.codes.size() < room) records.codes.resize(room);
    std::uint8_t* const out = records.codes.data();
    // The end is read once: for all the compiler knows, bytes may be written to any place.
    const std::size_t n_rows = node_.rows.size();
    for (std::size_t i = 0; i < n_rows; ++i, source += stride) out[i] = *source;
    CodeColumn column = node_.block->columns[feature];
    column.codes = out;
    column.stride = 0;
    return column;
  }

  // A random threshold needs no statistics by code: the range of the codes, a draw, one sum. Ranges
  // and sums of all features come together; the general search takes categories and the like.
  void try_drawn_cuts(std::span<const std::uint32_t> features, Memory& scratch,
                      RecordScratch& records, Split& best) const {
    const std::size_t n_rows = node_.rows.size();
    if (n_rows >= kLongRows) monitor_.check();
    records.ranges.resize(std::max(records.ranges.size(), features.size()));
    range_of_records(first_record(), node_.block->record_stride, n_rows, features,
                     records.ranges.data());
    records.varying.clear();
    records.drawn.clear();
    records.thresholds.clear();
    for (std::size_t i = 0; i < features.size(); ++i) {
      const CodeRange range = records.ranges[i];
      if (range.smallest == range.largest) continue;
      records.varying.push_back(features[i]);
      if (!is_drawn(features[i], range, records)) continue;
      const DrawnCuts& cuts = records.cuts[features[i]];
      const Value threshold = cuts.draw(features[i], range.smallest, range.largest, node_.key);
      const std::uint32_t last_left = cuts.last_below(threshold, range.largest);
      records.drawn.push_back({features[i], static_cast<std::uint8_t>(last_left), range.largest});
      records.thresholds.push_back(threshold);
    }
    if (n_rows >= kLongRows) monitor_.check();
    const std::size_t size = adder_.cell_size();
    scratch.lefts.assign(std::max<std::size_t>(1, records.drawn.size()) * size, 0);
    scratch.right.assign(size, 0);
    add_left(records.drawn, scratch.lefts.data());
    std::size_t n_tried = 0;
    const auto try_one = [&](std::uint32_t feature) {
      if (n_tried == records.drawn.size() || records.drawn[n_tried].feature != feature) {
        return try_column(feature, gather(feature, records), scratch, best);
      }
      const double score_before = best.score;
      try_threshold(feature, scratch.lefts.data() + n_tried * size, 0,
                    records.drawn[n_tried].last_left, kUnknownCode, -1, scratch, best);
      if (best.score > score_before) {
        best.has_threshold = true;
        best.threshold = records.thresholds[n_tried];
      }
      ++n_tried;
    };
    if (try_random_levels(scratch, records, best, try_one)) return;
    for (const std::uint32_t feature : records.varying) try_one(feature);
  }

  // Whether the threshold of a feature that varies is drawn from the bounds of its bins.
  bool is_drawn(std::uint32_t feature, const CodeRange& range, const RecordScratch& records) const {
    const CodeColumn& column = node_.block->columns[feature];
    return !records.cuts[feature].is_empty() &&
           !(column.has_missing && range.largest == column.missing_code()) &&
           records.cuts[feature].is_finite(range.smallest, range.largest);
  }

  // Adds up what is on the left of some cuts, cell by cell.
  void add_left(std::span<const RecordCut> cuts, Cell* lefts) const {
    const std::size_t n_rows = node_.rows.size();
    const std::size_t stride = node_.block->record_stride;
    if constexpr (std::is_same_v<Adder, BinaryAdder>) {
      sum_left_records(first_record(), stride, {statistics_.packed.data() + first_row_, n_rows},
                       cuts, lefts);
    } else {
      for (std::size_t k = 0; k < cuts.size(); ++k) {
        const std::uint8_t* codes = first_record() + cuts[k].feature;
        Cell* const left = lefts + k * adder_.cell_size();
        for (std::size_t i = 0; i < n_rows; ++i, codes += stride) {
          const std::uint64_t mask = *codes <= cuts[k].last_left ? ~std::uint64_t{0} : 0;
          adder_.add_masked(left, first_row_ + i, mask);
        }
      }
    }
  }

  void settle_drawn_threshold(const RecordScratch& records, Split& best) const {
    const std::size_t stride = node_.block->record_stride;
    const std::uint8_t* const codes = first_record() + best.feature;
    const std::size_t n_rows = node_.rows.size();
    const auto has_code = [&](std::uint32_t code) {
      std::size_t i = 0;
      while (i < n_rows && codes[i * stride] != code) ++i;
      return i < n_rows;
    };
    const auto last_before = [&](std::uint32_t code) {
      std::uint32_t last = 0;
      for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint32_t own = codes[i * stride];
        last = std::max(last, own <= code ? own : 0U);
      }
      return last;
    };
    const auto range = std::find_if(records.drawn.begin(), records.drawn.end(),
                                    [&](const RecordCut& c) { return c.feature == best.feature; });
    best.threshold = records.cuts[best.feature].settle(best.threshold, best.last_left,
                                                       range->largest, has_code, last_before);
    best.first_right = best.last_left + 1;
  }

  // Two classes, `packed` what each row adds.
  void try_record_cuts(std::span<const std::uint32_t> features,
                       std::span<const std::uint64_t> packed, const GiniNode& limits,
                       Memory& scratch, RecordScratch& records, Split& best) const {
    const bool is_small = packed.size() <= kSmallNodeRows && total_weight_ <= kSmallNodeWeight;
    if (is_small) {
      fill_small_node(records.small, packed);
      for_each_threshold(features, scratch, records, best, [&](std::uint32_t feature) {
        GiniNode beyond = limits;
        beyond.best_score = best.score;
        ByteCut cut = best_small_gini_cut(records.small, records.codes.data(), beyond);
        cut.first_right = kUnknownCode;
        keep_byte_cut(feature, cut, best);
      });
      if (best.exists() && best.first_right == kUnknownCode) {
        best.first_right = code_after(best.feature, best.last_left);
      }
      return;
    }
    const auto add = [&](std::span<const std::uint32_t> group) {
      add_records(first_record(), node_.block->record_stride, packed, group, records.tables.data());
    };
    for_each_table(features, scratch, records, best, add,
                   [&](std::uint32_t feature, std::size_t number) {
                     std::uint64_t* const table = records.tables.data() + number * kTableCells;
                     if (!is_threshold(feature)) {
                       return try_two_classes(feature, table, scratch, best);
                     }
                     return try_gini_table(feature, table, limits, best);
                   });
  }

  // Subsets of levels; two classes may be what is left of many.
  bool try_two_classes(std::uint32_t feature, std::uint64_t* table, Memory& scratch,
                       Split& best) const {
    if constexpr (kIsBinary) {
      return try_cells(feature, table, scratch, best);
    } else {
      const auto first = static_cast<std::size_t>(
          std::find_if(total_, total_ + adder_.cell_size(), [](Cell one) { return one != 0; }) -
          total_);
      const auto second =
          static_cast<std::size_t>(std::find_if(total_ + first + 1, total_ + adder_.cell_size(),
                                                [](Cell one) { return one != 0; }) -
                                   total_);
      return try_level_table(feature, scratch, best, [&](std::uint32_t code, Cell* cell) {
        const std::uint64_t both = table[code];
        table[code] = 0;
        cell[second] = static_cast<Cell>(both >> 32);
        cell[first] = static_cast<Cell>(both & 0xFFFFFFFFULL) - cell[second];
        return both != 0;
      });
    }
  }

  bool try_gini_table(std::uint32_t feature, std::uint64_t* table, const GiniNode& limits,
                      Split& best) const {
    const CodeColumn& column = node_.block->columns[feature];
    if (column.has_missing && table[column.missing_code()] != 0) {
      std::fill_n(table, column.n_codes(), std::uint64_t{0});
      return false;
    }
    keep_byte_cut(feature, best_table_gini_cut(table, column.n_values, limits), best);
    return true;
  }

  static constexpr std::uint32_t kUnknownCode = kNoCode - 1;  // found when the search is over

  void keep_byte_cut(std::uint32_t feature, const ByteCut& cut, Split& best) const {
    if (!cut.exists) return;
    double score = cut.score;
    if constexpr (kIsBinary) score = score_.from_kernel(score);
    if (!(score > best.score)) return;
    best = Split{};
    best.score = score;
    best.feature = feature;
    best.kind = threshold_kind(feature);
    best.last_left = cut.last_left;
    best.first_right = cut.first_right;
    best.default_child =
        cut.left_weight > static_cast<double>(total_weight_) - cut.left_weight ? 0 : 1;
  }

  // The smallest code of the node above `code`.
  std::uint32_t code_after(std::uint32_t feature, std::uint32_t code) const {
    const std::size_t stride = node_.block->record_stride;
    const std::uint8_t* codes = node_.block->records.get() + first_row_ * stride + feature;
    std::uint32_t after = kNoCode;
    for (std::size_t i = 0; i < node_.rows.size(); ++i, codes += stride) {
      const std::uint32_t other = *codes;
      after = std::min(after, other > code ? other : kNoCode);
    }
    return after;
  }

  using Base::adder_;
  using Base::clear;
  using Base::counts_rows_;
  using Base::data_;
  using Base::first_row_;
  using Base::keep_best_cut;
  using Base::min_weight_;
  using Base::monitor_;
  using Base::node_;
  using Base::options_;
  using Base::score_;
  using Base::statistics_;
  using Base::threshold_kind;
  using Base::total_;
  using Base::total_weight_;
  using Base::try_levels;
  using Base::try_threshold;
};

}  // namespace committee
