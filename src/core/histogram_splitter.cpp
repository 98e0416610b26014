// Split search on statistics by code.
//
// For each feature the rows of the node are added up by code; one scan over the codes then sees
// every threshold. Missing values have a cell of their own and are tried on both sides. The
// levels of a category are first put in the order of their target statistic, in which the best
// subset is a contiguous part (exactly so for two classes and for one regression target; with
// more classes one order for each class is tried and the best subset kept).
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "criterion.hpp"
#include "random.hpp"
#include "record_kernels.hpp"
#include "scratch_pool.hpp"
#include "splitter.hpp"

namespace committee {
namespace {

// The codes that occur in a node of few rows, or of few codes: a scan jumps from one to the next.
class CodeSet {
 public:
  static bool can_hold(std::size_t n_codes, std::size_t n_rows) {
    return n_codes <= 64 || (n_codes <= kByteCodes && n_rows < 128);
  }
  CodeSet() = default;
  explicit CodeSet(std::uint64_t word) : words_{word, 0, 0, 0}, is_known_(true) {}
  // Collects the codes marked by a byte of 1, and clears the marks.
  explicit CodeSet(std::array<std::uint8_t, kByteCodes>& marks) : is_known_(true) {
    for (std::size_t i = 0; i < kByteCodes; i += 8) {
      std::uint64_t bytes = 0;  // each 0 or 1; the product moves byte k to bit k of the top byte
      for (std::size_t k = 0; k < 8; ++k) bytes |= std::uint64_t{marks[i + k]} << (8 * k);
      words_[i / 64] |= ((bytes * 0x0102040810204080ULL) >> 56) << (i % 64);
    }
    marks.fill(0);
  }

  bool is_known() const { return is_known_; }
  // Calls visit(code) for the codes below `end`, ascending.
  template <typename Visit>
  void for_each(std::uint32_t end, Visit&& visit) const {
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        const auto code = word * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
        if (code >= end) return;
        visit(code);
      }
    }
  }

 private:
  std::array<std::uint64_t, 4> words_{};
  bool is_known_ = false;
};

// Working memory of one thread. Cells and counts are all zero between two features.
template <typename Cell, typename Cuts>
struct Scratch {
  std::vector<Cell> cells;
  std::vector<std::int64_t> counts;
  std::vector<std::uint32_t> example;  // a row of each code, for random thresholds
  std::vector<std::uint32_t> present;
  std::vector<Cell> left;
  std::vector<Cell> right;
  std::vector<std::pair<double, std::uint32_t>> ordered;
  std::array<std::uint8_t, kByteCodes> marks{};
  Cuts cuts;
};

// What a search in a block of records needs besides; tables are all zero between two features.
struct RecordScratch {
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

// What is on the left of each cut, as the vector kernel of a score wants it; see score_kernels.hpp.
// Of a fixed size that stays in the cache: more codes come in pieces.
template <typename Score>
struct CutArrays {
  static constexpr bool kExists = false;
};

template <>
struct CutArrays<BinaryScore<Criterion::kGini>> {
  static constexpr bool kExists = true;
  static constexpr std::size_t kCellSize = 1;
  static constexpr std::size_t kSize = 1024;
  std::array<std::int32_t, kSize> weight;
  std::array<std::int32_t, kSize> ones;
  std::array<double, kSize> scores;

  void start(const BinaryScore<Criterion::kGini>&) {}
  void set(std::size_t i, const std::array<std::uint64_t, kCellSize>& left) {
    weight[i] = static_cast<std::int32_t>(left[0] & 0xFFFFFFFFULL);
    ones[i] = static_cast<std::int32_t>(left[0] >> 32);
  }
  void keep_last() {
    weight[0] = weight[kSize - 1];
    ones[0] = ones[kSize - 1];
  }
  Cut best(const BinaryScore<Criterion::kGini>& score, std::size_t begin, std::size_t end) {
    return best_gini_cut(weight.data(), ones.data(), begin, end, score.total_weight(),
                         score.total_ones(), scores.data());
  }
};

template <>
struct CutArrays<SquaredScore> {
  static constexpr bool kExists = true;
  static constexpr std::size_t kCellSize = 2;
  static constexpr std::size_t kSize = 1024;
  std::array<double, kSize> weight;
  std::array<double, kSize> sum;
  std::array<double, kSize> other_sum;
  std::array<double, kSize> scores;
  std::int64_t total_sum = 0;

  void start(const SquaredScore& score) { total_sum = score.total_sum(); }
  void set(std::size_t i, const std::array<std::int64_t, kCellSize>& left) {
    weight[i] = static_cast<double>(left[0]);
    sum[i] = static_cast<double>(left[1]);
    other_sum[i] = static_cast<double>(total_sum - left[1]);
  }
  void keep_last() {
    weight[0] = weight[kSize - 1];
    sum[0] = sum[kSize - 1];
    other_sum[0] = other_sum[kSize - 1];
  }
  Cut best(const SquaredScore& score, std::size_t begin, std::size_t end) {
    return best_squared_cut(weight.data(), sum.data(), other_sum.data(), begin, end,
                            score.total_weight(), score.mean(), scores.data());
  }
};

template <typename Score>
class HistogramSplitter final : public Splitter {
  using Adder = typename Score::Adder;
  using Cell = typename Adder::Cell;
  using Memory = Scratch<Cell, CutArrays<Score>>;

 public:
  HistogramSplitter(const FitData& data, const GrowOptions& options)
      : data_(data), options_(options) {}

  Split find(const NodeView& node, std::size_t n_threads, Monitor& monitor) override {
    const RowStatistics& statistics = node.block->statistics;
    const Adder adder(statistics);
    total_.assign(adder.cell_size(), 0);
    if (node.block->has_records()) {
      const std::size_t end = node.rows[0] + node.rows.size();
      for (std::size_t row = node.rows[0]; row < end; ++row) adder.add(total_.data(), row);
    } else {
      for (const std::uint32_t row : node.rows) adder.add(total_.data(), row);
    }
    score_.start(statistics, total_.data());
    const Score& score = score_;
    if (score.is_pure(statistics, node.rows, total_.data())) return {};

    const Search search(*this, node, adder, score, monitor);
    Split best = draw_.search(node, options_, [&](std::span<const std::uint32_t> features) {
      if (node.block->has_records()) return search.try_records(features, memory_, records_);
      return try_features(
          features, node, n_threads, monitor, [&](std::uint32_t feature, Split& split) {
            const CodeColumn& column = node.block->columns[feature];
            pool_.lend(
                [&](Memory& scratch) { search.try_column(feature, column, scratch, split); });
          });
    });
    if (best.exists()) {
      best.decrease = (best.score + best.penalty - score.score(total_.data())) * score.unit();
    }
    return best;
  }

 private:
  // One node; its methods look at one feature at a time and may run side by side.
  class Search {
   public:
    Search(const HistogramSplitter& splitter, const NodeView& node, const Adder& adder,
           const Score& score, Monitor& monitor)
        : data_(splitter.data_),
          options_(splitter.options_),
          node_(node),
          statistics_(node.block->statistics),
          adder_(adder),
          score_(score),
          monitor_(monitor),
          total_(splitter.total_.data()),
          total_weight_(adder.weight(total_)),
          counts_rows_(!statistics_.repetitions.empty()),
          first_row_(node.block->has_records() ? node.rows[0] : 0) {
      min_weight_ = least_leaf_weight(data_, options_, node);
      if (options_.level_penalty > 0.0 && node.block->has_categories) {
        impurity_ = score.impurity(statistics_, node.rows, total_);
      }
      if (counts_rows_) {
        for (const std::uint32_t row : node.rows) total_rows_ += statistics_.repetitions[row];
      }
    }

    // The features of a node in a block of records, in order.
    Split try_records(std::span<const std::uint32_t> features, Memory& scratch,
                      RecordScratch& records) const {
      Split best;
      const bool is_plain =
          !options_.random_thresholds && options_.monotonic.empty() && !counts_rows_;
      if (is_plain && try_kernels(features, scratch, records, best)) return best;
      for (const std::uint32_t feature : features) {
        if (node_.rows.size() >= kLongRows) monitor_.check();
        const CodeColumn column = gather(feature, records);
        const bool is_done = options_.random_thresholds && !counts_rows_ &&
                             try_dense_threshold(feature, column, scratch, best);
        if (!is_done) try_column(feature, column, scratch, best);
      }
      if (best.exists() && best.has_threshold && best.first_right == kUnknownCode) {
        settle_drawn_threshold(best);
      }
      return best;
    }

    void try_column(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                    Split& best) const {
      const std::size_t n_cells = std::size_t{column.n_codes()} * adder_.cell_size();
      if (scratch.cells.size() < n_cells) scratch.cells.resize(n_cells);
      if (counts_rows_ && scratch.counts.size() < column.n_codes()) {
        scratch.counts.resize(column.n_codes());
      }
      scratch.left.assign(adder_.cell_size(), 0);
      scratch.right.assign(adder_.cell_size(), 0);
      const CodeSet codes =
          visit_codes(column, [&](const auto* each) { return add_up(each, column, scratch); });
      if (data_.dataset->feature(feature).kind == FeatureKind::kCategory) {
        list_present(column, codes, scratch);
        if (options_.fan_out_categories) {
          try_fan_out(feature, column, scratch, best);
        } else if (options_.random_thresholds) {
          try_random_subset(feature, column, scratch, best);
        } else {
          try_subsets(feature, column, scratch, best);
        }
      } else if (options_.random_thresholds) {
        list_present(column, codes, scratch);
        try_random_threshold(feature, column, scratch, best);
      } else {
        try_thresholds(feature, column, codes, scratch, best);
        return;  // cleans up as it goes
      }
      for (const std::uint32_t code : scratch.present) clear(code, scratch);
    }

   private:
    // So many rows take long enough to ask between features whether to go on.
    static constexpr std::size_t kLongRows = std::size_t{1} << 15;
    static constexpr bool kIsBinary = std::is_same_v<Score, BinaryScore<Criterion::kGini>>;
    static constexpr bool kIsClasses = std::is_same_v<Score, ClassScore<Criterion::kGini>>;
    static constexpr bool kIsSquared = std::is_same_v<Score, SquaredScore>;
    static constexpr bool kIsOtherBinary = std::is_same_v<Adder, BinaryAdder> && !kIsBinary;

    // Thresholds by the kernels for bytes. False where there are none for this node.
    bool try_kernels(std::span<const std::uint32_t> features, Memory& scratch,
                     RecordScratch& records, Split& best) const {
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

    // Calls add(features) for groups of threshold features, then try_table(feature, number in the
    // group) for each; it returns false where missing values ask for the general search.
    template <typename AddGroup, typename TryTable>
    void for_each_table(std::span<const std::uint32_t> features, Memory& scratch,
                        RecordScratch& records, Split& best, AddGroup&& add,
                        TryTable&& try_table) const {
      std::array<std::uint32_t, kMaxTables> group;
      for (std::size_t begin = 0; begin < features.size(); begin += kMaxTables) {
        const auto part = features.subspan(begin, std::min(kMaxTables, features.size() - begin));
        std::size_t n_group = 0;
        for (const std::uint32_t feature : part) {
          if (is_threshold(feature)) group[n_group++] = feature;
        }
        if (node_.rows.size() >= kLongRows) monitor_.check();
        if (n_group > 0) add(std::span<const std::uint32_t>(group).first(n_group));
        n_group = 0;
        for (const std::uint32_t feature : part) {
          if (!is_threshold(feature) || !try_table(feature, n_group++)) {
            try_column(feature, gather(feature, records), scratch, best);
          }
        }
      }
    }

    const std::uint8_t* first_record() const {
      return node_.block->records.get() + first_row_ * node_.block->record_stride;
    }

    // One target, many rows.
    void try_sum_tables(std::span<const std::uint32_t> features, Memory& scratch,
                        RecordScratch& records, Split& best) const {
      if constexpr (kIsSquared) {
        const auto* sums = reinterpret_cast<const SumCell*>(statistics_.sums.data()) + first_row_;
        scratch.present.resize(std::max(scratch.present.size(), CutArrays<Score>::kSize));
        const auto add = [&](std::span<const std::uint32_t> group) {
          add_sum_records(first_record(), node_.block->record_stride, {sums, node_.rows.size()},
                          group, records.sum_tables.data());
        };
        for_each_table(
            features, scratch, records, best, add, [&](std::uint32_t feature, std::size_t number) {
              return try_sum_table(feature, records.sum_tables.data() + number * kByteCodes,
                                   scratch, best);
            });
      }
    }

    bool try_sum_table(std::uint32_t feature, SumCell* table, Memory& scratch, Split& best) const {
      if constexpr (kIsSquared) {
        const CodeColumn& column = node_.block->columns[feature];
        const bool misses = column.has_missing && table[column.missing_code()][0] != 0;
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
          keep_byte_cut(feature, best_sorted_class_cut(node, records), best);
        });
        return true;
      }
      const auto add = [&](std::span<const std::uint32_t> group) {
        add_class_records(first_record(), node_.block->record_stride, n_rows, records.lanes.data(),
                          weights, group, records.class_tables.data());
      };
      for_each_table(features, scratch, records, best, add,
                     [&](std::uint32_t feature, std::size_t number) {
                       return try_class_table(
                           feature, records.class_tables.data() + number * kByteCodes, node, best);
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

    // Few rows: sums of squares change by a little from one row to the next.
    ByteCut best_sorted_class_cut(const ClassNode& node, const RecordScratch& records) const {
      ByteCut best;
      if constexpr (kIsClasses) {
        const std::size_t n_rows = node_.rows.size();
        const std::uint8_t* codes = records.codes.data();
        alignas(32) std::array<std::uint8_t, kSmallNodeRows> order;
        sort_codes(codes, n_rows, order.data());
        const std::int64_t* weights = statistics_.weights.data() + first_row_;
        std::array<std::int64_t, kClassLanes> left{};
        std::int64_t left_weight = 0;
        std::int64_t left_squares = 0;
        std::int64_t right_squares = 0;
        for (const std::int64_t total : node.totals) right_squares += total * total;
        for (std::size_t i = 0; i + 1 < n_rows; ++i) {
          const std::size_t row = order[i];
          const std::int64_t weight = weights[row];
          const std::size_t lane = records.lanes[row];
          const std::int64_t right = node.totals[lane] - left[lane];
          left_squares += weight * (2 * left[lane] + weight);
          right_squares -= weight * (2 * right - weight);
          left[lane] += weight;
          left_weight += weight;
          const std::uint8_t next = codes[order[i + 1]];
          if (next == codes[row]) continue;
          const auto n = static_cast<double>(left_weight);
          const double m = node.total_weight - n;
          if (n < min_weight_ || m < min_weight_) continue;
          const double score =
              static_cast<double>(left_squares) / n + static_cast<double>(right_squares) / m;
          if (best.exists && !(score > best.score)) continue;
          best = {score, codes[row], next, n, true};
        }
      }
      return best;
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

    // A random threshold needs no statistics by code: the range of the codes, a draw, one sum.
    // False where the general search has to do it.
    bool try_dense_threshold(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                             Split& best) const {
      const BinnedFeature& binned = data_.dataset->feature(feature);
      if (binned.kind == FeatureKind::kCategory || binned.low.empty()) return false;
      const std::span codes(static_cast<const std::uint8_t*>(column.codes), node_.rows.size());
      const CodeRange range = range_of(codes);
      if (column.has_missing && range.largest == column.missing_code()) return false;
      if (range.smallest == range.largest) return true;
      const auto cut =
          draw_dense_cut(*data_.dataset, feature, range.smallest, range.largest, node_.key);
      if (!cut) return false;
      scratch.left.assign(adder_.cell_size(), 0);
      scratch.right.assign(adder_.cell_size(), 0);
      if constexpr (std::is_same_v<Adder, BinaryAdder>) {
        scratch.left[0] = sum_left(codes, statistics_.packed.data() + first_row_,
                                   static_cast<std::uint8_t>(cut->last_left));
      } else {
        for (std::size_t i = 0; i < codes.size(); ++i) {
          const std::uint64_t mask = codes[i] <= cut->last_left ? ~std::uint64_t{0} : 0;
          adder_.add_masked(scratch.left.data(), first_row_ + i, mask);
        }
      }
      const double score_before = best.score;
      try_threshold(feature, scratch.left.data(), 0, cut->last_left, kUnknownCode, -1, scratch,
                    best);
      if (best.score > score_before) {
        best.has_threshold = true;
        best.threshold = cut->threshold;
      }
      return true;
    }

    void settle_drawn_threshold(Split& best) const {
      const std::size_t stride = node_.block->record_stride;
      const std::uint8_t* codes = node_.block->records.get() + first_row_ * stride + best.feature;
      const std::uint32_t cut = best.last_left;
      std::uint32_t last_left = 0;
      std::uint32_t first_right = kByteCodes;
      for (std::size_t i = 0; i < node_.rows.size(); ++i, codes += stride) {
        const std::uint32_t code = *codes;
        last_left = std::max(last_left, code <= cut ? code : 0U);
        first_right = std::min(first_right, code <= cut ? first_right : code);
      }
      best.last_left = last_left;
      best.first_right = first_right;
      best.threshold =
          settle_threshold(*data_.dataset, best.feature, best.threshold, last_left, first_right);
    }

    // Two classes, `packed` what each row adds.
    void try_record_cuts(std::span<const std::uint32_t> features,
                         std::span<const std::uint64_t> packed, const GiniNode& limits,
                         Memory& scratch, RecordScratch& records, Split& best) const {
      const bool is_small = packed.size() <= kSmallNodeRows && total_weight_ <= kSmallNodeWeight;
      if (is_small) {
        fill_small_node(records.small, packed);
        for_each_threshold(features, scratch, records, best, [&](std::uint32_t feature) {
          ByteCut cut = best_small_gini_cut(records.small, records.codes.data(), limits);
          cut.first_right = kUnknownCode;
          keep_byte_cut(feature, cut, best);
        });
        if (best.exists() && best.first_right == kUnknownCode) {
          best.first_right = code_after(best.feature, best.last_left);
        }
        return;
      }
      const auto add = [&](std::span<const std::uint32_t> group) {
        add_records(first_record(), node_.block->record_stride, packed, group,
                    records.tables.data());
      };
      for_each_table(features, scratch, records, best, add,
                     [&](std::uint32_t feature, std::size_t number) {
                       return try_gini_table(feature, records.tables.data() + number * kTableCells,
                                             limits, best);
                     });
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

    // Calls visit(row of the block, its code) for the rows of the node.
    template <typename Code, typename Visit>
    void for_each_row(const Code* codes, Visit&& visit) const {
      if (node_.block->has_records()) {  // gathered: side by side
        const std::size_t n_rows = node_.rows.size();
        for (std::size_t i = 0; i < n_rows; ++i) visit(first_row_ + i, codes[i]);
      } else {
        for (const std::uint32_t row : node_.rows) visit(row, codes[row]);
      }
    }

    // Adds the rows up by code; returns the codes that occur where a set can hold them.
    template <typename Code>
    CodeSet add_up(const Code* codes, const CodeColumn& column, Memory& scratch) const {
      Cell* const cells = scratch.cells.data();
      const std::size_t size = adder_.cell_size();
      CodeSet present;
      if (column.n_codes() <= 64) {
        std::uint64_t mask = 0;
        for_each_row(codes, [&](std::size_t row, Code code) {
          mask |= std::uint64_t{1} << code;
          adder_.add(cells + code * size, row);
        });
        present = CodeSet(mask);
      } else if (CodeSet::can_hold(column.n_codes(), node_.rows.size())) {
        std::uint8_t* const marks = scratch.marks.data();
        for_each_row(codes, [&](std::size_t row, Code code) {
          marks[code] = 1;
          adder_.add(cells + code * size, row);
        });
        present = CodeSet(scratch.marks);
      } else {
        for_each_row(codes,
                     [&](std::size_t row, Code code) { adder_.add(cells + code * size, row); });
      }
      if (counts_rows_) {
        for_each_row(codes, [&](std::size_t row, Code code) {
          scratch.counts[code] += statistics_.repetitions[row];
        });
      }
      if (options_.random_thresholds) {
        scratch.example.resize(std::max<std::size_t>(scratch.example.size(), column.n_codes()));
        for_each_row(codes, [&](std::size_t row, Code code) {
          scratch.example[code] = static_cast<std::uint32_t>(row);
        });
      }
      return present;
    }

    Cell* cell(std::uint32_t code, Memory& scratch) const {
      return scratch.cells.data() + code * adder_.cell_size();
    }

    void clear(std::uint32_t code, Memory& scratch) const {
      std::fill_n(cell(code, scratch), adder_.cell_size(), Cell{0});
      if (counts_rows_) scratch.counts[code] = 0;
    }

    // Calls visit(code) for the codes below `end` that occur, ascending.
    template <typename Visit>
    void for_each_present(const CodeSet& codes, std::uint32_t end, Memory& scratch,
                          Visit&& visit) const {
      if (codes.is_known()) return codes.for_each(end, visit);
      for (std::uint32_t code = 0; code < end; ++code) {
        if (!adder_.is_empty(cell(code, scratch))) visit(code);
      }
    }

    void list_present(const CodeColumn& column, const CodeSet& codes, Memory& scratch) const {
      scratch.present.clear();
      for_each_present(codes, column.n_codes(), scratch,
                       [&](std::uint32_t code) { scratch.present.push_back(code); });
    }

    // The score of the split (left, rest), or no score when it breaks a limit.
    double evaluate(std::uint32_t feature, const Cell* left, std::int64_t left_rows,
                    Memory& scratch) const {
      constexpr double kRefused = -std::numeric_limits<double>::infinity();
      const std::int64_t left_weight = adder_.weight(left);
      if (static_cast<double>(left_weight) < min_weight_ ||
          static_cast<double>(total_weight_ - left_weight) < min_weight_) {
        return kRefused;
      }
      if (counts_rows_ && (left_rows < options_.min_rows_leaf ||
                           total_rows_ - left_rows < options_.min_rows_leaf)) {
        return kRefused;
      }
      Cell* const right = scratch.right.data();
      for (std::size_t i = 0; i < adder_.cell_size(); ++i) right[i] = total_[i] - left[i];
      const int direction = options_.monotonic_of(feature);
      if (direction != 0) {
        const double left_value = score_.value(left);
        const double right_value = score_.value(right);
        if (!node_.bounds.contains(left_value) || !node_.bounds.contains(right_value) ||
            (left_value - right_value) * direction > 0) {
          return kRefused;
        }
      }
      return score_.pair(left, right);
    }

    // Notes the split whose left side and score are given. The larger child takes what the node
    // has never seen.
    void keep(std::uint32_t feature, double score, const Cell* left, Memory& scratch,
              Split& best) const {
      best.score = score;
      best.penalty = 0.0;
      best.feature = feature;
      best.n_children = 2;
      best.has_threshold = false;
      best.child_of_code.clear();
      const std::int64_t left_weight = adder_.weight(left);
      best.default_child = left_weight > total_weight_ - left_weight ? 0 : 1;
      if (!options_.monotonic.empty()) {
        Cell* const right = scratch.right.data();
        for (std::size_t i = 0; i < adder_.cell_size(); ++i) right[i] = total_[i] - left[i];
        best.left_value = node_.bounds.clip(score_.value(left));
        best.right_value = node_.bounds.clip(score_.value(right));
      }
    }

    void try_threshold(std::uint32_t feature, const Cell* left, std::int64_t left_rows,
                       std::uint32_t last_left, std::uint32_t first_right, int missing_child,
                       Memory& scratch, Split& best) const {
      const double score = evaluate(feature, left, left_rows, scratch);
      if (!(score > best.score)) return;
      keep(feature, score, left, scratch, best);
      best.kind = threshold_kind(feature);
      best.last_left = last_left;
      best.first_right = first_right;
      if (missing_child >= 0) best.default_child = static_cast<std::uint32_t>(missing_child);
    }

    // Missing values on the right, then on the left. `first_right` is kNoCode when nothing but
    // missing values is left for the right side.
    void try_both_sides(std::uint32_t feature, const CodeColumn& column, bool has_missing,
                        std::int64_t left_rows, std::uint32_t last_left, std::uint32_t first_right,
                        Memory& scratch, Split& best) const {
      try_threshold(feature, scratch.left.data(), left_rows, last_left, first_right,
                    has_missing ? 1 : -1, scratch, best);
      if (!has_missing || first_right == kNoCode) return;
      const std::uint32_t missing = column.missing_code();
      std::vector<Cell>& left = scratch.left;
      for (std::size_t i = 0; i < left.size(); ++i) left[i] += cell(missing, scratch)[i];
      try_threshold(feature, left.data(), left_rows + (counts_rows_ ? scratch.counts[missing] : 0),
                    last_left, first_right, 0, scratch, best);
      for (std::size_t i = 0; i < left.size(); ++i) left[i] -= cell(missing, scratch)[i];
    }

    void try_thresholds(std::uint32_t feature, const CodeColumn& column, const CodeSet& codes,
                        Memory& scratch, Split& best) const {
      const std::uint32_t missing = column.missing_code();
      const bool has_missing = column.has_missing && !adder_.is_empty(cell(missing, scratch));
      if constexpr (CutArrays<Score>::kExists) {
        const bool is_plain = !has_missing && !counts_rows_ && options_.monotonic.empty();
        if (is_plain && score_.has_kernel()) {
          try_cuts(feature, column, codes, scratch, best);
          return;
        }
      }
      std::uint32_t previous = kNoCode;
      std::int64_t left_rows = 0;
      for_each_present(codes, column.n_values, scratch, [&](std::uint32_t code) {
        if (previous != kNoCode) {
          try_both_sides(feature, column, has_missing, left_rows, previous, code, scratch, best);
        }
        Cell* const here = cell(code, scratch);
        for (std::size_t i = 0; i < adder_.cell_size(); ++i) scratch.left[i] += here[i];
        if (counts_rows_) left_rows += scratch.counts[code];
        clear(code, scratch);
        previous = code;
      });
      if (!has_missing) return;
      if (previous != kNoCode) {
        try_both_sides(feature, column, true, left_rows, previous, kNoCode, scratch, best);
      }
      clear(missing, scratch);
    }

    // The plain case, without missing values or constraints: thresholds in vector passes over
    // pieces of the codes that stay in the cache.
    void try_cuts(std::uint32_t feature, const CodeColumn& column, const CodeSet& codes,
                  Memory& scratch, Split& best) const {
      auto& cuts = scratch.cuts;
      cuts.start(score_);
      scratch.present.resize(std::max(scratch.present.size(), CutArrays<Score>::kSize));
      // Plain pointers and a local sum: the compiler cannot know that the arrays do not overlap.
      std::uint32_t* const present = scratch.present.data();
      Cell* const cells = scratch.cells.data();
      std::array<Cell, CutArrays<Score>::kCellSize> left{};
      std::size_t n_present = 0;
      const auto pass = [&](std::uint32_t code) {
        Cell* const here = cells + code * left.size();
        for (std::size_t i = 0; i < left.size(); ++i) {
          left[i] += here[i];
          here[i] = 0;
        }
        cuts.set(n_present, left);
        present[n_present] = code;
      };
      if (codes.is_known()) {
        for_each_present(codes, column.n_values, scratch, [&](std::uint32_t code) {
          pass(code);
          ++n_present;
        });
      } else {  // what an empty cell wrote is overwritten by the next: no branch to mispredict
        for (std::uint32_t code = 0; code < column.n_values; ++code) {
          const bool is_present = !adder_.is_empty(cells + code * left.size());
          pass(code);
          n_present += is_present ? 1 : 0;
          if (n_present == CutArrays<Score>::kSize) {
            keep_best_cut(feature, n_present, scratch, best);
            cuts.keep_last();
            present[0] = present[n_present - 1];
            n_present = 1;
          }
        }
      }
      keep_best_cut(feature, n_present, scratch, best);
    }

    // Compares the cuts between the `n_present` codes in the arrays with the best so far.
    void keep_best_cut(std::uint32_t feature, std::size_t n_present, Memory& scratch,
                       Split& best) const {
      if (n_present < 2) return;
      auto& cuts = scratch.cuts;
      std::size_t begin = 0;
      std::size_t end = n_present - 1;
      const auto total_weight = static_cast<double>(total_weight_);
      const auto left_weight = [&](std::size_t i) { return static_cast<double>(cuts.weight[i]); };
      while (begin < end && left_weight(begin) < min_weight_) ++begin;
      while (begin < end && total_weight - left_weight(end - 1) < min_weight_) --end;
      if (begin == end) return;
      const Cut cut = cuts.best(score_, begin, end);
      const double score = score_.from_kernel(cut.score);
      if (!(score > best.score)) return;
      best = Split{};
      best.score = score;
      best.feature = feature;
      best.kind = threshold_kind(feature);
      best.last_left = scratch.present[cut.index];
      best.first_right = scratch.present[cut.index + 1];
      best.default_child = left_weight(cut.index) > total_weight - left_weight(cut.index) ? 0 : 1;
    }

    SplitKind threshold_kind(std::uint32_t feature) const {
      return data_.dataset->feature(feature).kind == FeatureKind::kInteger ? SplitKind::kInteger
                                                                           : SplitKind::kReal;
    }

    void try_random_threshold(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                              Split& best) const {
      std::span<const std::uint32_t> present = scratch.present;
      const bool has_missing =
          !present.empty() && column.has_missing && present.back() == column.missing_code();
      if (has_missing) present = present.first(present.size() - 1);
      if (present.empty() || (present.size() == 1 && !has_missing)) return;
      Split drawn;
      drawn.last_left = present.back();
      if (present.size() > 1) {
        draw_threshold(data_, node_, feature, present, scratch.example, drawn);
      }
      std::int64_t left_rows = 0;
      for (const std::uint32_t code : present) {
        if (code > drawn.last_left) break;
        for (std::size_t i = 0; i < adder_.cell_size(); ++i) {
          scratch.left[i] += cell(code, scratch)[i];
        }
        if (counts_rows_) left_rows += scratch.counts[code];
      }
      const double score_before = best.score;
      try_both_sides(feature, column, has_missing, left_rows, drawn.last_left, drawn.first_right,
                     scratch, best);
      if (best.score > score_before) {
        best.has_threshold = drawn.has_threshold;
        best.threshold = drawn.threshold;
      }
    }

    // Tries every prefix of the codes in `scratch.ordered` as the left side.
    void try_prefixes(std::uint32_t feature, const CodeColumn& column, std::size_t first,
                      std::size_t last, double penalty, Memory& scratch, Split& best) const {
      std::fill(scratch.left.begin(), scratch.left.end(), Cell{0});
      std::int64_t left_rows = 0;
      const auto& ordered = scratch.ordered;
      for (std::size_t n = 0; n + 1 < ordered.size() && n <= last; ++n) {
        const std::uint32_t code = ordered[n].second;
        for (std::size_t i = 0; i < adder_.cell_size(); ++i) {
          scratch.left[i] += cell(code, scratch)[i];
        }
        if (counts_rows_) left_rows += scratch.counts[code];
        if (n < first) continue;
        const double score = evaluate(feature, scratch.left.data(), left_rows, scratch) - penalty;
        if (!(score > best.score)) continue;
        keep(feature, score, scratch.left.data(), scratch, best);
        best.penalty = penalty;
        best.kind = SplitKind::kSubset;
        best.child_of_code.assign(column.n_codes(), kNoChild);
        for (std::size_t i = 0; i < ordered.size(); ++i) {
          best.child_of_code[ordered[i].second] = i <= n ? 0 : 1;
        }
        settle_missing(column, best);
      }
    }

    // A missing value seen in training goes where its code went, and unseen levels with it.
    static void settle_missing(const CodeColumn& column, Split& best) {
      if (!column.has_missing) return;
      const std::uint32_t child = best.child_of_code[column.missing_code()];
      if (child != kNoChild) best.default_child = child;
    }

    void try_subsets(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                     Split& best) const {
      if (scratch.present.size() < 2) return;
      const double penalty =
          level_price(options_.level_penalty, impurity_, node_.n_counted, scratch.present.size());
      for (std::size_t order = 0; order < score_.n_orders(); ++order) {
        scratch.ordered.clear();
        for (const std::uint32_t code : scratch.present) {
          scratch.ordered.emplace_back(score_.order(cell(code, scratch), order), code);
        }
        std::sort(scratch.ordered.begin(), scratch.ordered.end());
        try_prefixes(feature, column, 0, scratch.ordered.size(), penalty, scratch, best);
      }
    }

    void try_random_subset(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                           Split& best) const {
      const auto n_present = static_cast<std::uint32_t>(scratch.present.size());
      if (n_present < 2) return;
      Random random(derive_key(node_.key, std::uint64_t{feature} + 1));
      scratch.ordered.clear();
      for (const std::uint32_t code : scratch.present) {
        scratch.ordered.emplace_back(random.uniform(), code);
      }
      std::sort(scratch.ordered.begin(), scratch.ordered.end());
      const std::uint32_t cut = random.below(n_present - 1);
      try_prefixes(feature, column, cut, cut, 0.0, scratch, best);
    }

    void try_fan_out(std::uint32_t feature, const CodeColumn& column, Memory& scratch,
                     Split& best) const {
      if (scratch.present.size() < 2) return;
      double score = 0.0;
      std::int64_t largest = -1;
      std::uint32_t default_child = 0;
      for (std::uint32_t child = 0; child < scratch.present.size(); ++child) {
        const std::uint32_t code = scratch.present[child];
        const std::int64_t weight = adder_.weight(cell(code, scratch));
        if (static_cast<double>(weight) < min_weight_ ||
            (counts_rows_ && scratch.counts[code] < options_.min_rows_leaf)) {
          return;
        }
        score += score_.score(cell(code, scratch));
        if (weight > largest) {
          largest = weight;
          default_child = child;
        }
      }
      if (!(score > best.score)) return;
      keep(feature, score, cell(scratch.present[0], scratch), scratch, best);
      best.kind = SplitKind::kFanOut;
      best.n_children = static_cast<std::uint32_t>(scratch.present.size());
      best.default_child = default_child;
      best.child_of_code.assign(column.n_codes(), kNoChild);
      for (std::uint32_t child = 0; child < best.n_children; ++child) {
        best.child_of_code[scratch.present[child]] = child;
      }
      settle_missing(column, best);
    }

    const FitData& data_;
    const GrowOptions& options_;
    const NodeView& node_;
    const RowStatistics& statistics_;
    const Adder& adder_;
    const Score& score_;
    Monitor& monitor_;
    const Cell* total_;
    std::int64_t total_weight_;
    bool counts_rows_;
    std::size_t first_row_;  // of the node in a block of records; else 0
    double min_weight_ = 0.0;
    double impurity_ = 0.0;
    std::int64_t total_rows_ = 0;
  };

  const FitData& data_;
  const GrowOptions& options_;
  std::vector<Cell> total_;
  Score score_;
  FeatureDraw draw_;
  ScratchPool<Memory> pool_;  // for features side by side
  Memory memory_;             // for records, whose features come one after the other
  RecordScratch records_;
};

template <template <Criterion> typename Score>
std::unique_ptr<Splitter> make_class_splitter(const FitData& data, const GrowOptions& options) {
  switch (options.criterion) {
    case Criterion::kEntropy:
      return std::make_unique<HistogramSplitter<Score<Criterion::kEntropy>>>(data, options);
    case Criterion::kError:
      return std::make_unique<HistogramSplitter<Score<Criterion::kError>>>(data, options);
    default:
      return std::make_unique<HistogramSplitter<Score<Criterion::kGini>>>(data, options);
  }
}

}  // namespace

std::unique_ptr<Splitter> make_histogram_splitter(const FitData& data, const GrowOptions& options) {
  if (data.statistics.layout == StatisticLayout::kBinaryCounts) {
    return make_class_splitter<BinaryScore>(data, options);
  }
  if (data.statistics.layout == StatisticLayout::kClassCounts) {
    return make_class_splitter<ClassScore>(data, options);
  }
  if (options.criterion == Criterion::kPoisson) {
    return std::make_unique<HistogramSplitter<PoissonScore>>(data, options);
  }
  return std::make_unique<HistogramSplitter<SquaredScore>>(data, options);
}

}  // namespace committee
