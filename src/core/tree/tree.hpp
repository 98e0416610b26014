// A grown tree: flat nodes that route a row to a leaf, and what is known about each node.
//
// The children of a node are neighbours: first_child, first_child + 1, ... They come after their
// parent, so one pass backwards over the nodes visits children before parents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "data/column.hpp"

namespace committee {

enum class SplitKind : std::uint8_t {
  kReal = 0,     // value <= threshold.real goes to child 0, else child 1
  kInteger = 1,  // value <= threshold.integer goes to child 0, else child 1
  kSubset = 2,   // levels listed at category_data[offset] leave the default child
  kFanOut = 3,   // one child for each level seen at the node
};

// The kind a feature must have to be split so.
inline FeatureKind feature_kind(SplitKind kind) {
  if (kind == SplitKind::kReal) return FeatureKind::kReal;
  return kind == SplitKind::kInteger ? FeatureKind::kInteger : FeatureKind::kCategory;
}

// 16 bytes. A leaf has first_child == 0 (the root is no child) and no split flags.
// Missing values and unseen levels take the default child: child 0 when `missing_goes_left`.
struct Node {
  union {
    double real;
    std::int64_t integer;
    std::uint64_t offset;  // into Tree::category_data
  } threshold{0.0};
  std::uint32_t feature_and_flags = 0;  // feature in the low 24 bits, then kind (2), missing (1)
  std::uint32_t first_child = 0;

  static constexpr std::uint32_t kMaxFeatures = 1U << 24;

  bool is_leaf() const { return first_child == 0; }
  std::uint32_t feature() const { return feature_and_flags & (kMaxFeatures - 1); }
  SplitKind kind() const { return static_cast<SplitKind>((feature_and_flags >> 24) & 3U); }
  bool missing_goes_left() const { return ((feature_and_flags >> 26) & 1U) != 0; }
  void set_split(std::uint32_t feature, SplitKind kind, bool missing_goes_left_) {
    feature_and_flags = feature | (static_cast<std::uint32_t>(kind) << 24) |
                        (static_cast<std::uint32_t>(missing_goes_left_) << 26);
  }
  // A split of a real or an integer feature: values up to the threshold go to child 0.
  void set_threshold(std::uint32_t feature, FeatureKind kind, Value value,
                     bool missing_goes_left_) {
    if (kind == FeatureKind::kInteger) {
      threshold.integer = value.integer;
      set_split(feature, SplitKind::kInteger, missing_goes_left_);
    } else {
      threshold.real = value.real;
      set_split(feature, SplitKind::kReal, missing_goes_left_);
    }
  }
};
static_assert(sizeof(Node) == 16);

// What category_data holds at a node's offset:
//   kSubset, bit set:  [n_words, words...]            bit `level` set: leaves the default child
//   kSubset, list:     [n | kListFlag, levels...]     ascending levels that leave the default child
//   kFanOut:           [n_children, default_child, n_levels, child of level 0, 1, ...]
// A level that no training row of the node had takes the default child; in a fan-out its entry
// is kNoChild. A fan-out has at least two children. Nodes do not share category data.
constexpr std::uint32_t kListFlag = 1U << 31;
constexpr std::uint32_t kNoChild = 0xFFFFFFFFU;

// The number of words of category data that such a split has, its first one given.
inline std::size_t category_length(SplitKind kind, const std::uint32_t* data) {
  if (kind == SplitKind::kSubset) return 1 + std::size_t{data[0] & ~kListFlag};
  return kind == SplitKind::kFanOut ? 3 + std::size_t{data[2]} : 0;
}

// The category data of a subset split: the shorter of both forms. At least one level.
std::vector<std::uint32_t> subset_data(std::vector<std::uint32_t> leaving);
// Appends the same for levels below 256, given as bits.
void append_subset(const std::array<std::uint64_t, 4>& leaving, std::vector<std::uint32_t>& data);

struct Tree {
  std::uint32_t n_features = 0;
  std::uint32_t n_values = 0;  // numbers a leaf predicts: classes of all outputs, or outputs
  std::vector<Node> nodes;
  std::vector<std::uint32_t> category_data;
  std::vector<double> values;        // n_nodes x n_values
  std::vector<double> impurity;      // n_nodes
  std::vector<double> weight;        // n_nodes, sum of the row weights
  std::vector<std::int64_t> n_rows;  // n_nodes, rows counted with their repetitions

  std::size_t n_nodes() const { return nodes.size(); }
  std::uint32_t n_children(std::uint32_t node) const;
  // The number of the child of `node` that a level takes (negative: missing or unseen).
  std::uint32_t child_of_level(const Node& node, std::int32_t level) const;
  // The number of words of category_data that belong to a node, 0 unless it splits a category.
  std::size_t category_length(const Node& node) const;
  // Depth of each node (the root has 0).
  std::vector<std::uint32_t> depths() const;
};

// Throws std::invalid_argument unless the tree can be walked safely with features of these
// kinds: array lengths agree, every node but the root is the child of exactly one earlier node,
// features and offsets are in range, category data is well formed, the split kind fits the
// feature kind, statistics are finite. A tree from a file is used only after this. Takes time
// linear in the size of the arrays, whatever they hold.
void validate(const Tree& tree, std::span<const FeatureKind> kinds);

// The kind each feature must have, as far as the splits say: nothing for a feature not used.
std::vector<std::optional<FeatureKind>> split_feature_kinds(const Tree& tree);

// The functions below need a table with the features of the tree, each of the kind it is split
// as (see above); they do not look again, for a single row must stay cheap.

// The leaf that each row of the table reaches.
void apply(const Tree& tree, const TableView& table, std::span<std::uint32_t> leaves,
           std::size_t n_threads);

// values of the reached leaves, n_rows x n_values, row by row.
void predict(const Tree& tree, const TableView& table, std::span<double> out,
             std::size_t n_threads);

// The nodes each row passes, as a sparse matrix in rows: row i passes
// indices[offsets[i]] ... indices[offsets[i + 1] - 1], root first.
struct DecisionPath {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> indices;
};
DecisionPath decision_path(const Tree& tree, const TableView& table);

}  // namespace committee
