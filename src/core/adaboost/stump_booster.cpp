#include "adaboost/stump_booster.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/thread_pool.hpp"
#include "data/sorted_columns.hpp"
#include "score/impurity.hpp"

namespace committee {

StumpBooster::StumpBooster(const BinnedDataset& dataset, BoostedRows& rows,
                           const StumpOptions& options, Monitor& monitor)
    : dataset_(dataset),
      rows_(rows),
      options_(options),
      wide_(dataset.n_features()),
      n_rows_(dataset.n_features()),
      histograms_(rows.n_classes()),
      groups_(dataset.n_rows(), 0U) {
  if (dataset.n_rows() >= SortedFeature::kLast) {
    throw std::invalid_argument("stumps are for less than 2^31 rows");
  }
  target_.criterion = options.criterion;
  target_.level_penalty = options.level_penalty;
  target_.totals.assign(rows.n_classes(), 0);
  classes_.reserve(rows.n_rows());
  for (std::size_t row = 0; row < rows.n_rows(); ++row) {
    target_.n_rows += rows.count(row);
    classes_.push_back(rows.class_of(row));
  }
  std::vector<CodeColumn> columns;
  for (std::uint32_t index = 0; index < dataset.n_features(); ++index) {
    const BinnedFeature& feature = dataset.feature(index);
    columns.push_back(feature.column);
    if (feature.column.n_codes() < 2) continue;
    features_.push_back(
        {index, feature.kind == FeatureKind::kCategory,
         feature.kind == FeatureKind::kInteger ? SplitKind::kInteger : SplitKind::kReal,
         feature.column});
  }
  records_ = make_record_groups(columns, dataset.n_rows(), options.n_threads);
  const auto prepare = [&](std::size_t i) {
    const StumpFeature& feature = features_[i];
    monitor.check();
    if (feature.column.width != 1 && !feature.is_category) return sort(feature);
    std::vector<std::int64_t>& n_rows = n_rows_[feature.index];
    n_rows.assign(feature.column.n_codes(), 0);
    for (std::size_t row = 0; row < rows.n_rows(); ++row) {
      n_rows[feature.column.at(row)] += rows.count(row);
    }
  };
  parallel_for(features_.size(), options.n_threads, prepare, &monitor);
  tracker_ = rows_.track();
}

// The codes of a feature that is passed in its order.
void StumpBooster::sort(const StumpFeature& feature) {
  SortedFeature& sorted = wide_[feature.index].sorted;
  std::vector<SortedRow> all = sort_rows(feature.column, dataset_.n_rows());
  std::erase_if(all, [&](const SortedRow& row) { return rows_.count(row.row) == 0; });
  sorted.rows.reserve(all.size());
  for (std::size_t place = 0; place < all.size(); ++place) {
    const bool is_last = place + 1 == all.size() || all[place + 1].code != all[place].code;
    sorted.rows.push_back(all[place].row | (is_last ? SortedFeature::kLast : 0));
    sorted.n_known += all[place].code < feature.column.n_values ? 1 : 0;
  }
}

// ---- sums ----

void StumpBooster::add_changes(Monitor& monitor) {
  const std::size_t n_classes = rows_.n_classes();
  const std::size_t size = std::max<std::size_t>(records_.n_bytes, 1) * kGradientCells;
  // Interrupted half-way, sums are no longer those of the rows: all are added up anew.
  const bool were_summed = std::exchange(are_summed_, false);
  if (!rows_.take_changes(tracker_, changes_) || !were_summed) {
    for (AlignedVector<RowEntry>& of_class : changes_) of_class.clear();
    for (GradientHistogram& histogram : histograms_) histogram.assign(size, 0);
    std::fill(target_.totals.begin(), target_.totals.end(), 0);
    for (const StumpFeature& feature : features_) {
      if (feature.column.width == 1 || !feature.is_category) continue;
      wide_[feature.index].levels.assign(n_classes,
                                         std::vector<std::int64_t>(feature.column.n_codes(), 0));
    }
    const std::span<const std::int64_t> whole = rows_.whole_weights();
    for (std::size_t row = 0; row < whole.size(); ++row) {
      if (whole[row] == 0) continue;
      changes_[classes_[row]].push_back({whole[row], static_cast<std::uint32_t>(row), 0});
    }
  }
  for (std::size_t code = 0; code < n_classes; ++code) add_entries(code, changes_[code], monitor);
  are_summed_ = true;
  if (n_classes != 2) return;
  const std::span<const std::int64_t> whole = rows_.whole_weights();
  signed_weights_.resize(whole.size());
  for (const RowEntry& entry : changes_[0]) signed_weights_[entry.row] = -whole[entry.row];
  for (const RowEntry& entry : changes_[1]) signed_weights_[entry.row] = whole[entry.row];
}

void StumpBooster::add_entries(std::size_t code, std::span<const RowEntry> entries,
                               Monitor& monitor) {
  if (entries.empty()) return;
  build_histogram(records_, {}, entries, {options_.n_threads, monitor}, added_, spare_);
  GradientHistogram& histogram = histograms_[code];
  for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += added_[i];
  // Every row has a code in the first byte; without records all are in its first cell.
  const auto first_byte = added_.begin() + static_cast<std::ptrdiff_t>(kGradientCells);
  target_.totals[code] = std::accumulate(added_.begin(), first_byte, target_.totals[code]);
  for (const StumpFeature& feature : features_) {
    if (feature.column.width == 1 || !feature.is_category) continue;
    std::vector<std::int64_t>& levels = wide_[feature.index].levels[code];
    for (const RowEntry& entry : entries) levels[feature.column.at(entry.row)] += entry.packed;
  }
}

// ---- the split ----

void StumpBooster::try_feature(std::size_t index, const StumpSearch& search, Split& best) {
  const StumpFeature& feature = features_[index];
  const std::size_t n_classes = histograms_.size();
  pool_.lend([&](StumpScratch& scratch) {
    const WideFeature& wide = wide_[feature.index];
    if (feature.column.width != 1 && !feature.is_category) {
      return search.try_sorted(feature, wide.sorted,
                               {rows_.whole_weights(), signed_weights_, classes_}, scratch, best);
    }
    std::vector<const std::int64_t*> cells(n_classes);
    scratch.cells.resize(n_classes * kGradientCells);
    for (std::size_t code = 0; code < n_classes; ++code) {
      cells[code] = feature.column.width == 1
                        ? feature_cells(records_, histograms_[code], feature.index, 0,
                                        scratch.cells.data() + code * kGradientCells)
                        : wide.levels[code].data();
    }
    search.try_cells(feature, cells, scratch, best);
  });
}

// Features side by side where that is worth it, compared in order.
Split StumpBooster::search(Monitor& monitor) {
  const StumpSearch search(target_, monitor);
  Split best;
  if (!search.is_mixed()) return best;
  std::size_t n_visits = 0;
  for (const StumpFeature& feature : features_) {
    const std::size_t n_rows = wide_[feature.index].sorted.rows.size();
    n_visits += std::max<std::size_t>(n_rows, feature.column.n_codes() * histograms_.size());
  }
  constexpr std::size_t kParallelVisits = std::size_t{1} << 16;
  if (n_visits < kParallelVisits || options_.n_threads == 1) {
    for (std::size_t i = 0; i < features_.size(); ++i) {
      monitor.check();
      try_feature(i, search, best);
    }
    return best;
  }
  std::vector<Split> splits(features_.size());
  parallel_for(
      features_.size(), options_.n_threads,
      [&](std::size_t i) { try_feature(i, search, splits[i]); }, &monitor);
  for (Split& split : splits) {
    if (split.score > best.score) best = std::move(split);
  }
  return best;
}

// ---- the tree ----

Tree StumpBooster::find(Monitor& monitor) {
  monitor.check();
  add_changes(monitor);
  const Split split = search(monitor);
  find_groups(split);
  Tree tree = make_tree(split);
  fill_statistics(split, tree);
  return tree;
}

// A row that counts and has the code.
std::uint32_t StumpBooster::row_with(std::uint32_t feature, std::uint32_t code) const {
  const CodeColumn& column = dataset_.feature(feature).column;
  const std::vector<std::uint32_t>& sorted = wide_[feature].sorted.rows;
  if (!sorted.empty()) {
    const auto is_before = [&](std::uint32_t row, std::uint32_t value) {
      return column.at(row & ~SortedFeature::kLast) < value;
    };
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), code, is_before);
    return *place & ~SortedFeature::kLast;
  }
  std::uint32_t row = 0;
  while (rows_.count(row) == 0 || column.at(row) != code) ++row;
  return row;
}

Value StumpBooster::threshold(const Split& split) const {
  const BinnedFeature& feature = dataset_.feature(split.feature);
  if (split.first_right == kNoCode) return highest_value(feature.kind);
  if (!feature.low.empty()) {
    return middle(feature.kind, feature.high[split.last_left], feature.low[split.first_right]);
  }
  return middle(feature.kind,
                dataset_.high(split.feature, row_with(split.feature, split.last_left)),
                dataset_.low(split.feature, row_with(split.feature, split.first_right)));
}

Tree StumpBooster::make_tree(const Split& split) const {
  Tree tree;
  tree.n_features = static_cast<std::uint32_t>(dataset_.n_features());
  tree.n_values = rows_.n_classes();
  tree.nodes.resize(split.exists() ? 3 : 1);
  if (!split.exists()) return tree;
  Node& root = tree.nodes[0];
  root.first_child = 1;
  const bool missing_goes_left = split.default_child == 0;
  if (split.kind == SplitKind::kSubset) {
    std::vector<std::uint32_t> leaving;
    const CodeColumn& levels = dataset_.feature(split.feature).column;
    for (std::uint32_t level = 0; level < levels.n_values; ++level) {
      const std::uint32_t child = split.child_of_code[level];
      if (child != kNoChild && child != split.default_child) leaving.push_back(level);
    }
    root.set_split(split.feature, split.kind, missing_goes_left);
    root.threshold.offset = 0;
    tree.category_data = subset_data(std::move(leaving));
  } else {
    root.set_threshold(split.feature, feature_kind(split.kind), threshold(split),
                       missing_goes_left);
  }
  return tree;
}

// The node that a code goes to.
std::uint32_t StumpBooster::group_of(const Split& split, std::uint32_t code) const {
  if (split.kind == SplitKind::kSubset) {
    const std::uint32_t child = split.child_of_code[code];
    return 1 + (child == kNoChild ? split.default_child : child);
  }
  const bool is_missing = code == dataset_.feature(split.feature).column.missing_code();
  return 1 + (is_missing ? split.default_child : (code <= split.last_left ? 0U : 1U));
}

// Rows that do not count go with their code, which need not be where their value goes.
void StumpBooster::find_groups(const Split& split) {
  if (!split.exists()) return std::fill(groups_.begin(), groups_.end(), 0U);
  const CodeColumn& column = dataset_.feature(split.feature).column;
  std::vector<std::uint32_t> group_of_code(column.n_codes());
  for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
    group_of_code[code] = group_of(split, code);
  }
  constexpr std::size_t kMinRows = 32768;
  const std::size_t n_parts = chunk_count(groups_.size(), kMinRows, options_.n_threads);
  visit_codes(column, [&](const auto* codes) {
    parallel_parts(n_parts, options_.n_threads, [&](std::size_t part) {
      const Range rows = chunk_range(groups_.size(), n_parts, part);
      for (std::size_t row = rows.begin; row < rows.end; ++row) {
        groups_[row] = group_of_code[codes[row]];
      }
    });
  });
}

// Adds to the numbers of rows of the two leaves. A sorted feature may have as many codes as rows.
void StumpBooster::count_rows(const Split& split, std::span<std::int64_t> n_rows) const {
  const std::vector<std::int64_t>& of_code = n_rows_[split.feature];
  for (std::uint32_t code = 0; code < of_code.size(); ++code) {
    n_rows[group_of(split, code)] += of_code[code];
  }
  if (!of_code.empty()) return;
  std::int64_t n_left = 0;
  for (std::size_t row = 0; row < groups_.size(); ++row) {
    n_left += groups_[row] == 1 ? rows_.count(row) : 0;
  }
  n_rows[1] = n_left;
  n_rows[2] = n_rows[0] - n_left;
}

void StumpBooster::fill_statistics(const Split& split, Tree& tree) {
  const std::size_t n_nodes = tree.n_nodes();
  const std::size_t n_classes = rows_.n_classes();
  shares_ = rows_.shares(groups_, n_nodes);
  tree.values = shares_;
  tree.impurity.assign(n_nodes, 0.0);
  tree.weight.assign(n_nodes, 0.0);
  tree.n_rows.assign(n_nodes, 0);
  tree.n_rows[0] = static_cast<std::int64_t>(target_.n_rows);
  if (n_nodes > 1) {
    count_rows(split, tree.n_rows);
    for (std::size_t code = 0; code < n_classes; ++code) {
      tree.values[code] = tree.values[n_classes + code] + tree.values[2 * n_classes + code];
    }
  }
  for (std::size_t node = 0; node < n_nodes; ++node) {
    const std::span<double> values(tree.values.data() + node * n_classes, n_classes);
    for (const double value : values) tree.weight[node] += value;
    for (double& value : values) value /= tree.weight[node];
    tree.impurity[node] = class_impurity(options_.criterion, values);
  }
}

}  // namespace committee
