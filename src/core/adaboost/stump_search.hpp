// The best split of all rows in two, from the weights of the classes by code.
//
// Weights are integers (boosted_rows.hpp), so that the same split is found whatever the number of
// threads. Scores are those of criterion.hpp; Gini of two classes, less that of all rows and
// halved, has a vector kernel. Missing values are tried on both sides. Levels of a category are put
// in the order of their share of a class, one class that is present after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/monitor.hpp"
#include "data/binned_dataset.hpp"
#include "score/criterion.hpp"
#include "score/score_kernels.hpp"
#include "split/split.hpp"

namespace committee {

// Working memory of one thread.
struct StumpScratch {
  static constexpr std::size_t kCuts = 1024;  // that are compared in one go
  std::vector<std::int64_t> left;             // one a class
  std::vector<std::int64_t> right;
  std::vector<std::int64_t> here;
  std::vector<std::int64_t> cells;  // of a feature, where the caller has to put them together
  std::vector<std::pair<double, std::uint32_t>> ordered;  // levels
  std::vector<std::pair<double, std::uint32_t>> best_order;
  std::array<std::uint32_t, kCuts> places;  // codes, or places in the order of a feature
  std::array<std::int64_t, kCuts> weight;   // on the left of the cut after each place
  std::array<std::int64_t, kCuts> ones;
  std::array<double, kCuts> scores;
};

// The rows that count in the order of a feature, missing values last.
struct SortedFeature {
  static constexpr std::uint32_t kLast = 1U << 31;  // set in the last row of a code
  std::vector<std::uint32_t> rows;
  std::size_t n_known = 0;  // rows whose value is not missing

  std::uint32_t row(std::size_t place) const { return rows[place] & ~kLast; }
};

// The integer weights and the classes of the table's rows.
struct WeightedRows {
  std::span<const std::int64_t> weights;
  std::span<const std::int64_t> signed_weights;  // of two classes: negative for the first
  std::span<const std::uint16_t> classes;
};

// What all features share: the criterion, and the weights of all rows.
struct StumpTarget {
  Criterion criterion = Criterion::kGini;
  double level_penalty = 0.0;        // see level_price
  double n_rows = 0.0;               // repetitions included
  std::vector<std::int64_t> totals;  // of each class

  std::size_t n_classes() const { return totals.size(); }
};

// A feature and its column of codes.
struct StumpFeature {
  std::uint32_t index = 0;
  bool is_category = false;
  SplitKind kind = SplitKind::kReal;
  CodeColumn column;
};

class StumpSearch {
 public:
  // `monitor` is checked within features of many levels and classes.
  StumpSearch(const StumpTarget& target, Monitor& monitor);

  // Whether there are two classes or more.
  bool is_mixed() const { return n_present_ > 1; }

  // Replaces `best` if some split of the feature is better. `cells` has, for each class, the
  // weights by code.
  void try_cells(const StumpFeature& feature, std::span<const std::int64_t* const> cells,
                 StumpScratch& scratch, Split& best) const;

  // The same for rows in the order of the feature.
  void try_sorted(const StumpFeature& feature, const SortedFeature& sorted,
                  const WeightedRows& rows, StumpScratch& scratch, Split& best) const;

 private:
  double score_of(const std::int64_t* left, StumpScratch& scratch) const;
  bool has_kernel() const { return criterion_ == Criterion::kGini && totals_.size() == 2; }

  void start(StumpScratch& scratch) const;
  void pass_code(const StumpFeature& feature, std::uint32_t code, const std::int64_t* missing,
                 std::uint32_t& previous, StumpScratch& scratch, Split& best) const;
  void try_present(const StumpFeature& feature, const std::int64_t* missing, std::uint32_t last,
                   StumpScratch& scratch, Split& best) const;
  void try_cut(const StumpFeature& feature, std::uint32_t last_left, std::uint32_t first_right,
               int missing_child, StumpScratch& scratch, Split& best) const;
  bool keep_best_cut(const StumpFeature& feature, std::size_t n_codes, StumpScratch& scratch,
                     Split& best) const;
  void try_levels(const StumpFeature& feature, std::span<const std::int64_t* const> cells,
                  StumpScratch& scratch, Split& best) const;
  struct Prefix;  // the first levels of an order
  void try_prefixes(std::span<const std::int64_t* const> cells, StumpScratch& scratch,
                    Prefix& best) const;

  Monitor& monitor_;
  Criterion criterion_;
  double level_penalty_;
  double n_rows_;
  std::vector<std::int64_t> totals_;
  std::int64_t total_ = 0;
  std::size_t n_present_ = 0;
  ShareTotals shares_;     // where there are two classes
  double impurity_ = 0.0;  // of all rows, in units of scores
};

}  // namespace committee
