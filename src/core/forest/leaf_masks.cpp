#include "forest/leaf_masks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "tree/step.hpp"

namespace committee {
namespace {

constexpr std::uint32_t kMostLevels = 1024;  // each subset has a table of them

// ---- what fits ----

bool is_small(const Tree& tree) {
  return tree.n_nodes() < 2 * LeafMasks::kMaxLeaves &&
         std::none_of(
             tree.nodes.begin(), tree.nodes.end(),
             [](const Node& node) { return !node.is_leaf() && node.kind() == SplitKind::kFanOut; });
}

// One more than the largest level that a subset lists.
std::uint32_t listed_levels(const Tree& tree, const Node& node) {
  const std::uint32_t* data = tree.category_data.data() + node.threshold.offset;
  const std::uint32_t length = data[0] & ~kListFlag;
  return (data[0] & kListFlag) != 0 ? data[length] + 1 : 32 * length;
}

template <typename T>
void sort_distinct(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

// ---- making ----

// Collects the thresholds of all trees first, and then writes questions about their ranks.
class LeafMasks::Builder {
 public:
  explicit Builder(const Forest& forest) : forest_(forest), inputs_(forest.info.n_features) {}

  std::shared_ptr<const LeafMasks> build() {
    for (const auto& tree : forest_.trees) {
      if (!is_small(tree->tree)) return nullptr;
    }
    for (const auto& tree : forest_.trees) collect(tree->tree);
    for (Inputs& each : inputs_) {
      sort_distinct(each.reals);
      sort_distinct(each.integers);
      if (std::max(each.reals.size(), each.integers.size()) > kMaxThresholds) return nullptr;
      if (each.n_levels > kMostLevels) return nullptr;
    }
    for (const auto& tree : forest_.trees) {
      add_tree(tree->tree);
      if (!is_worth_it()) return nullptr;
    }
    finish_features();
    return std::move(masks_);
  }

 private:
  struct Inputs {
    std::vector<double> reals;
    std::vector<std::int64_t> integers;
    std::uint32_t n_levels = 0;
    std::optional<FeatureKind> kind;
    std::vector<std::uint32_t> columns;
  };
  using ColumnKey = std::pair<std::uint32_t, std::vector<std::uint8_t>>;

  // In units of about a third of a nanosecond for each row: searching for ranks takes longer than
  // writing a column, and a walk down a tree of some levels longer than both.
  bool is_worth_it() const {
    constexpr std::size_t kSearch = 6;
    constexpr std::size_t kWalk = 80;
    const std::size_t cost = kSearch * n_features_ + masks_->columns_.size();
    return cost <= kWalk * forest_.n_trees();
  }

  void collect(const Tree& tree) {
    for (const Node& node : tree.nodes) {
      if (node.is_leaf()) continue;
      Inputs& of = inputs_[node.feature()];
      of.kind = feature_kind(node.kind());
      if (of.kind == FeatureKind::kReal) {
        of.reals.push_back(node.threshold.real);
      } else if (of.kind == FeatureKind::kInteger) {
        of.integers.push_back(node.threshold.integer);
      } else {
        of.n_levels = std::max(of.n_levels, listed_levels(tree, node));
      }
    }
  }

  void add_tree(const Tree& tree) {
    std::array<std::vector<LeafQuestion>, kMaxLeaves / kLeavesPerByte> questions;
    const std::size_t first_leaf = masks_->leaf_nodes_.size();
    const std::uint32_t n_leaves = add_node(tree, 0, 0, questions);
    const std::size_t n_bytes = (n_leaves + kLeavesPerByte - 1) / kLeavesPerByte;
    masks_->trees_.push_back(
        {narrow(masks_->bytes_.size()), narrow(n_bytes), narrow(first_leaf), n_leaves});
    for (std::size_t i = 0; i < n_bytes; ++i) {
      std::vector<LeafQuestion>& all = masks_->questions_;
      const std::uint32_t begin = narrow(all.size());
      all.insert(all.end(), questions[i].begin(), questions[i].end());
      masks_->bytes_.push_back({begin, narrow(all.size())});
    }
  }

  // Adds the questions below a node, and returns how many leaves there are up to its end.
  std::uint32_t add_node(
      const Tree& tree, std::uint32_t number, std::uint32_t first_leaf,
      std::array<std::vector<LeafQuestion>, kMaxLeaves / kLeavesPerByte>& questions) {
    const Node& node = tree.nodes[number];
    if (node.is_leaf()) {
      masks_->leaf_nodes_.push_back(number);
      return first_leaf + 1;
    }
    const std::uint32_t middle = add_node(tree, node.first_child, first_leaf, questions);
    const auto [column, most] = question_of(tree, node);
    const std::uint64_t below_first = (std::uint64_t{1} << first_leaf) - 1;
    const std::uint64_t below_middle = (std::uint64_t{1} << middle) - 1;
    const std::uint64_t mask = ~(below_middle & ~below_first);
    for (std::size_t i = first_leaf / kLeavesPerByte; i * kLeavesPerByte < middle; ++i) {
      const auto part = static_cast<std::uint8_t>(mask >> (i * kLeavesPerByte));
      questions[i].push_back({narrow(column * kBlock), most, part});
    }
    return add_node(tree, node.first_child + 1, middle, questions);
  }

  std::pair<std::uint32_t, std::uint8_t> question_of(const Tree& tree, const Node& node) {
    const Inputs& of = inputs_[node.feature()];
    if (of.kind == FeatureKind::kCategory) {
      std::vector<std::uint8_t> sides;
      sides.reserve(of.n_levels + 1);
      for (std::uint32_t level = 0; level < of.n_levels; ++level) {
        const auto signed_level = static_cast<std::int32_t>(level);
        sides.push_back(static_cast<std::uint8_t>(tree.child_of_level(node, signed_level)));
      }
      sides.push_back(static_cast<std::uint8_t>(tree.child_of_level(node, -1)));
      return {column_of(node.feature(), {false, 0, std::move(sides)}), std::uint8_t{0}};
    }
    const auto rank_in = [](const auto& thresholds, auto threshold) {
      return static_cast<std::uint32_t>(
          std::lower_bound(thresholds.begin(), thresholds.end(), threshold) - thresholds.begin());
    };
    const std::uint32_t rank = of.kind == FeatureKind::kReal
                                   ? rank_in(of.reals, node.threshold.real)
                                   : rank_in(of.integers, node.threshold.integer);
    const std::uint32_t first = rank / kRanksPerColumn * kRanksPerColumn;
    const bool is_low = node.missing_goes_left();
    return {column_of(node.feature(), {is_low, first, {}}),
            static_cast<std::uint8_t>(rank - first + (is_low ? 1 : 0))};
  }

  // The number of a column, made if there is none like it.
  std::uint32_t column_of(std::uint32_t feature, Column column) {
    std::vector<std::uint8_t> key = column.levels;
    for (const std::uint32_t part : {column.first & 255, column.first >> 8}) {
      key.push_back(static_cast<std::uint8_t>(part));
    }
    key.push_back(column.missing_is_low ? 1 : 0);
    const auto [found, is_new] =
        numbers_.try_emplace({feature, std::move(key)}, narrow(masks_->columns_.size()));
    if (is_new) {
      if (inputs_[feature].columns.empty()) ++n_features_;
      masks_->columns_.push_back(std::move(column));
      inputs_[feature].columns.push_back(found->second);
    }
    return found->second;
  }

  void finish_features() {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
      Inputs& of = inputs_[i];
      if (of.columns.empty()) continue;
      if (of.kind == FeatureKind::kReal) {
        std::vector<float> singles(of.reals.size());
        std::transform(of.reals.begin(), of.reals.end(), singles.begin(), round_down);
        add_feature(i, Reals{ThresholdRanks(std::move(singles)), ThresholdRanks(of.reals)});
      } else if (of.kind == FeatureKind::kInteger) {
        add_feature(i, ThresholdRanks(of.integers));
      } else {
        add_feature(i, Levels{of.n_levels});
      }
    }
  }

  template <typename Ranks>
  void add_feature(std::uint32_t number, Ranks ranks) {
    masks_->features_.push_back({number, std::move(ranks), std::move(inputs_[number].columns)});
  }

  static std::uint32_t narrow(std::size_t number) { return static_cast<std::uint32_t>(number); }

  const Forest& forest_;
  std::vector<Inputs> inputs_;
  std::map<ColumnKey, std::uint32_t> numbers_;  // of columns
  std::size_t n_features_ = 0;                  // with columns
  std::shared_ptr<LeafMasks> masks_ = std::make_shared<LeafMasks>();
};

std::shared_ptr<const LeafMasks> LeafMasks::make(const Forest& forest) {
  return Builder(forest).build();
}

std::span<const std::uint32_t> LeafMasks::leaf_nodes(std::size_t tree) const {
  return std::span(leaf_nodes_).subspan(trees_[tree].first_leaf, trees_[tree].n_leaves);
}

// ---- reading ----

void LeafMasks::rank_feature(const Feature& feature, const TableView& table, Range rows,
                             Block& block) const {
  const ColumnView& column = table.columns[feature.number];
  const std::size_t n_rows = rows.end - rows.begin;
  std::uint16_t* const ranks = block.ranks.data();
  if (const auto* reals = std::get_if<Reals>(&feature.ranks)) {
    if (column.type == ValueType::kFloat32) {
      std::array<float, kBlock> values;
      copy_column(column, rows.begin, rows.end, values.data(), 1);
      reals->singles.find(values.data(), n_rows, ranks);
    } else {
      std::array<double, kBlock> values;
      copy_column(column, rows.begin, rows.end, values.data(), 1);
      reals->doubles.find(values.data(), n_rows, ranks);
    }
  } else if (const auto* integers = std::get_if<ThresholdRanks<std::int64_t>>(&feature.ranks)) {
    std::array<std::int64_t, kBlock> values{};
    for (std::size_t i = 0; i < n_rows; ++i) values[i] = read_integer(column, rows.begin + i).value;
    integers->find(values.data(), n_rows, ranks);
    for (std::size_t i = 0; i < n_rows; ++i) {
      if (read_integer(column, rows.begin + i).is_missing) ranks[i] = kMissingRank;
    }
  } else {
    const std::uint32_t n_levels = std::get<Levels>(feature.ranks).n_levels;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const auto level = static_cast<std::uint32_t>(read_level(column, rows.begin + i));
      ranks[i] = static_cast<std::uint16_t>(std::min(level, n_levels));
    }
  }
}

void LeafMasks::read(const TableView& table, Range rows, Block& block) const {
  block.columns.resize(columns_.size() * kBlock);
  block.ranks.resize(kBlock);
  for (const Feature& feature : features_) {
    rank_feature(feature, table, rows, block);
    for (const std::uint32_t number : feature.columns) {
      const Column& column = columns_[number];
      std::uint8_t* const codes = block.columns.data() + number * kBlock;
      if (column.levels.empty()) {
        write_codes(block.ranks.data(), column.first, column.missing_is_low, codes);
      } else {
        const std::uint8_t* const levels = column.levels.data();
        for (std::size_t i = 0; i < rows.end - rows.begin; ++i) codes[i] = levels[block.ranks[i]];
      }
    }
  }
}

// ---- asking ----

void LeafMasks::find_leaves(std::size_t tree, const Block& block, std::size_t n_rows,
                            std::uint8_t* out) const {
  const auto [first_byte, n_bytes, first_leaf, n_leaves] = trees_[tree];
  committee::find_leaves(questions_.data(), std::span(bytes_).subspan(first_byte, n_bytes),
                         block.columns.data(), n_rows, out);
}

}  // namespace committee
