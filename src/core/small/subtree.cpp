#include "small/subtree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "score/record_columns.hpp"
#include "score/small_cuts.hpp"
#include "score/small_levels.hpp"
#include "small/drawn_subtree.hpp"
#include "small/subtree_rows.hpp"
#include "split/splitter.hpp"

namespace committee {
namespace {

// ---- the codes of the subtree's rows ----

// out[i] = column[lanes[i]]
COMMITTEE_INLINE void take(const std::uint8_t* column, const Lanes& lanes, std::size_t n_rows,
                           std::uint8_t* out) {
  Bytes low;
  Bytes high;
  load(column, low);
  load(column + SmallNode::kLanes, high);
  for (std::size_t first = 0; first < n_rows; first += SmallNode::kLanes) {
    Bytes which;
    load(lanes.data() + first, which);
    const Bytes taken = __builtin_shuffle(low, high, which);
    std::memcpy(out + first, &taken, sizeof(taken));
  }
}

// The rows order[0] ... order[n_rows - 1]; lanes beyond them repeat the first. `order` has room for
// kRows rows from there on.
COMMITTEE_INLINE void take_lanes(const std::uint8_t* order, std::size_t n_rows, Lanes& lanes) {
  Bytes position;
  for (std::size_t i = 0; i < SmallNode::kLanes; ++i) position[i] = static_cast<std::uint8_t>(i);
  const Bytes first_row = Bytes{} + order[0];
  for (std::size_t first = 0; first < kRows; first += SmallNode::kLanes) {
    Bytes own;
    load(order + first, own);
    const auto n_left = static_cast<std::uint8_t>(n_rows > first ? n_rows - first : 0);
    own = position < n_left ? own : first_row;
    std::memcpy(lanes.data() + first, &own, sizeof(own));
  }
}

COMMITTEE_INLINE bool differ(const std::uint8_t* codes, std::size_t n_rows) {
  const Bytes first_code = Bytes{} + codes[0];
  for (std::size_t first = 0; first < n_rows; first += SmallNode::kLanes) {
    Bytes own;
    load(codes + first, own);
    if (has_any(reinterpret_cast<Ints>(own != first_code))) return true;
  }
  return false;
}

// ---- the subtree ----

// An open node: its rows are order[begin] ... order[end - 1].
struct OpenRows {
  std::uint8_t begin = 0;
  std::uint8_t end = 0;
  std::uint32_t index = 0;  // in the piece
  std::uint32_t depth = 0;
  std::uint64_t key = 0;
};

// The rules of subtrees, and their working memory. Tables without categories are grown
// by code that knows nothing of them.
template <typename RowsOfNode, bool kCategories>
struct SubtreeState : SubtreeRules {
  using Rows = RowsOfNode;
  static constexpr bool kHasCategories = kCategories;

  SubtreeState(const FitData& fit_data, const GrowOptions& grow_options)
      : SubtreeRules(fit_data, grow_options) {
    columns.resize(data.records->stride * kRows);
  }

  FeatureDraw draw;
  Rows rows;
  std::vector<std::uint8_t> columns;
  std::array<std::uint8_t, 2 * kRows> order{};  // rows of the subtree, each node's side by side
  std::array<OpenRows, kRows> stack;
  alignas(32) Lanes sides;  // of the node's rows where levels are split; 0: left

  const std::uint8_t* column(std::uint32_t feature) const {
    return columns.data() + feature * kRows;
  }
};

struct SmallSplit {
  ByteCut cut{.score = -std::numeric_limits<double>::infinity()};
  std::uint32_t feature = 0;
};

// Looks at the subsets of the levels of a category. Rows up to `last_left` go left by their sides.
template <typename State>
COMMITTEE_INLINE void try_levels(State& state, const Lanes& codes, std::size_t n_rows,
                                 std::uint32_t feature, SmallSplit& best) {
  if (!differ(codes.data(), n_rows)) return;
  const std::size_t n_codes = state.data.dataset->feature(feature).column.n_codes();
  const auto weight = static_cast<double>(state.rows.weight());
  SubsetLimits limits{state.min_weight, 0.0, best.cut.score};
  if (state.options.level_penalty > 0.0) {
    limits.penalty = level_price(state.options.level_penalty, state.rows.impurity(), weight,
                                 LevelSet(codes.data(), n_rows, n_codes).size());
    // Many levels may cost more than any split can gain.
    constexpr double kSlack = 1e-9;
    const double highest = state.rows.highest_score();
    if (highest - limits.penalty + kSlack * (highest + weight) < best.cut.score) return;
  }
  ByteCut cut = state.rows.best_subset(codes.data(), limits, state.sides);
  if (!cut.exists || !(cut.score > best.cut.score)) return;
  cut.last_left = 0;
  best = {cut, feature};
}

// Looks for the best split of a node whose rows are `lanes`.
template <typename State>
COMMITTEE_INLINE SmallSplit find_split(State& state, const Lanes& lanes, std::size_t n_rows,
                                       std::uint64_t key) {
  alignas(32) Lanes codes;
  SmallSplit best;
  const auto try_feature = [&](std::uint32_t feature) __attribute__((always_inline)) {
    take(state.column(feature), lanes, n_rows, codes.data());
    if constexpr (State::kHasCategories) {
      if (state.is_category[feature] != 0) return try_levels(state, codes, n_rows, feature, best);
    }
    if (!differ(codes.data(), n_rows)) return;
    const ByteCut cut = state.rows.best_cut(codes.data(), state.min_weight, best.cut.score);
    if (cut.exists && cut.score > best.cut.score) best = {cut, feature};
  };
  state.draw.draw(
      key, state.data.dataset->n_features(), state.options,
      [&](std::uint32_t feature)
          __attribute__((always_inline)) { return state.has_codes[feature] != 0; },
      [&](std::uint32_t feature) __attribute__((always_inline)) {
        take(state.column(feature), lanes, n_rows, codes.data());
        return differ(codes.data(), n_rows);
      },
      [&](std::span<const std::uint32_t> features) __attribute__((always_inline)) {
        for (const std::uint32_t feature : features) {
          try_feature(feature);
          // Two rows can be divided in one way only: the first feature that does so is the best.
          if (n_rows == 2 && best.cut.exists) break;
        }
        return best.cut.exists;
      });
  return best;
}

// The larger child takes what the node has never seen.
COMMITTEE_INLINE bool is_left_larger(const ByteCut& cut, std::int64_t weight) {
  return cut.left_weight > static_cast<double>(weight) - cut.left_weight;
}

// The threshold of a split, between the codes next to the cut that occur in the node.
template <typename State>
COMMITTEE_INLINE Node make_node(const State& state, const SmallSplit& split,
                                const std::uint8_t* codes, std::size_t n_rows,
                                std::int64_t weight) {
  std::uint32_t last_left = 0;
  std::uint32_t first_right = kByteCodes;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::uint32_t code = codes[i];
    const bool is_left = code <= split.cut.last_left;
    last_left = is_left && code > last_left ? code : last_left;
    first_right = !is_left && code < first_right ? code : first_right;
  }
  const BinnedDataset& dataset = *state.data.dataset;
  const FeatureKind kind = dataset.feature(split.feature).kind;
  const Value threshold = middle(kind, dataset.high_of_code(split.feature, last_left),
                                 dataset.low_of_code(split.feature, first_right));
  Node node;
  node.set_threshold(split.feature, kind, threshold, is_left_larger(split.cut, weight));
  return node;
}

// Where the levels of the node's rows go.
template <typename State>
COMMITTEE_INLINE Node make_subset_node(const State& state, const SmallSplit& split,
                                       const std::uint8_t* codes, std::size_t n_rows,
                                       std::vector<std::uint32_t>& category_data) {
  const CodeColumn& column = state.data.dataset->feature(split.feature).column;
  const std::uint32_t missing = column.has_missing ? column.missing_code() : kByteCodes;
  bool default_left = is_left_larger(split.cut, state.rows.weight());
  // Missing values are a level of their own, and take what the node has never seen with them.
  for (std::size_t i = 0; i < n_rows; ++i) {
    default_left = codes[i] == missing ? state.sides[i] == 0 : default_left;
  }
  Lanes leaving;
  std::size_t n_leaving = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    leaving[n_leaving] = codes[i];
    n_leaving += (state.sides[i] == 0) != default_left ? 1 : 0;
  }
  Node node;
  node.threshold.offset = category_data.size();
  const LevelSet levels(leaving.data(), n_leaving, column.n_codes());
  append_subset(levels.words(), category_data);
  node.set_split(split.feature, SplitKind::kSubset, default_left);
  return node;
}

// Sends the rows of a node to its sides, keeping their order; returns the number on the left.
COMMITTEE_INLINE std::size_t divide_lanes(const Lanes& lanes, const std::uint8_t* codes,
                                          std::size_t n_rows, std::uint32_t last_left,
                                          std::uint8_t* order) {
  Lanes right;
  std::size_t n_left = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    order[n_left] = lanes[i];
    right[i - n_left] = lanes[i];
    n_left += codes[i] <= last_left ? 1 : 0;
  }
  for (std::size_t i = n_left; i < n_rows; ++i) order[i] = right[i - n_left];
  return n_left;
}

// Whether the rows of the subtree can be told by their codes alone.
template <typename State>
COMMITTEE_INLINE bool load_subtree(State& state, const SubtreeRoot& root) {
  const std::size_t n_rows = root.end - root.begin;
  if (!state.rows.prepare(root.block->statistics, root.begin, n_rows)) return false;
  const std::size_t stride = root.block->record_stride;
  transpose_records(root.block->records.get() + root.begin * stride, stride, n_rows,
                    state.columns.data());
  for (const std::uint32_t feature : state.may_miss) {
    const std::uint32_t missing = state.data.dataset->feature(feature).column.missing_code();
    const std::uint8_t* codes = state.column(feature);
    for (std::size_t i = 0; i < n_rows; ++i) {
      if (codes[i] == missing) return false;
    }
  }
  for (std::size_t i = 0; i < n_rows; ++i) state.order[i] = static_cast<std::uint8_t>(i);
  return true;
}

template <typename State>
void leave_open(const State& state, const SubtreeRoot& root, const OpenRows& node,
                std::vector<CoarseNode>& coarse) {
  CoarseNode open{{}, node.index, node.depth, node.key};
  for (std::size_t i = node.begin; i < node.end; ++i) {
    open.rows.push_back(static_cast<std::uint32_t>(root.begin + state.order[i]));
  }
  coarse.push_back(std::move(open));
}

template <typename State>
COMMITTEE_INLINE bool grow_subtree(State& state, const SubtreeRoot& root, Piece& piece,
                                   std::vector<CoarseNode>& coarse) {
  if (!load_subtree(state, root)) return false;
  std::size_t n_open = 0;
  state.stack[n_open++] = {0, static_cast<std::uint8_t>(root.end - root.begin),
                           static_cast<std::uint32_t>(root.index), root.depth, root.key};
  alignas(32) Lanes lanes;
  alignas(32) Lanes codes;
  while (n_open > 0) {
    const OpenRows node = state.stack[--n_open];
    const std::size_t n_rows = std::size_t{node.end} - node.begin;
    if (n_rows < 2 || node.depth >= state.options.max_depth) continue;
    std::uint8_t* const order = state.order.data() + node.begin;
    take_lanes(order, n_rows, lanes);
    state.rows.start(lanes, n_rows);
    if (static_cast<double>(state.rows.weight()) < state.least_weight) continue;
    if (state.rows.is_too_coarse()) {
      leave_open(state, root, node, coarse);
      continue;
    }
    if (state.rows.is_pure()) continue;
    state.rows.start_search();
    if constexpr (State::kHasCategories) state.rows.start_subsets();
    const SmallSplit split = find_split(state, lanes, n_rows, node.key);
    if (!split.cut.exists) continue;

    take(state.column(split.feature), lanes, n_rows, codes.data());
    const std::uint8_t* places = codes.data();
    Node& grown = piece.nodes[node.index].node;
    if (State::kHasCategories && state.is_category[split.feature] != 0) {
      grown = make_subset_node(state, split, codes.data(), n_rows, piece.category_data);
      places = state.sides.data();
    } else {
      grown = make_node(state, split, codes.data(), n_rows, state.rows.weight());
    }
    const std::size_t n_left = divide_lanes(lanes, places, n_rows, split.cut.last_left, order);
    const std::uint32_t first_child = piece.add_children(node.index, n_left);
    const auto middle_row = static_cast<std::uint8_t>(node.begin + n_left);
    state.stack[n_open++] = {middle_row, node.end, first_child + 1, node.depth + 1,
                             derive_key(node.key, 1)};
    state.stack[n_open++] = {node.begin, middle_row, first_child, node.depth + 1,
                             derive_key(node.key, 0)};
  }
  return true;
}

template <typename State>
COMMITTEE_AVX2 bool grow_avx2(State& state, const SubtreeRoot& root, Piece& piece,
                              std::vector<CoarseNode>& coarse) {
  return grow_subtree(state, root, piece, coarse);
}

template <typename State>
bool grow_plain(State& state, const SubtreeRoot& root, Piece& piece,
                std::vector<CoarseNode>& coarse) {
  return grow_subtree(state, root, piece, coarse);
}

template <typename State>
class RowsGrower final : public SubtreeGrower {
 public:
  RowsGrower(const FitData& data, const GrowOptions& options) : state_(data, options) {}

  bool grow(const SubtreeRoot& root, Piece& piece, std::span<std::uint32_t> order,
            std::vector<CoarseNode>& coarse) override {
    const std::uint32_t first = piece.nodes[root.index].begin;
    const bool is_grown = uses_avx2() ? grow_avx2(state_, root, piece, coarse)
                                      : grow_plain(state_, root, piece, coarse);
    if (!is_grown) return false;
    for (std::size_t i = 0; i < root.end - root.begin; ++i) {
      order[first + i] = root.block->entries[root.begin + state_.order[i]];
    }
    return true;
  }

 private:
  State state_;
};

template <typename Rows>
std::unique_ptr<SubtreeGrower> make_for(const FitData& data, const GrowOptions& options) {
  if (!Rows::serves(data, options)) return nullptr;
  if (has_categories(*data.dataset)) {
    return std::make_unique<RowsGrower<SubtreeState<Rows, true>>>(data, options);
  }
  return std::make_unique<RowsGrower<SubtreeState<Rows, false>>>(data, options);
}

// Subsets of levels, and thresholds such that a random one can be drawn from the codes.
bool has_plain_features(const BinnedDataset& dataset, const GrowOptions& options) {
  for (std::size_t i = 0; i < dataset.n_features(); ++i) {
    const BinnedFeature& feature = dataset.feature(i);
    if (feature.column.n_codes() < 2) continue;
    if (feature.kind == FeatureKind::kCategory) {
      if (options.fan_out_categories) return false;
      continue;
    }
    if (feature.low.empty()) return false;
    const bool is_finite = feature.kind == FeatureKind::kInteger ||
                           std::isfinite(feature.low.back().real - feature.high.front().real);
    if (options.random_thresholds && !is_finite) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<SubtreeGrower> make_subtree_grower(const FitData& data,
                                                   const GrowOptions& options) {
  const bool is_plain = data.records != nullptr && data.entries.weights_are_repetitions &&
                        options.max_leaf_nodes == 0 && options.monotonic.empty() &&
                        options.min_impurity_decrease <= 0.0 &&
                        has_plain_features(*data.dataset, options);
  if (!is_plain) return nullptr;
  if (options.random_thresholds) return make_drawn_subtree_grower(data, options);
  if (auto grower = make_for<BinaryRows<Criterion::kGini>>(data, options)) return grower;
  if (auto grower = make_for<BinaryRows<Criterion::kEntropy>>(data, options)) return grower;
  if (auto grower = make_for<ClassRows>(data, options)) return grower;
  return make_for<SquaredRows>(data, options);
}

}  // namespace committee
