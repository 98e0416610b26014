#include "permutation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "forest_routing.hpp"
#include "random.hpp"
#include "scratch_pool.hpp"
#include "step.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 16;

// A row that leaves its path at a node when a group of its features is permuted.
struct Detour {
  std::uint32_t place;  // on the circle
  std::uint32_t group;
  std::uint32_t node;  // to go on from
};

// One tree and its left out rows.
template <typename Nodes>
class TreePermutation {
 public:
  TreePermutation(const CompactTree& tree, const Nodes& nodes, const TableView& table,
                  const FloatRows& floats, const PermutationOptions& options,
                  std::vector<std::uint32_t> rows, std::uint64_t key)
      : tree_(tree),
        nodes_(nodes),
        cells_{table},
        floats_(floats),
        groups_(options.group_of_feature),
        n_groups_(options.n_groups),
        circle_(std::move(rows)),
        n_rows_(static_cast<std::uint32_t>(circle_.size())),
        shifts_(n_groups_ + 1, 0),  // the group that is never permuted stays where it is
        left_at_(kLanes * (n_groups_ + 1)) {
    Random random(key);
    for (std::uint32_t i = n_rows_; i > 1; --i) {
      std::swap(circle_[i - 1], circle_[random.below(i)]);
    }
    for (std::uint32_t group = 0; group < n_groups_ && n_rows_ > 1; ++group) {
      shifts_[group] = 1 + random.below(n_rows_ - 1);
    }
  }

  // Calls leaf(row, value row) for each row, and change(row, group, value row before, after) for
  // each group whose permutation sends the row to another leaf.
  template <typename Leaf, typename Change>
  void run(const Leaf& leaf, const Change& change) {
    constexpr std::uint32_t kChunk = 256;
    std::vector<std::uint32_t> leaves(kChunk);
    for (std::uint32_t begin = 0; begin < n_rows_; begin += kChunk) {
      const std::uint32_t end = std::min(begin + kChunk, n_rows_);
      walk_paths(begin, end, leaves);
      for (std::uint32_t place = begin; place < end; ++place) {
        leaf(circle_[place], leaves[place - begin]);
      }
      walk_detours([&](const Detour& detour, std::uint32_t reached) {
        const std::uint32_t before = leaves[detour.place - begin];
        if (reached != before) change(circle_[detour.place], detour.group, before, reached);
      });
    }
  }

 private:
  std::uint32_t donor(std::uint32_t place, std::uint32_t group) const {
    const std::uint32_t to_end = n_rows_ - shifts_[group];
    return circle_[place < to_end ? place + shifts_[group] : place - to_end];
  }

  // The node after `node` for the feature's value in a row of the table.
  std::uint32_t next(std::uint32_t node, const LoadedNode& loaded, std::uint32_t row) const {
    const float value = floats_.row(row)[loaded.feature];
    if (loaded.decides(value)) [[likely]]
      return loaded.child(value);
    return next_node(tree_.tree, tree_.tree.nodes[node], cells_, row);
  }

  // Walks the rows at places begin ... end - 1 and notes where permuted groups leave the paths.
  void walk_paths(std::uint32_t begin, std::uint32_t end, std::span<std::uint32_t> leaves) {
    struct Lane {
      std::uint32_t place;
      std::uint32_t row;
      std::uint32_t node;
      std::uint32_t* left_at;
    };
    std::array<Lane, kLanes> lanes;
    std::uint32_t next_place = begin;
    std::size_t n_lanes = 0;
    detours_.clear();
    const auto start = [&](Lane& lane) {
      if (next_place == end) return false;
      lane = {next_place, circle_[next_place], 0, lane.left_at};
      ++next_place;
      return true;
    };
    for (std::size_t i = 0; i < kLanes; ++i) {
      lanes[i].left_at = left_at_.data() + i * (n_groups_ + 1);
    }
    while (n_lanes < kLanes && start(lanes[n_lanes])) ++n_lanes;
    while (n_lanes > 0) {
      for (std::size_t i = 0; i < n_lanes; ++i) {
        Lane& lane = lanes[i];
        const LoadedNode node = nodes_.load(lane.node);
        if (node.is_leaf()) {
          leaves[lane.place - begin] = node.word;
          if (!start(lane)) lane = lanes[--n_lanes];
          continue;
        }
        const std::uint32_t group = groups_[node.feature];
        const std::uint32_t own = next(lane.node, node, lane.row);
        const std::uint32_t other = next(lane.node, node, donor(lane.place, group));
        if (own != other && std::exchange(lane.left_at[group], lane.place + 1) != lane.place + 1) {
          detours_.push_back({lane.place, group, other});
        }
        lane.node = own;
      }
    }
  }

  template <typename Reach>
  void walk_detours(const Reach& reach) {
    struct Lane {
      std::size_t detour;
      std::uint32_t row;
      std::uint32_t donor;
      std::uint32_t group;
      std::uint32_t node;
    };
    std::array<Lane, kLanes> lanes;
    std::size_t next_detour = 0;
    std::size_t n_lanes = 0;
    const auto start = [&](Lane& lane) {
      if (next_detour == detours_.size()) return false;
      const Detour& detour = detours_[next_detour];
      lane = {next_detour, circle_[detour.place], donor(detour.place, detour.group), detour.group,
              detour.node};
      ++next_detour;
      return true;
    };
    while (n_lanes < kLanes && start(lanes[n_lanes])) ++n_lanes;
    while (n_lanes > 0) {
      for (std::size_t i = 0; i < n_lanes; ++i) {
        Lane& lane = lanes[i];
        const LoadedNode node = nodes_.load(lane.node);
        if (node.is_leaf()) {
          reach(detours_[lane.detour], node.word);
          if (!start(lane)) lane = lanes[--n_lanes];
          continue;
        }
        const bool is_permuted = groups_[node.feature] == lane.group;
        lane.node = next(lane.node, node, is_permuted ? lane.donor : lane.row);
      }
    }
  }

  const CompactTree& tree_;
  const Nodes& nodes_;
  TableCells cells_;
  const FloatRows& floats_;
  std::span<const std::uint32_t> groups_;
  std::uint32_t n_groups_;
  std::vector<std::uint32_t> circle_;
  std::uint32_t n_rows_;
  std::vector<std::uint32_t> shifts_;
  // For each lane and group the last row (place + 1) whose path the group has left.
  std::vector<std::uint32_t> left_at_;
  std::vector<Detour> detours_;
};

}  // namespace

PermutationLosses permute_features(const Forest& forest, const TableView& table,
                                   const Target& target, const LeftOut& left_out,
                                   const PermutationOptions& options, Monitor& monitor) {
  const FloatRows floats = copy_table(table, options.n_threads);
  PermutationLosses losses;
  losses.trees.resize(forest.n_trees());
  losses.increases.assign(forest.n_trees() * options.n_groups, 0.0);
  ScratchPool<std::vector<std::uint32_t>> draws;
  const auto task = [&](std::size_t index) {
    const CompactTree& tree = *forest.trees[index];
    const LeafLoss loss(tree, forest.info, target, options.loss);
    TreeLoss& total = losses.trees[index];
    const std::span increases(losses.increases.data() + index * options.n_groups, options.n_groups);
    std::vector<std::uint32_t> rows;
    draws.lend([&](auto& counts) { rows = left_out.rows(index, counts); });
    const RoutingNodes nodes = make_routing_nodes(tree);
    std::visit(
        [&](const auto& n) {
          TreePermutation permutation(tree, n, table, floats, options, std::move(rows),
                                      derive_key(options.seed, index));
          permutation.run(
              [&](std::uint32_t row, std::uint32_t leaf) {
                total.loss += left_out.weight(row) * loss(leaf, row);
                total.weight += left_out.weight(row);
              },
              [&](std::uint32_t row, std::uint32_t group, std::uint32_t before,
                  std::uint32_t after) {
                increases[group] += left_out.weight(row) * (loss(after, row) - loss(before, row));
              });
        },
        nodes);
    if (total.weight > 0.0) {
      total.loss /= total.weight;
      for (double& increase : increases) increase /= total.weight;
    }
    monitor.advance(1);
  };
  parallel_for(forest.n_trees(), options.n_threads, task, &monitor);
  return losses;
}

}  // namespace committee
