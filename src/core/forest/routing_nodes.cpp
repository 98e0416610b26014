#include "forest/routing_nodes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "tree/step.hpp"

namespace committee {
namespace {

// Writes the keys of some rows; returns whether a value is missing.
bool copy_keys(const TableView& table, const UsedFeatures& used, Range rows, Key* out) {
  const std::size_t n_features = used.features.size();
  // A few rows at a time, so that what is written stays in the cache whatever the table's order.
  constexpr std::size_t kTile = 64;
  std::array<float, kTile> values;
  bool has_missing = false;
  for (std::size_t begin = rows.begin; begin < rows.end; begin += kTile) {
    const std::size_t n_rows = std::min(kTile, rows.end - begin);
    for (std::size_t i = 0; i < n_features; ++i) {
      const std::uint32_t feature = used.features[i];
      if (table.kinds[feature] != FeatureKind::kReal) {
        for (std::size_t row = 0; row < n_rows; ++row) out[row * n_features + i] = kSpecialKey;
        continue;
      }
      copy_column(table.columns[feature], begin, begin + n_rows, values.data(), 1);
      for (std::size_t row = 0; row < n_rows; ++row) {
        const Key key = key_of(values[row]);
        has_missing |= key == kMissingKey;
        out[row * n_features + i] = key;
      }
    }
    out += n_rows * n_features;
  }
  return has_missing;
}

inline RoutingNode routing_node(const Node& node, std::uint32_t number, const UsedFeatures& used) {
  if (node.is_leaf()) {
    constexpr std::uint32_t kRoom = kMissingKey - 1 - kFirstLeafWord;
    const Key word = value_row(node) < kRoom ? kFirstLeafWord + static_cast<Key>(value_row(node))
                                             : kMissingKey - 1;
    return {word, 0, number, 1};
  }
  const Key word = node.kind() == SplitKind::kReal ? key_of(static_cast<float>(node.threshold.real))
                                                   : kSpecialKey;
  return {word, used.place(node.feature()), node.first_child, node.missing_goes_left() ? 1U : 0U};
}

}  // namespace

UsedFeatures UsedFeatures::all(std::size_t n_features) {
  UsedFeatures used;
  used.features.resize(n_features);
  std::iota(used.features.begin(), used.features.end(), 0U);
  return used;
}

UsedFeatures UsedFeatures::of(const Forest& forest, std::size_t n_features) {
  constexpr std::size_t kFew = 64;  // a row of them is copied sooner than trees are looked through
  if (n_features <= kFew) return all(n_features);
  UsedFeatures used;
  std::vector<std::uint8_t> marks(n_features, 0);
  for (const auto& tree : forest.trees) {
    for (const Node& node : tree->tree.nodes) {
      if (!node.is_leaf()) marks[node.feature()] = 1;
    }
  }
  used.places.resize(n_features);
  for (std::uint32_t feature = 0; feature < n_features; ++feature) {
    if (marks[feature] == 0) continue;
    used.places[feature] = static_cast<std::uint32_t>(used.features.size());
    used.features.push_back(feature);
  }
  return used;
}

void copy_rows(const TableView& table, const UsedFeatures& used, Range rows, KeyRows& out) {
  out.first_row = rows.begin;
  out.n_features = used.features.size();
  out.keys.resize((rows.end - rows.begin) * out.n_features);
  out.has_missing = copy_keys(table, used, rows, out.keys.data());
}

KeyRows copy_table(const TableView& table, const UsedFeatures& used, std::size_t n_threads) {
  KeyRows out;
  out.n_features = used.features.size();
  out.keys.resize(table.n_rows * out.n_features);
  std::atomic<bool> has_missing{false};
  constexpr std::size_t kMinChunk = 4096;
  const std::size_t n_chunks = chunk_count(table.n_rows, kMinChunk, n_threads);
  parallel_for(n_chunks, n_threads, [&](std::size_t i) {
    const Range rows = chunk_range(table.n_rows, n_chunks, i);
    if (copy_keys(table, used, rows, out.keys.data() + rows.begin * out.n_features))
      has_missing = true;
  });
  out.has_missing = has_missing;
  return out;
}

bool NarrowNodes::fit(const CompactTree& tree) {
  return std::bit_width(tree.tree.n_nodes()) + std::bit_width(tree.tree.n_features) < 32;
}

NarrowNodes::NarrowNodes(const CompactTree& tree, const UsedFeatures& used)
    : nodes_(tree.tree.n_nodes()), bits_(std::bit_width(tree.tree.n_features)) {
  const std::size_t n_nodes = nodes_.size();
  for (std::size_t i = 0; i < n_nodes; ++i) {
    const RoutingNode node = routing_node(tree.tree.nodes[i], static_cast<std::uint32_t>(i), used);
    const std::uint32_t child_and_missing = (node.first_child << 1) | node.missing_left;
    nodes_[i] = {node.word, (child_and_missing << bits_) | node.feature};
  }
}

WideNodes::WideNodes(const CompactTree& tree, const UsedFeatures& used) {
  nodes_.reserve(tree.tree.n_nodes());
  for (std::uint32_t i = 0; i < tree.tree.n_nodes(); ++i) {
    nodes_.push_back(routing_node(tree.tree.nodes[i], i, used));
  }
}

RoutingNodes make_routing_nodes(const CompactTree& tree, const UsedFeatures& used) {
  if (NarrowNodes::fit(tree)) return NarrowNodes(tree, used);
  return WideNodes(tree, used);
}

std::uint32_t exact_next(const CompactTree& tree, std::uint32_t node, const TableView& table,
                         std::size_t row) {
  return next_node(tree.tree, tree.tree.nodes[node], TableCells{table}, row);
}

}  // namespace committee
