// Trees and rows rewritten for walks of many rows: nodes of 8 bytes, cells of 4.
//
// Reals become *keys*: integers in the order of the values in single precision. Rounding keeps
// order, so a value and a threshold whose keys differ are told apart by them; where keys are equal
// the exact node is compared. Features that are not real have one special key for all cells and
// thresholds, so that the exact node is always compared. Keys outside the range of numbers:
//
//   special | -inf ... numbers ... +inf | leaves | missing
//
// A leaf leads to itself, whatever the value: its word is above all numbers and missing values go
// "left". So a walk need not look for leaves at every step.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "base/thread_pool.hpp"
#include "forest/forest.hpp"

namespace committee {

using Key = std::int32_t;
constexpr Key kMissingKey = std::numeric_limits<Key>::max();
constexpr Key kSpecialKey = std::numeric_limits<Key>::min() + 1;
constexpr Key kFirstLeafWord = 0x7F800002;  // two above the key of infinity

inline Key key_of(float value) {
  const auto bits = std::bit_cast<Key>(value + 0.0F);  // 0 and -0 are the same number
  const Key key = bits ^ ((bits >> 31) & 0x7FFFFFFF);
  return value != value ? kMissingKey : key;
}

// The features that trees look at: of a wide table, mostly few. `places` has their numbers among
// these by feature; empty where all are taken.
struct UsedFeatures {
  std::vector<std::uint32_t> features;
  std::vector<std::uint32_t> places;

  static UsedFeatures all(std::size_t n_features);
  static UsedFeatures of(const Forest& forest, std::size_t n_features);
  std::uint32_t place(std::uint32_t feature) const {
    return places.empty() ? feature : places[feature];
  }
};

// The keys of some rows of a table, row by row.
struct KeyRows {
  std::size_t first_row = 0;
  std::size_t n_features = 0;
  bool has_missing = false;
  std::vector<Key> keys;

  const Key* row(std::size_t table_row) const {
    return keys.data() + (table_row - first_row) * n_features;
  }
};
void copy_rows(const TableView& table, const UsedFeatures& used, Range rows, KeyRows& out);
KeyRows copy_table(const TableView& table, const UsedFeatures& used, std::size_t n_threads);

struct RoutingNode {
  Key word;  // the key of the threshold
  std::uint32_t feature;
  std::uint32_t first_child;
  std::uint32_t missing_left;  // 0 or 1

  bool decides(Key key) const { return key != word; }
  // Where a key goes that the node can decide. Missing is the largest key; a step up makes it the
  // smallest and changes no other comparison.
  template <bool kMissing>
  std::uint32_t child(Key key) const {
    if constexpr (!kMissing) return first_child + static_cast<std::uint32_t>(key > word);
    const auto up = [this](Key k) {
      return static_cast<Key>(static_cast<std::uint32_t>(k) + missing_left);
    };
    return first_child + static_cast<std::uint32_t>(up(key) > up(word));
  }
};

// Nodes of 8 bytes: first child, missing bit and feature share 32 bits.
class NarrowNodes {
 public:
  NarrowNodes(const CompactTree& tree, const UsedFeatures& used);
  static bool fit(const CompactTree& tree);

  struct Packed {
    Key word;
    std::uint32_t link;
  };
  // To be copied by a walk: what it writes cannot change it, so it stays in registers.
  struct View {
    const Packed* nodes;
    std::uint32_t mask;
    int bits;

    RoutingNode load(std::uint32_t node) const {
      const auto [word, link] = nodes[node];
      return {word, link & mask, link >> (bits + 1), (link >> bits) & 1U};
    }
  };
  View view() const { return {nodes_.data(), (1U << bits_) - 1, bits_}; }

 private:
  std::vector<Packed> nodes_;
  int bits_;
};

// The same for trees of too many nodes and features.
class WideNodes {
 public:
  WideNodes(const CompactTree& tree, const UsedFeatures& used);

  struct View {
    const RoutingNode* nodes;
    RoutingNode load(std::uint32_t node) const { return nodes[node]; }
  };
  View view() const { return {nodes_.data()}; }

 private:
  std::vector<RoutingNode> nodes_;
};

using RoutingNodes = std::variant<NarrowNodes, WideNodes>;
RoutingNodes make_routing_nodes(const CompactTree& tree, const UsedFeatures& used);

// Of a leaf, given its word.
inline std::uint32_t value_row_of(const CompactTree& tree, std::uint32_t leaf, Key word) {
  const bool fits = word != kMissingKey - 1;
  return fits ? static_cast<std::uint32_t>(word - kFirstLeafWord)
              : value_row(tree.tree.nodes[leaf]);
}

// The node after `node`, by the exact comparison, for a row of the table.
std::uint32_t exact_next(const CompactTree& tree, std::uint32_t node, const TableView& table,
                         std::size_t row);

}  // namespace committee
