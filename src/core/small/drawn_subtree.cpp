#include "small/drawn_subtree.hpp"

#include <array>
#include <bit>
#include <vector>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "score/record_columns.hpp"
#include "score/small_levels.hpp"
#include "small/bit_rows.hpp"
#include "small/code_bits.hpp"
#include "small/drawn_split.hpp"

namespace committee {
namespace {

// The larger child takes what the node has never seen.
template <typename State>
COMMITTEE_INLINE bool is_left_larger(const State& state, const DrawnSplit& split) {
  return split.left_weight > static_cast<double>(state.rows.weight()) - split.left_weight;
}

template <typename State>
COMMITTEE_INLINE Node make_node(const State& state, const DrawnSplit& split) {
  Node node;
  const bool is_integer = state.cuts[split.feature].is_integer();
  node.set_threshold(split.feature, is_integer ? FeatureKind::kInteger : FeatureKind::kReal,
                     split.threshold, is_left_larger(state, split));
  return node;
}

// Where the levels of the node's rows go.
template <typename State>
COMMITTEE_INLINE Node make_subset_node(const State& state, const DrawnSplit& split, RowBits right,
                                       std::vector<std::uint32_t>& category_data) {
  const CodeColumn& column = state.data.dataset->feature(split.feature).column;
  const std::uint8_t* const codes = state.records + split.feature;
  bool default_left = is_left_larger(state, split);
  // A missing value is a level of its own, the last one, and what the node has never seen goes
  // with it.
  if (column.has_missing && state.largest[split.feature] == column.missing_code()) {
    for_each_bit(split.left | right, [&](std::size_t row) __attribute__((always_inline)) {
      const bool is_left = (split.left >> row & 1) != 0;
      default_left = codes[row * state.stride] == column.missing_code() ? is_left : default_left;
    });
  }
  std::array<std::uint8_t, kSmallNodeRows> leaving;
  std::size_t n_leaving = 0;
  for_each_bit(default_left ? right : split.left,
               [&](std::size_t row) __attribute__((always_inline)) {
                 leaving[n_leaving++] = codes[row * state.stride];
               });
  Node node;
  node.threshold.offset = category_data.size();
  append_subset(LevelSet(leaving.data(), n_leaving, column.n_codes()).words(), category_data);
  node.set_split(split.feature, SplitKind::kSubset, default_left);
  return node;
}

// Whether the rows of the subtree can be told apart by their codes alone.
template <typename State>
COMMITTEE_INLINE bool load_subtree(State& state, const SubtreeRoot& root) {
  const std::size_t n_rows = root.end - root.begin;
  if (!state.rows.prepare(root.block->statistics, root.begin, n_rows)) return false;
  state.records = root.block->records.get() + root.begin * state.stride;
  for (const std::uint32_t feature : state.may_miss) {
    const std::uint32_t missing = state.data.dataset->feature(feature).column.missing_code();
    for (std::size_t i = 0; i < n_rows; ++i) {
      if (state.records[i * state.stride + feature] == missing) return false;
    }
  }
  if (n_rows > kFewRows) {
    transpose_records(state.records, state.stride, n_rows, state.columns.data());
  }
  return true;
}

// The rows of leaves, one leaf after the other; room to write a few too many.
class LeafOrder {
 public:
  COMMITTEE_INLINE void add(RowBits leaf) {
    const auto end = n_rows_ + static_cast<std::size_t>(std::popcount(leaf));
    while (leaf != 0) {
      for (const std::size_t row : take_rows(leaf)) {
        rows_[n_rows_++] = static_cast<std::uint8_t>(row);
      }
    }
    n_rows_ = end;
  }
  // Rows that are put in order later.
  COMMITTEE_INLINE void skip(RowBits open) { add(open); }

  COMMITTEE_INLINE void write(const std::uint32_t* entries, std::uint32_t* out) const {
    for (std::size_t i = 0; i < n_rows_; ++i) out[i] = entries[rows_[i]];
  }

 private:
  std::array<std::uint8_t, kSmallNodeRows + kFewRows> rows_;
  std::size_t n_rows_ = 0;
};

void leave_open(const SubtreeRoot& root, const OpenBits& node, std::vector<CoarseNode>& coarse) {
  CoarseNode open{{}, node.index, node.depth, node.key};
  for_each_bit(node.rows, [&](std::size_t row) {
    open.rows.push_back(static_cast<std::uint32_t>(root.begin + row));
  });
  coarse.push_back(std::move(open));
}

template <typename State>
COMMITTEE_INLINE bool grow_subtree(State& state, const SubtreeRoot& root, Piece& piece,
                                   std::span<std::uint32_t> order,
                                   std::vector<CoarseNode>& coarse) {
  if (!load_subtree(state, root)) return false;
  LeafOrder leaves;
  std::size_t n_open = 0;
  const RowBits all = ~RowBits{0} >> (kSmallNodeRows - (root.end - root.begin));
  state.stack[n_open++] = {all, root.key, static_cast<std::uint32_t>(root.index), root.depth};
  while (n_open > 0) {
    const OpenBits node = state.stack[--n_open];
    state.rows.start(node.rows);
    const bool is_single = (node.rows & (node.rows - 1)) == 0;
    if (is_single || node.depth >= state.options.max_depth ||
        static_cast<double>(state.rows.weight()) < state.least_weight) {
      leaves.add(node.rows);
      continue;
    }
    if (state.rows.is_too_coarse()) {
      leave_open(root, node, coarse);
      leaves.skip(node.rows);
      continue;
    }
    DrawnSplit split;
    if (!state.rows.is_pure()) {
      const bool is_few = static_cast<std::size_t>(std::popcount(node.rows)) <= kFewRows;
      split = is_few ? find_split(state, FewRowsNode<State>(state, node.rows), node.rows, node.key)
                     : find_split(state, ColumnsNode<State>(state, node.rows), node.rows, node.key);
    }
    if (split.left == 0) {
      leaves.add(node.rows);
      continue;
    }
    const RowBits right_rows = node.rows & ~split.left;
    piece.nodes[node.index].node =
        state.splits_levels(split.feature)
            ? make_subset_node(state, split, right_rows, piece.category_data)
            : make_node(state, split);
    const std::uint32_t first_child =
        piece.add_children(node.index, static_cast<std::size_t>(std::popcount(split.left)));
    state.stack[n_open++] = {right_rows, derive_key(node.key, 1), first_child + 1, node.depth + 1};
    state.stack[n_open++] = {split.left, derive_key(node.key, 0), first_child, node.depth + 1};
  }
  leaves.write(root.block->entries.data() + root.begin,
               order.data() + piece.nodes[root.index].begin);
  return true;
}

template <typename State>
COMMITTEE_AVX2 bool grow_avx2(State& state, const SubtreeRoot& root, Piece& piece,
                              std::span<std::uint32_t> order, std::vector<CoarseNode>& coarse) {
  return grow_subtree(state, root, piece, order, coarse);
}

template <typename State>
bool grow_plain(State& state, const SubtreeRoot& root, Piece& piece, std::span<std::uint32_t> order,
                std::vector<CoarseNode>& coarse) {
  return grow_subtree(state, root, piece, order, coarse);
}

template <typename State>
class DrawnGrower final : public SubtreeGrower {
 public:
  DrawnGrower(const FitData& data, const GrowOptions& options) : state_(data, options) {}

  bool grow(const SubtreeRoot& root, Piece& piece, std::span<std::uint32_t> order,
            std::vector<CoarseNode>& coarse) override {
    return uses_avx2() ? grow_avx2(state_, root, piece, order, coarse)
                       : grow_plain(state_, root, piece, order, coarse);
  }

 private:
  State state_;
};

template <typename Rows>
std::unique_ptr<SubtreeGrower> make_for(const FitData& data, const GrowOptions& options) {
  if (!Rows::serves(data, options)) return nullptr;
  if (has_categories(*data.dataset)) {
    return std::make_unique<DrawnGrower<DrawnState<Rows, true>>>(data, options);
  }
  return std::make_unique<DrawnGrower<DrawnState<Rows, false>>>(data, options);
}

}  // namespace

std::unique_ptr<SubtreeGrower> make_drawn_subtree_grower(const FitData& data,
                                                         const GrowOptions& options) {
  if (auto grower = make_for<BinaryBits<Criterion::kGini>>(data, options)) return grower;
  if (auto grower = make_for<BinaryBits<Criterion::kEntropy>>(data, options)) return grower;
  if (auto grower = make_for<ClassBits>(data, options)) return grower;
  return make_for<SquaredBits>(data, options);
}

}  // namespace committee
