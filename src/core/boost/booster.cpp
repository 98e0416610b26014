#include "boost/booster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/thread_pool.hpp"
#include "boost/boost_search.hpp"
#include "boost/boost_state.hpp"
#include "boost/gradient_histogram.hpp"
#include "boost/gradient_rows.hpp"
#include "boost/node_features.hpp"
#include "boost/node_rows.hpp"
#include "boost/node_steps.hpp"
#include "boost/row_counts.hpp"
#include "tree/step.hpp"

namespace committee {

class Booster::Grower {
 public:
  Grower(BoostState& state, const BoostRound& round, Monitor& monitor)
      : state_(state),
        options_(state.options),
        round_(round),
        monitor_(monitor),
        n_threads_(round.gradients.size() >= kParallelRows ? state.options.n_threads : 1),
        weights_{state.weights, state.are_repetitions},
        features_(state.columns, state.dataset.n_features(), state.options, round.seed) {
    fill_gradient_rows(round.gradients, round.hessians, weights_, round.sample, n_threads_,
                       state.gradients);
  }

  Tree grow() {
    const BoostSearch search(state_.dataset, state_.columns, options_, state_.gradients);
    search_ = &search;
    mark_used();
    Leaf root;
    root.range = state_.rows.start(state_.gradients.packed, state_.counts, state_.used);
    if (root.n_rows() == 0) throw std::invalid_argument("no row has a positive weight");
    if (state_.sorted) {
      for (const std::int64_t packed : state_.gradients.packed) root.node.total += packed;
      start_sorted(root.range);
    } else {
      root.histogram = take_histogram();
      build(root);
      root.node.total = sum_of_rows(root.histogram);
    }
    tree_.n_features = static_cast<std::uint32_t>(state_.dataset.n_features());
    tree_.nodes.resize(1);
    bounds_.resize(1);
    root.node.n_rows = root.n_rows();
    root.may_split = is_splittable(root);
    open({&root, 1});
    while (!heap_.empty()) split_next();
    find_leaves();
    fill_tree();
    return std::move(tree_);
  }

 private:
  // A node that is not split.
  struct Leaf {
    NodeRange range;
    std::uint32_t index = 0;  // in the tree
    std::uint32_t depth = 0;
    std::size_t serial = 0;
    bool may_split = true;
    BoostNode node;
    GradientHistogram histogram;
    BoostSplit split;
    std::vector<std::uint32_t> path;  // features above it, where interactions are limited

    std::size_t n_rows() const { return range.size(); }
  };

  // ---- rows ----

  // A pass over fewer rows costs less than waking a thread.
  static constexpr std::size_t kParallelRows = std::size_t{1} << 14;

  double weight(std::size_t row) const {
    return weights_.weights.empty() ? 1.0 : weights_.weights[row];
  }

  // Whether the tree learns from a row.
  bool is_used(std::size_t row) const {
    return (round_.sample.empty() || round_.sample[row] != 0) && weight(row) > 0.0;
  }

  void mark_used() {
    std::vector<std::uint8_t>& used = state_.used;
    used.clear();
    const std::size_t n_rows = state_.dataset.n_rows();
    double total = static_cast<double>(n_rows);
    if (!round_.sample.empty() || !weights_.weights.empty()) {
      total = 0.0;
      used.resize(n_rows);
      bool has_all = true;
      for (std::size_t row = 0; row < n_rows; ++row) {
        used[row] = is_used(row) ? 1 : 0;
        has_all = has_all && used[row] != 0;
        total += used[row] * weight(row);
      }
      if (has_all) used.clear();
    }
    int exponent = 0;
    std::frexp(total, &exponent);
    weight_scale_ = std::ldexp(1.0, -exponent);
  }

  // ---- histograms ----

  GradientHistogram take_histogram() {
    if (state_.histograms.empty()) return {};
    GradientHistogram histogram = std::move(state_.histograms.back());
    state_.histograms.pop_back();
    return histogram;
  }
  void give_back(GradientHistogram histogram) {
    if (histogram.capacity() > 0) state_.histograms.push_back(std::move(histogram));
  }

  void build(Leaf& leaf) {
    build_histogram(state_.records, state_.gradients.packed, state_.rows.entries(leaf.range),
                    {options_.n_threads, monitor_}, leaf.histogram, state_.spare);
  }

  // ---- splits ----

  bool is_splittable(const Leaf& leaf) const {
    if (leaf.depth >= options_.max_depth || leaf.n_rows() < 2) return false;
    const std::int64_t least = std::max(options_.min_rows_split, 2 * options_.min_rows_leaf);
    // No row counts less than one.
    return static_cast<std::int64_t>(leaf.n_rows()) >= least || n_counted(leaf) >= least;
  }

  // Rows with their repetitions.
  std::int64_t n_counted(const Leaf& leaf) const {
    if (state_.counts.empty()) return static_cast<std::int64_t>(leaf.n_rows());
    std::int64_t n_rows = 0;
    state_.rows.for_each(leaf.range, [&](std::size_t, std::uint32_t count) { n_rows += count; });
    return n_rows;
  }

  // Whether both sides have enough rows. Mostly the hessians say so.
  bool has_enough_rows(const Leaf& leaf, const BoostSplit& split, RowCounts& rows) const {
    if (state_.gradients.counts_rows || options_.min_rows_leaf <= 1) return true;
    const bool is_left_sure = search_->has_enough_rows(split.left);
    const bool is_right_sure = search_->has_enough_rows(leaf.node.total - split.left);
    if (is_left_sure && is_right_sure) return true;
    const CodeColumn& column = state_.columns.column(split.feature);
    const SideOfCode sides = split.sides(column);
    const std::vector<std::uint32_t> counts = rows.by_code(column);
    std::int64_t n_left = 0;
    std::int64_t n_rows = 0;
    for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
      n_rows += counts[code];
      n_left += sides[code] * std::int64_t{counts[code]};
    }
    return n_left >= options_.min_rows_leaf && n_rows - n_left >= options_.min_rows_leaf;
  }

  // Rows are counted only where the best split might have too few of them: a feature whose best
  // split has too few is looked at again with counts.
  void find_split(Leaf& leaf) const {
    if (state_.sorted) return find_exact_split(leaf);
    BoostSplit& best = leaf.split;
    BoostSplit better;  // of one feature; keeps its memory for the next
    std::array<std::int64_t, kGradientCells> scratch;
    RowCounts rows(state_.rows, leaf.range, state_.dataset.n_rows());
    const BoostSearch::Screen screen = search_->screen_of(leaf.node);
    for (const std::uint32_t feature : features_.of_node(leaf.index, leaf.depth, leaf.path)) {
      if (leaf.n_rows() >= kParallelRows) monitor_.check();
      if (!state_.too_rare.empty() && state_.too_rare[feature] != 0) continue;
      if (const std::int64_t* const own = lone_cell(state_.records, leaf.histogram, feature)) {
        if (!search_->may_beat(screen, leaf.node, *own, feature, best.gain)) continue;
      }
      const std::int64_t* const cells =
          feature_cells(state_.records, leaf.histogram, feature, leaf.node.total, scratch.data());
      better.gain = best.gain;
      if (!search_->try_feature(cells, leaf.node, feature, {}, better)) continue;
      if (!has_enough_rows(leaf, better, rows)) {
        better.gain = best.gain;
        const auto counts = rows.by_code(state_.columns.column(feature));
        if (!search_->try_feature(cells, leaf.node, feature, counts, better)) continue;
      }
      std::swap(best, better);
    }
    if (best.gain * search_->gain_unit() < options_.min_gain) best = {};
  }

  // ---- exact splits ----

  void start_sorted(const NodeRange& root) {
    std::fill(state_.marks.begin(), state_.marks.end(), std::uint8_t{0});
    state_.rows.for_each(root, [&](std::size_t row, std::uint32_t) { state_.marks[row] = 1; });
    state_.sorted->start(state_.marks, n_threads_, monitor_);
  }

  // Features side by side, compared in order.
  void find_exact_split(Leaf& leaf) const {
    const std::vector<std::uint32_t> features =
        features_.of_node(leaf.index, leaf.depth, leaf.path);
    std::vector<BoostSplit> splits(features.size());
    constexpr std::size_t kParallelVisits = std::size_t{1} << 17;
    const bool is_large = leaf.n_rows() * features.size() >= kParallelVisits;
    parallel_for(
        features.size(), is_large ? options_.n_threads : 1,
        [&](std::size_t i) {
          if (state_.sorted->has(features[i])) {
            search_->try_sorted(state_.sorted->rows(features[i], leaf.range.begin, leaf.range.end),
                                leaf.node, features[i], state_.counts, splits[i]);
          } else {
            try_levels(leaf, features[i], splits[i]);
          }
        },
        &monitor_);
    for (BoostSplit& split : splits) {
      if (split.gain > leaf.split.gain) leaf.split = std::move(split);
    }
    if (leaf.split.gain * search_->gain_unit() < options_.min_gain) leaf.split = {};
  }

  void try_levels(const Leaf& leaf, std::uint32_t feature, BoostSplit& split) const {
    std::array<std::int64_t, kGradientCells> cells{};
    const FeatureCodes codes = state_.columns.codes(feature);
    state_.rows.for_each(leaf.range, [&](std::size_t row, std::uint32_t) {
      cells[codes[row]] += state_.gradients.packed[row];
    });
    RowCounts rows(state_.rows, leaf.range, state_.dataset.n_rows());
    search_->try_feature(cells.data(), leaf.node, feature,
                         rows.by_code(state_.columns.column(feature)), split);
  }

  std::size_t divide_exactly(const Leaf& leaf) {
    const CodeColumn& column = state_.columns.column(leaf.split.feature);
    state_.rows.for_each(leaf.range, [&](std::size_t row, std::uint32_t) {
      state_.marks[row] = leaf.split.sends_left(column, row) ? 1 : 0;
    });
    state_.sorted->divide(leaf.range.begin, leaf.range.end, state_.marks, n_threads_, monitor_);
    return state_.rows.divide(leaf.range, state_.marks.data(), SideOfCode{0, 1}, n_threads_);
  }

  // ---- growth ----

  // The order of the heap: the leaf to split next is on top.
  struct IsLater {
    Growth growth;
    bool operator()(const Leaf& a, const Leaf& b) const {
      if (growth == Growth::kBestFirst && a.split.gain != b.split.gain) {
        return a.split.gain < b.split.gain;
      }
      if (growth == Growth::kLevelWise && a.depth != b.depth) return a.depth > b.depth;
      return growth == Growth::kDepthFirst ? a.serial < b.serial : a.serial > b.serial;
    }
  };

  // Looks for the splits of new nodes, side by side where the search of one does not itself use all
  // threads.
  void open(std::span<Leaf> leaves) {
    monitor_.check();
    const auto may_split = [](const Leaf& leaf) { return leaf.may_split; };
    // In small tables the search of a node costs less than waking a thread.
    constexpr std::size_t kManyRows = 4096;
    const bool is_shared = !state_.sorted && options_.n_threads > 1 &&
                           state_.dataset.n_rows() >= kManyRows &&
                           std::all_of(leaves.begin(), leaves.end(), may_split);
    if (is_shared) {
      const auto find = [&](std::size_t i) { find_split(leaves[i]); };
      parallel_for(leaves.size(), options_.n_threads, find, &monitor_);
    }
    for (Leaf& leaf : leaves) {
      if (!is_shared && leaf.may_split) find_split(leaf);
      leaf.serial = n_opened_++;
      wait_or_close(std::move(leaf));
    }
  }

  void wait_or_close(Leaf leaf) {
    if (!leaf.split.exists()) return close(std::move(leaf));
    heap_.push_back(std::move(leaf));
    std::push_heap(heap_.begin(), heap_.end(), is_later_);
  }

  void close(Leaf leaf) {
    give_back(std::move(leaf.histogram));
    leaf.histogram = {};
    closed_.push_back(std::move(leaf));
  }

  void split_next() {
    std::pop_heap(heap_.begin(), heap_.end(), is_later_);
    Leaf leaf = std::move(heap_.back());
    heap_.pop_back();
    if (options_.max_leaf_nodes > 0 && n_leaves_ >= options_.max_leaf_nodes) {
      return close(std::move(leaf));
    }
    ++n_leaves_;
    const BoostSplit& split = leaf.split;
    const SideOfCode sides = split.sides(state_.columns.column(split.feature));
    const std::size_t n_left =
        state_.sorted ? divide_exactly(leaf)
                      : state_.rows.divide(leaf.range, state_.columns.codes(split.feature).get(),
                                           sides, n_threads_);
    write_split(leaf, sides);
    std::array<Leaf, 2> children{child_of(leaf, 0), child_of(leaf, 1)};
    auto& [left, right] = children;
    const NodeRange::Place place = NodeRows::after(leaf.range.place);
    const std::size_t middle = leaf.range.begin + n_left;
    left.range = {leaf.range.begin, middle, place};
    right.range = {middle, leaf.range.end, place};
    left.node.n_rows = left.n_rows();
    right.node.n_rows = right.n_rows();
    // The last leaves of a full tree are not looked at again.
    const bool is_full = options_.max_leaf_nodes > 0 && n_leaves_ >= options_.max_leaf_nodes;
    left.may_split = !is_full && is_splittable(left);
    right.may_split = !is_full && is_splittable(right);
    if (!state_.sorted) make_histograms(std::move(leaf.histogram), left, right);
    open(children);
  }

  // From the histogram of the parent, for children that may be split.
  void make_histograms(GradientHistogram parent, Leaf& left, Leaf& right) {
    Leaf& smaller = left.n_rows() <= right.n_rows() ? left : right;
    Leaf& larger = left.n_rows() <= right.n_rows() ? right : left;
    // Few more rows are added sooner than a table is taken off another.
    constexpr std::size_t kFewRows = 128;
    const bool is_close = larger.n_rows() - smaller.n_rows() < kFewRows;
    const bool subtracts = larger.may_split && (smaller.may_split || !is_close);
    if (smaller.may_split || subtracts) {
      smaller.histogram = take_histogram();
      build(smaller);
    }
    if (subtracts) {
      larger.histogram = std::move(parent);
      subtract_histogram(larger.histogram, smaller.histogram);
    } else {
      give_back(std::move(parent));
      if (!larger.may_split) return;
      larger.histogram = take_histogram();
      build(larger);
    }
  }

  Leaf child_of(const Leaf& leaf, std::uint32_t side) const {
    Leaf child;
    const BoostSplit& split = leaf.split;
    child.index = tree_.nodes[leaf.index].first_child + side;
    child.depth = leaf.depth + 1;
    child.node.total = side == 0 ? split.left : leaf.node.total - split.left;
    child.node.bounds = leaf.node.bounds.of_child(side, options_.monotonic_of(split.feature),
                                                  split.left_value, split.right_value);
    if (!options_.interactions.empty()) {
      child.path = leaf.path;
      child.path.push_back(split.feature);
    }
    return child;
  }

  // ---- the tree ----

  void write_split(const Leaf& leaf, const SideOfCode& sides) {
    const BoostSplit& split = leaf.split;
    const BinnedFeature& feature = state_.dataset.feature(split.feature);
    Node node;
    node.first_child = static_cast<std::uint32_t>(tree_.nodes.size());
    if (split.is_category) {
      std::vector<std::uint32_t> leaving;
      for (std::uint32_t level = 0; level < feature.column.n_values; ++level) {
        const std::uint32_t code = state_.columns.code_of_level(split.feature, level);
        if ((sides[code] != 0) != split.missing_goes_left) leaving.push_back(level);
      }
      node.set_split(split.feature, SplitKind::kSubset, split.missing_goes_left);
      node.threshold.offset = tree_.category_data.size();
      const std::vector<std::uint32_t> data = subset_data(std::move(leaving));
      tree_.category_data.insert(tree_.category_data.end(), data.begin(), data.end());
    } else {
      node.set_threshold(split.feature, feature.kind, threshold_of(split, feature),
                         split.missing_goes_left);
    }
    tree_.nodes[leaf.index] = node;
    tree_.nodes.resize(tree_.nodes.size() + 2);
    bounds_[leaf.index] = leaf.node.bounds;
    bounds_.resize(tree_.nodes.size());
  }

  Value threshold_of(const BoostSplit& split, const BinnedFeature& feature) const {
    if (state_.sorted && split.first_right_row != kNoCode) {
      return middle(feature.kind, state_.dataset.high(split.feature, split.last_left_row),
                    state_.dataset.low(split.feature, split.first_right_row));
    }
    if (!state_.sorted && split.last_left + 1 < feature.column.n_values) {
      return middle(feature.kind, feature.high[split.last_left], feature.low[split.last_left + 1]);
    }
    return highest_value(feature.kind);
  }

  void fill_tree() {
    tree_.n_rows.assign(tree_.nodes.size(), 0);
    for (const Leaf& leaf : closed_) {
      tree_.n_rows[leaf.index] = n_counted(leaf);
      bounds_[leaf.index] = leaf.node.bounds;
    }
    const GradientRows& grids = state_.gradients;
    const StepRows rows{round_.gradients, round_.hessians, weights_.weights,
                        state_.used,      state_.leaves,   weight_scale_};
    const StepRules rules{round_.learning_rate, options_.l1, options_.l2, bounds_,
                          std::ldexp(1.0, grids.hessian_exponent - grids.gradient_exponent)};
    fill_steps(rows, rules, n_threads_, tree_);
  }

  // ---- where rows went ----

  // Parts of the table side by side: rows ascend in every leaf.
  void find_leaves() {
    const std::size_t n_rows = state_.dataset.n_rows();
    constexpr std::size_t kMinRows = 16384;
    constexpr std::size_t kMostRows = std::size_t{1} << 18;  // rows that walk take their time
    const std::size_t n_parts = chunk_count(n_rows, kMinRows, n_threads_) + n_rows / kMostRows;
    parallel_parts(
        n_parts, n_threads_,
        [&](std::size_t part) { find_leaves_of(chunk_range(n_rows, n_parts, part)); }, &monitor_);
  }

  void find_leaves_of(Range part) {
    AlignedVector<std::uint32_t>& leaves = state_.leaves;
    for (const Leaf& leaf : closed_) {
      if (leaf.range.place == NodeRange::Place::kTable) {
        std::fill(leaves.begin() + static_cast<std::ptrdiff_t>(part.begin),
                  leaves.begin() + static_cast<std::ptrdiff_t>(part.end), leaf.index);
      }
      const std::span<const RowEntry> entries = state_.rows.entries(leaf.range);
      const auto is_before = [](const RowEntry& entry, std::size_t row) { return entry.row < row; };
      auto entry = std::lower_bound(entries.begin(), entries.end(), part.begin, is_before);
      for (; entry != entries.end() && entry->row < part.end; ++entry) {
        leaves[entry->row] = leaf.index;
      }
    }
    if (state_.used.empty()) return;
    for (std::size_t row = part.begin; row < part.end; ++row) {
      if (state_.used[row] == 0) leaves[row] = walk(row);
    }
  }

  // By value: rows that are not learnt from may have values between the codes.
  std::uint32_t walk(std::size_t row) const {
    std::uint32_t node = 0;
    const TableCells cells{state_.dataset.table()};
    while (!tree_.nodes[node].is_leaf()) node = next_node(tree_, tree_.nodes[node], cells, row);
    return node;
  }

  BoostState& state_;
  const BoostOptions& options_;
  const BoostRound& round_;
  Monitor& monitor_;
  std::size_t n_threads_;  // of a pass over the rows
  RowWeights weights_;
  double weight_scale_ = 1.0;  // a power of two
  const BoostSearch* search_ = nullptr;
  NodeFeatures features_;
  Tree tree_;
  std::vector<Bounds> bounds_;  // of each node
  const IsLater is_later_{options_.growth};
  std::vector<Leaf> heap_;
  std::vector<Leaf> closed_;
  std::size_t n_opened_ = 0;
  std::size_t n_leaves_ = 1;
};

const BinnedDataset& Booster::checked(const BinnedDataset& dataset) {
  if (dataset.n_features() == 0) throw std::invalid_argument("a table needs at least one feature");
  return dataset;
}

Booster::Booster(const BinnedDataset& dataset, const BoostOptions& options,
                 std::span<const double> weights)
    : state_(std::make_unique<BoostState>(checked(dataset), options, weights)) {}

Booster::~Booster() = default;
Booster::Booster(Booster&&) noexcept = default;

void Booster::weigh(std::span<const double> weights) { state_->weigh(weights); }

Tree Booster::grow(const BoostRound& round, Monitor& monitor) {
  return Grower(*state_, round, monitor).grow();
}

std::span<const std::uint32_t> Booster::leaves() const { return state_->leaves; }

}  // namespace committee
