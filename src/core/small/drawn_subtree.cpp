#include "small/drawn_subtree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/random.hpp"
#include "base/simd.hpp"
#include "score/record_columns.hpp"
#include "score/small_levels.hpp"
#include "small/bit_rows.hpp"
#include "split/drawn_cuts.hpp"
#include "split/splitter.hpp"

namespace committee {
namespace {

// ---- codes ----

// Bit i: lane i is not zero, where lanes are zero or all ones.
COMMITTEE_INLINE RowBits bits_of(const TileRow& lanes) {
#if defined(__x86_64__)
  return static_cast<RowBits>(_mm_movemask_epi8(reinterpret_cast<__m128i>(lanes)));
#else
  using Words = std::uint64_t __attribute__((vector_size(kTile)));
  const auto words = reinterpret_cast<Words>(lanes & 1);
  // The product moves byte k, 0 or 1, to bit k of the top byte.
  constexpr std::uint64_t kGather = 0x0102040810204080ULL;
  return (words[0] * kGather) >> 56 | ((words[1] * kGather) >> 56) << 8;
#endif
}

// The rows of a column of kSmallNodeRows codes whose code is at most `last`.
COMMITTEE_INLINE RowBits rows_up_to(const std::uint8_t* column, std::uint8_t last) {
  RowBits rows = 0;
  for (std::size_t i = 0; i < kSmallNodeRows; i += kTile) {
    TileRow codes;
    std::memcpy(&codes, column + i, kTile);
    const TileRow lasts = TileRow{} + last;
    const TileRow smaller = codes < lasts ? codes : lasts;
    rows |= bits_of(reinterpret_cast<TileRow>(smaller == codes)) << i;
  }
  return rows;
}

// The rows of such a column that have a code.
COMMITTEE_INLINE RowBits rows_with(const std::uint8_t* column, std::uint8_t code) {
  RowBits rows = 0;
  for (std::size_t i = 0; i < kSmallNodeRows; i += kTile) {
    TileRow codes;
    std::memcpy(&codes, column + i, kTile);
    rows |= bits_of(reinterpret_cast<TileRow>(codes == code)) << i;
  }
  return rows;
}

// The first four rows of a set, or the first one again where there are fewer. They are taken off:
// loops that go on for as many rounds as there are rows would be mispredicted in every node.
constexpr std::size_t kFewRows = 4;
using FewRows = std::array<std::size_t, kFewRows>;
COMMITTEE_INLINE FewRows take_rows(RowBits& rows) {
  FewRows taken;
  taken[0] = static_cast<std::size_t>(std::countr_zero(rows));
  rows &= rows - 1;
  for (std::size_t i = 1; i < kFewRows; ++i) {
    taken[i] = rows != 0 ? static_cast<std::size_t>(std::countr_zero(rows)) : taken[0];
    rows &= rows - 1;
  }
  return taken;
}

using WideRow = std::uint8_t __attribute__((vector_size(2 * kTile)));

// The smallest and the largest code of each of as many features as there are lanes.
template <typename Codes>
COMMITTEE_INLINE void add_ranges(const std::uint8_t* records, std::size_t stride, RowBits rows,
                                 std::uint8_t* smallest, std::uint8_t* largest) {
  Codes low;
  std::memcpy(&low, records + static_cast<std::size_t>(std::countr_zero(rows)) * stride,
              sizeof(Codes));
  Codes high = low;
  while (rows != 0) {
    for (const std::size_t row : take_rows(rows)) {
      Codes own;
      std::memcpy(&own, records + row * stride, sizeof(Codes));
      low = own < low ? own : low;
      high = own > high ? own : high;
    }
  }
  std::memcpy(smallest, &low, sizeof(Codes));
  std::memcpy(largest, &high, sizeof(Codes));
}

// ---- the subtree ----

struct OpenBits {
  RowBits rows = 0;
  std::uint64_t key = 0;
  std::uint32_t index = 0;  // in the piece
  std::uint32_t depth = 0;
};

// The rules of subtrees, and their working memory.
// Tables without categories are grown by code that knows nothing of them.
template <typename RowsOfNode, bool kCategories>
struct Workshop : SubtreeRules {
  using Rows = RowsOfNode;
  static constexpr bool kHasCategories = kCategories;

  Workshop(const FitData& fit_data, const GrowOptions& grow_options)
      : SubtreeRules(fit_data, grow_options),
        stride(fit_data.records->stride),
        cuts(make_drawn_cuts(*fit_data.dataset)) {
    columns.resize(stride * kSmallNodeRows);
    smallest.resize(stride);
    largest.resize(stride);
  }

  const std::size_t stride;  // of records
  const std::vector<DrawnCuts> cuts;
  FeatureDraw draw;
  Rows rows;
  const std::uint8_t* records = nullptr;  // of the subtree
  std::vector<std::uint8_t> columns;      // the same feature by feature, unless rows are few
  std::vector<std::uint8_t> smallest;     // code of the node, of each feature
  std::vector<std::uint8_t> largest;
  std::array<OpenBits, kSmallNodeRows> stack;

  COMMITTEE_INLINE bool splits_levels(std::uint32_t feature) const {
    return kHasCategories && is_category[feature] != 0;
  }
};

struct DrawnSplit {
  RowBits left = 0;  // none: no split
  Value threshold{.real = 0.0};
  double left_weight = 0.0;
  std::uint32_t cut = 0;  // see DrawnCuts
  std::uint32_t feature = 0;
};

template <typename Shop>
COMMITTEE_INLINE void find_ranges(Shop& shop, RowBits rows) {
  std::size_t feature = 0;
  for (; feature + sizeof(WideRow) <= shop.stride; feature += sizeof(WideRow)) {
    add_ranges<WideRow>(shop.records + feature, shop.stride, rows, shop.smallest.data() + feature,
                        shop.largest.data() + feature);
  }
  if (feature < shop.stride) {
    add_ranges<TileRow>(shop.records + feature, shop.stride, rows, shop.smallest.data() + feature,
                        shop.largest.data() + feature);
  }
}

// A node of up to kFewRows rows: they are compared one by one, without columns.
template <typename Shop>
class FewRowsNode {
 public:
  COMMITTEE_INLINE FewRowsNode(const Shop& shop, RowBits node)
      : shop_(shop), rows_(take_rows(node)) {}

  // The rows below a threshold; those of the largest code never are. `cut`: see DrawnCuts.
  COMMITTEE_INLINE RowBits below(std::uint32_t feature, std::uint8_t largest, Value threshold,
                                 std::uint32_t& cut) const {
    const DrawnCuts& cuts = shop_.cuts[feature];
    RowBits left = 0;
    cut = 0;
    for (const std::size_t row : rows_) {
      const std::uint8_t code = shop_.records[row * shop_.stride + feature];
      const bool is_left = (code < largest) & cuts.begins_below(code, threshold);
      left |= static_cast<RowBits>(is_left) << row;
      cut = is_left && code > cut ? code : cut;
    }
    return left;
  }

  // Here the cut is the last code on the left.
  COMMITTEE_INLINE Value settle(const DrawnSplit& split) const {
    return shop_.cuts[split.feature].settle(split.threshold, split.cut,
                                            shop_.largest[split.feature]);
  }

 private:
  const Shop& shop_;
  FewRows rows_;
};

// A node of more rows, by columns.
template <typename Shop>
class ColumnsNode {
 public:
  COMMITTEE_INLINE ColumnsNode(const Shop& shop, RowBits node) : shop_(shop), node_(node) {}

  COMMITTEE_INLINE RowBits below(std::uint32_t feature, std::uint8_t largest, Value threshold,
                                 std::uint32_t& cut) const {
    cut = shop_.cuts[feature].last_below(threshold, largest);
    return node_ & rows_up_to(column(feature), static_cast<std::uint8_t>(cut));
  }

  COMMITTEE_INLINE Value settle(const DrawnSplit& split) const {
    const std::uint8_t* const codes = column(split.feature);
    return shop_.cuts[split.feature].settle(
        split.threshold, split.cut, shop_.largest[split.feature],
        [&](std::uint32_t code) __attribute__((always_inline)) {
          return (node_ & rows_with(codes, static_cast<std::uint8_t>(code))) != 0;
        },
        [&](std::uint32_t) __attribute__((always_inline)) {
          std::uint8_t last = 0;
          for_each_bit(split.left, [&](std::size_t row) __attribute__((always_inline)) {
            last = std::max(last, codes[row]);
          });
          return last;
        });
  }

 private:
  const std::uint8_t* column(std::uint32_t feature) const {
    return shop_.columns.data() + feature * kSmallNodeRows;
  }

  const Shop& shop_;
  RowBits node_;
};

// The rows on the left of a random subset of the levels of a category.
template <typename Shop>
COMMITTEE_INLINE RowBits rows_of_levels(const Shop& shop, RowBits node, std::uint32_t feature,
                                        std::uint64_t key) {
  const std::uint8_t* const column = shop.records + feature;
  Random random(derive_key(key, std::uint64_t{feature} + 1));
  if (std::popcount(node) == 2) {  // as draw_subset does it, for half of all nodes
    const double first = random.uniform();
    const bool is_first_left = first <= random.uniform();
    const auto row = static_cast<std::size_t>(std::countr_zero(node));
    const bool has_first = column[row * shop.stride] == shop.smallest[feature];
    return has_first == is_first_left ? node & (0 - node) : node & (node - 1);
  }
  std::array<std::uint8_t, kSmallNodeRows> codes;
  std::array<std::uint8_t, kSmallNodeRows> sides;
  std::size_t n_rows = 0;
  for_each_bit(node, [&](std::size_t row) __attribute__((always_inline)) {
    codes[n_rows++] = column[row * shop.stride];
  });
  const std::size_t n_codes = shop.data.dataset->feature(feature).column.n_codes();
  draw_subset(codes.data(), n_rows, n_codes, random, sides.data());
  RowBits left = 0;
  n_rows = 0;
  for_each_bit(node, [&](std::size_t row) __attribute__((always_inline)) {
    left |= RowBits{sides[n_rows++] ^ 1U} << row;
  });
  return left;
}

template <typename Shop, typename Look>
COMMITTEE_INLINE DrawnSplit find_split(Shop& shop, const Look& look, RowBits node,
                                       std::uint64_t key) {
  const bool is_pair = std::popcount(node) == 2;
  const auto total_weight = static_cast<double>(shop.rows.weight());
  find_ranges(shop, node);
  // The best and the one that is looked at, which change places: a branch would be mispredicted.
  std::array<DrawnSplit, 2> splits{};
  std::size_t best = 0;
  double best_score = -std::numeric_limits<double>::infinity();
  const auto try_feature = [&](std::uint32_t feature) __attribute__((always_inline)) {
    const std::uint8_t smallest = shop.smallest[feature];
    const std::uint8_t largest = shop.largest[feature];
    if (smallest == largest) return;
    DrawnSplit& split = splits[1 - best];
    split.feature = feature;
    if (shop.splits_levels(feature)) {
      split.left = rows_of_levels(shop, node, feature, key);
    } else {
      split.threshold = shop.cuts[feature].draw(feature, smallest, largest, key);
      split.left = look.below(feature, largest, split.threshold, split.cut);
    }
    const BitCut cut = shop.rows.cut(split.left, node & ~split.left);
    split.left_weight = cut.left_weight;
    const bool is_better = (cut.left_weight >= shop.min_weight) &
                           (total_weight - cut.left_weight >= shop.min_weight) &
                           (cut.score > best_score);
    best = is_better ? 1 - best : best;
    best_score = is_better ? cut.score : best_score;
  };
  const auto is_found = [&] { return best_score > -std::numeric_limits<double>::infinity(); };
  shop.draw.draw(
      key, shop.data.dataset->n_features(), shop.options,
      [&](std::uint32_t feature)
          __attribute__((always_inline)) { return shop.has_codes[feature] != 0; },
      [&](std::uint32_t feature) __attribute__((always_inline)) {
        return shop.smallest[feature] != shop.largest[feature];
      },
      [&](std::span<const std::uint32_t> features) __attribute__((always_inline)) {
        for (const std::uint32_t feature : features) {
          try_feature(feature);
          // Two rows can be divided in one way only: the first feature that does so is the best.
          if (is_pair && is_found()) break;
        }
        return is_found();
      });
  if (!is_found()) return {};
  DrawnSplit& found = splits[best];
  if (!shop.splits_levels(found.feature)) found.threshold = look.settle(found);
  return found;
}

// The larger child takes what the node has never seen.
template <typename Shop>
COMMITTEE_INLINE bool is_left_larger(const Shop& shop, const DrawnSplit& split) {
  return split.left_weight > static_cast<double>(shop.rows.weight()) - split.left_weight;
}

template <typename Shop>
COMMITTEE_INLINE Node make_node(const Shop& shop, const DrawnSplit& split) {
  Node node;
  const bool is_integer = shop.cuts[split.feature].is_integer();
  node.set_threshold(split.feature, is_integer ? FeatureKind::kInteger : FeatureKind::kReal,
                     split.threshold, is_left_larger(shop, split));
  return node;
}

// Where the levels of the node's rows go.
template <typename Shop>
COMMITTEE_INLINE Node make_subset_node(const Shop& shop, const DrawnSplit& split, RowBits right,
                                       std::vector<std::uint32_t>& category_data) {
  const CodeColumn& column = shop.data.dataset->feature(split.feature).column;
  const std::uint8_t* const codes = shop.records + split.feature;
  bool default_left = is_left_larger(shop, split);
  // A missing value is a level of its own, the last one, and what the node has never seen goes
  // with it.
  if (column.has_missing && shop.largest[split.feature] == column.missing_code()) {
    for_each_bit(split.left | right, [&](std::size_t row) __attribute__((always_inline)) {
      const bool is_left = (split.left >> row & 1) != 0;
      default_left = codes[row * shop.stride] == column.missing_code() ? is_left : default_left;
    });
  }
  std::array<std::uint8_t, kSmallNodeRows> leaving;
  std::size_t n_leaving = 0;
  for_each_bit(default_left ? right : split.left,
               [&](std::size_t row) __attribute__((always_inline)) {
                 leaving[n_leaving++] = codes[row * shop.stride];
               });
  Node node;
  node.threshold.offset = category_data.size();
  append_subset(LevelSet(leaving.data(), n_leaving, column.n_codes()).words(), category_data);
  node.set_split(split.feature, SplitKind::kSubset, default_left);
  return node;
}

// Whether the rows of the subtree can be told by their codes alone.
template <typename Shop>
COMMITTEE_INLINE bool load_subtree(Shop& shop, const SubtreeRoot& root) {
  const std::size_t n_rows = root.end - root.begin;
  if (!shop.rows.prepare(root.block->statistics, root.begin, n_rows)) return false;
  shop.records = root.block->records.get() + root.begin * shop.stride;
  for (const std::uint32_t feature : shop.may_miss) {
    const std::uint32_t missing = shop.data.dataset->feature(feature).column.missing_code();
    for (std::size_t i = 0; i < n_rows; ++i) {
      if (shop.records[i * shop.stride + feature] == missing) return false;
    }
  }
  if (n_rows > kFewRows) {
    transpose_records(shop.records, shop.stride, n_rows, shop.columns.data());
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

template <typename Shop>
COMMITTEE_INLINE bool grow_subtree(Shop& shop, const SubtreeRoot& root, Piece& piece,
                                   std::span<std::uint32_t> order,
                                   std::vector<CoarseNode>& coarse) {
  if (!load_subtree(shop, root)) return false;
  LeafOrder leaves;
  std::size_t n_open = 0;
  const RowBits all = ~RowBits{0} >> (kSmallNodeRows - (root.end - root.begin));
  shop.stack[n_open++] = {all, root.key, static_cast<std::uint32_t>(root.index), root.depth};
  while (n_open > 0) {
    const OpenBits node = shop.stack[--n_open];
    shop.rows.start(node.rows);
    const bool is_single = (node.rows & (node.rows - 1)) == 0;
    if (is_single || node.depth >= shop.options.max_depth ||
        static_cast<double>(shop.rows.weight()) < shop.least_weight) {
      leaves.add(node.rows);
      continue;
    }
    if (shop.rows.is_too_coarse()) {
      leave_open(root, node, coarse);
      leaves.skip(node.rows);
      continue;
    }
    DrawnSplit split;
    if (!shop.rows.is_pure()) {
      const bool is_few = static_cast<std::size_t>(std::popcount(node.rows)) <= kFewRows;
      split = is_few ? find_split(shop, FewRowsNode<Shop>(shop, node.rows), node.rows, node.key)
                     : find_split(shop, ColumnsNode<Shop>(shop, node.rows), node.rows, node.key);
    }
    if (split.left == 0) {
      leaves.add(node.rows);
      continue;
    }
    const RowBits right_rows = node.rows & ~split.left;
    const auto first_child = static_cast<std::uint32_t>(piece.nodes.size());
    GrownNode& grown = piece.nodes[node.index];
    grown.n_children = 2;
    grown.first_child = first_child;
    grown.node = shop.splits_levels(split.feature)
                     ? make_subset_node(shop, split, right_rows, piece.category_data)
                     : make_node(shop, split);
    GrownNode left;
    left.begin = grown.begin;
    left.end = grown.begin + static_cast<std::uint32_t>(std::popcount(split.left));
    GrownNode right;
    right.begin = left.end;
    right.end = grown.end;
    piece.nodes.push_back(left);
    piece.nodes.push_back(right);
    shop.stack[n_open++] = {right_rows, derive_key(node.key, 1), first_child + 1, node.depth + 1};
    shop.stack[n_open++] = {split.left, derive_key(node.key, 0), first_child, node.depth + 1};
  }
  leaves.write(root.block->entries.data() + root.begin,
               order.data() + piece.nodes[root.index].begin);
  return true;
}

template <typename Shop>
COMMITTEE_AVX2 bool grow_avx2(Shop& shop, const SubtreeRoot& root, Piece& piece,
                              std::span<std::uint32_t> order, std::vector<CoarseNode>& coarse) {
  return grow_subtree(shop, root, piece, order, coarse);
}

template <typename Shop>
bool grow_plain(Shop& shop, const SubtreeRoot& root, Piece& piece, std::span<std::uint32_t> order,
                std::vector<CoarseNode>& coarse) {
  return grow_subtree(shop, root, piece, order, coarse);
}

template <typename Shop>
class DrawnGrower final : public SubtreeGrower {
 public:
  DrawnGrower(const FitData& data, const GrowOptions& options) : shop_(data, options) {}

  bool grow(const SubtreeRoot& root, Piece& piece, std::span<std::uint32_t> order,
            std::vector<CoarseNode>& coarse) override {
    return uses_avx2() ? grow_avx2(shop_, root, piece, order, coarse)
                       : grow_plain(shop_, root, piece, order, coarse);
  }

 private:
  Shop shop_;
};

template <typename Rows>
std::unique_ptr<SubtreeGrower> make_for(const FitData& data, const GrowOptions& options) {
  if (!Rows::serves(data, options)) return nullptr;
  for (std::size_t i = 0; i < data.dataset->n_features(); ++i) {
    if (data.dataset->feature(i).kind == FeatureKind::kCategory) {
      return std::make_unique<DrawnGrower<Workshop<Rows, true>>>(data, options);
    }
  }
  return std::make_unique<DrawnGrower<Workshop<Rows, false>>>(data, options);
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
