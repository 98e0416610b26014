#include "grow/grown_tree.hpp"

#include <utility>

namespace committee {

GrownTree tree_of(Piece piece, std::size_t n_features) {
  GrownTree result;
  result.tree.n_features = static_cast<std::uint32_t>(n_features);
  result.tree.nodes.reserve(piece.nodes.size());
  result.ranges.reserve(piece.nodes.size());
  for (const GrownNode& grown : piece.nodes) {
    Node& node = result.tree.nodes.emplace_back(grown.node);
    if (grown.first_child != kNone) node.first_child = grown.first_child;
    result.ranges.push_back({grown.begin, grown.end});
  }
  result.tree.category_data = std::move(piece.category_data);
  result.bounds = std::move(piece.bounds);
  return result;
}

GrownTree join_pieces(const Piece& top, std::span<const Piece> pieces, std::size_t n_features) {
  GrownTree result;
  auto& [tree, ranges, bounds] = result;
  tree.n_features = static_cast<std::uint32_t>(n_features);
  std::size_t n_nodes = top.nodes.size();  // at least as many as there will be
  for (const Piece& piece : pieces) n_nodes += piece.nodes.size();
  tree.nodes.reserve(n_nodes);
  ranges.reserve(n_nodes);
  const auto add_nodes = [&](std::size_t n_added) {
    tree.nodes.resize(tree.nodes.size() + n_added);
    ranges.resize(tree.nodes.size());
    if (!top.bounds.empty()) bounds.resize(tree.nodes.size());
  };
  add_nodes(1);
  struct Pending {
    const Piece* piece;
    std::size_t index;
    std::size_t number;
  };
  std::vector<Pending> stack{{&top, 0, 0}};
  while (!stack.empty()) {
    auto [piece, index, number] = stack.back();
    stack.pop_back();
    if (piece->nodes[index].piece != kNone) {
      piece = &pieces[piece->nodes[index].piece];
      index = 0;
    }
    const GrownNode& grown = piece->nodes[index];
    tree.nodes[number] = grown.node;
    ranges[number] = {grown.begin, grown.end};
    if (!bounds.empty()) bounds[number] = piece->bounds_of(index);
    if (grown.first_child == kNone) continue;
    const std::size_t first = tree.nodes.size();
    tree.nodes[number].first_child = static_cast<std::uint32_t>(first);
    if (grown.node.kind() == SplitKind::kSubset || grown.node.kind() == SplitKind::kFanOut) {
      const auto data =
          piece->category_data.begin() + static_cast<std::ptrdiff_t>(grown.node.threshold.offset);
      const std::size_t length = category_length(grown.node.kind(), &*data);
      tree.nodes[number].threshold.offset = tree.category_data.size();
      tree.category_data.insert(tree.category_data.end(), data,
                                data + static_cast<std::ptrdiff_t>(length));
    }
    add_nodes(grown.n_children);
    for (std::uint32_t child = grown.n_children; child-- > 0;) {
      stack.push_back({piece, grown.first_child + child, first + child});
    }
  }
  return result;
}

}  // namespace committee
