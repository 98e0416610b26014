// The best split of a node of a boosted tree, from its histogram.
//
// The gain of a split is half of GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2), with G and
// H the sums of gradients and hessians (G shrunk towards zero by l1). Sums are exact integers in
// units of powers of two; gains are computed from them in doubles, so the same sums give the same
// split whatever the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boost/boost_options.hpp"
#include "boost/cut_kernels.hpp"
#include "boost/gradient_histogram.hpp"
#include "boost/gradient_rows.hpp"
#include "boost/node_rows.hpp"
#include "data/binned_dataset.hpp"
#include "data/byte_columns.hpp"
#include "data/sorted_columns.hpp"
#include "split/split.hpp"

namespace committee {

// A split in codes: codes up to last_left go left, or for a category the codes in goes_left.
struct BoostSplit {
  double gain = 0.0;  // in units of the grids; 0: there is no split
  std::uint32_t feature = 0;
  bool is_category = false;
  bool missing_goes_left = false;
  std::uint32_t last_left = 0;
  std::vector<std::uint8_t> goes_left;  // category: of each code
  std::int64_t left = 0;                // packed sums
  // Exact splits: the rows next to the cut; kNoCode where only missing values are on the right.
  std::uint32_t last_left_row = 0;
  std::uint32_t first_right_row = 0;
  double left_value = 0.0;  // steps of the children, where monotone constraints ask
  double right_value = 0.0;

  bool exists() const { return gain > 0.0; }

  // The side of each code of the feature's column. Nothing for wide codes, which are compared one
  // by one.
  SideOfCode sides(const CodeColumn& column) const;
  bool sends_left(const CodeColumn& column, std::size_t row) const {
    const std::uint32_t code = column.at(row);
    if (is_category) return goes_left[code] != 0;
    return code == column.missing_code() ? missing_goes_left : code <= last_left;
  }
};

// What a search needs to know of a node.
struct BoostNode {
  std::int64_t total = 0;  // packed sums
  std::size_t n_rows = 0;
  Bounds bounds;  // of the step, in units of gradient / hessian
};

class BoostSearch {
 public:
  BoostSearch(const BinnedDataset& dataset, const ByteColumns& columns, const BoostOptions& options,
              const GradientRows& rows);

  // Replaces `best` if some split of the feature is better, and returns whether one was. `counts`
  // may be empty: then rows of a side are not counted unless hessians do.
  // `cells` are those of the feature.
  bool try_feature(const std::int64_t* cells, const BoostNode& node, std::uint32_t feature,
                   std::span<const std::uint32_t> counts, BoostSplit& best) const;

  // Whether one of the cuts that part the rows of `own` sums from all others of the node may gain
  // more than `gain`. Sparse features of two codes have one cut, and mostly it does not.
  struct Screen {
    double parent_score;
    bool is_plain;  // neither bounds nor a penalty l1
  };
  Screen screen_of(const BoostNode& node) const;
  bool may_beat(const Screen& screen, const BoostNode& node, std::int64_t own,
                std::uint32_t feature, double gain) const;

  // The same for the rows of the node in the order of the feature, exactly: every cut between two
  // values, rows of the sides counted. `repetitions` may be empty: one each.
  void try_sorted(std::span<const SortedRow> rows, const BoostNode& node, std::uint32_t feature,
                  std::span<const std::uint32_t> repetitions, BoostSplit& best) const;

  // Whether sums with this hessian certainly have min_rows_leaf rows.
  bool has_enough_rows(std::int64_t packed) const {
    return rows_.hessian(packed) >= options_.min_rows_leaf * rows_.largest_hessian;
  }
  double gradient(std::int64_t packed) const { return static_cast<double>(rows_.gradient(packed)); }
  double hessian(std::int64_t packed) const { return static_cast<double>(rows_.hessian(packed)); }
  // The best step of sums, within bounds, in units of the grids.
  double step(std::int64_t packed, const Bounds& bounds) const;
  // What `gain` is worth in units of the loss.
  double gain_unit() const;

 private:
  struct Scan;
  void start(Scan& scan) const;
  void try_thresholds(const Scan& scan, BoostSplit& best) const;
  void try_categories(const Scan& scan, BoostSplit& best) const;
  void limit_cuts(const Scan& scan, bool missing_goes_left, CutScan& cuts) const;
  bool try_fast(const Scan& scan, std::int64_t start, bool missing_goes_left, std::size_t n_cuts,
                BoostSplit& best) const;
  void try_slowly(const Scan& scan, std::int64_t start, bool missing_goes_left, std::size_t n_cuts,
                  BoostSplit& best) const;
  // What a cut gains: 0 where it breaks a limit, or gains no more than rounding.
  double gain_of(const Scan& scan, std::int64_t left, std::int64_t left_count) const;
  double gain_over(const Scan& scan, double score) const;
  void place(const Scan& scan, std::size_t first, std::size_t last, bool missing_goes_left,
             BoostSplit& best) const;
  void keep(const Scan& scan, double gain, std::int64_t left, BoostSplit& best) const;
  double soft(double gradient) const;
  double score_of_step(double gradient, double hessian, double step) const;

  const BinnedDataset& dataset_;  // kinds of features
  const ByteColumns& columns_;
  const BoostOptions& options_;
  const GradientRows& rows_;
  double l1_;
  double l2_;
  double min_hessian_;
  double category_smoothing_;
};

}  // namespace committee
