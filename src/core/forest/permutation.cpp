#include "forest/permutation.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "base/random.hpp"
#include "base/scratch_pool.hpp"
#include "forest/forest_routing.hpp"

namespace committee {
namespace {

constexpr std::size_t kLanes = 12;

// A row that leaves its path at a node when a group of its features is permuted.
struct Detour {
  std::uint32_t place;  // on the circle
  std::uint32_t group;
  std::uint32_t node;  // to go on from
};

// One tree and its left out rows.
template <bool kMissing, typename Nodes>
class TreePermutation {
 public:
  TreePermutation(const CompactTree& tree, const Nodes& nodes, const TableView& table,
                  const KeyRows& keys, const PermutationOptions& options,
                  std::vector<std::uint32_t> rows, std::uint64_t key)
      : tree_(tree),
        nodes_(nodes),
        table_(table),
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
    gather(keys);
  }

  // Calls leaf(row, value row) for each row, and change(row, group, value row before, after) for
  // each group whose permutation sends the row to another leaf.
  template <typename Leaf, typename Change>
  void run(const Leaf& leaf, const Change& change) {
    constexpr std::uint32_t kChunk = 256;
    if (tree_.tree.n_nodes() == 1) {  // which may be a tree without features to look at
      for (const std::uint32_t row : circle_) leaf(row, value_row(tree_.tree.nodes[0]));
      return;
    }
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
  // Features one after the other, rows in the order of the circle: rows that are walked at a time
  // are neighbours, and so are the rows that stand in for them.
  void gather(const KeyRows& keys) {
    constexpr std::size_t kTile = 16;  // a cache line of each feature
    cells_.resize(keys.n_features * n_rows_);
    for (std::size_t begin = 0; begin < n_rows_; begin += kTile) {
      const std::size_t n = std::min<std::size_t>(kTile, n_rows_ - begin);
      std::array<const Key*, kTile> rows;
      for (std::size_t i = 0; i < n; ++i) rows[i] = keys.row(circle_[begin + i]);
      for (std::size_t feature = 0; feature < keys.n_features; ++feature) {
        Key* const to = cells_.data() + feature * n_rows_ + begin;
        for (std::size_t i = 0; i < n; ++i) to[i] = rows[i][feature];
      }
    }
  }

  // What a step looks at, copied by a walk: nothing that it writes can change it.
  struct Guide {
    typename Nodes::View nodes;
    const Key* cells;
    std::size_t n_rows;
    const std::uint32_t* groups;
    const std::uint32_t* shifts;
    const TreePermutation* all;

    // The place whose values a group takes.
    std::uint32_t donor(std::uint32_t place, std::uint32_t group) const {
      const std::size_t ahead = std::size_t{place} + shifts[group];
      return static_cast<std::uint32_t>(ahead < n_rows ? ahead : ahead - n_rows);
    }
    // The node after `node` for the feature's value at a place.
    std::uint32_t next(std::uint32_t node, const RoutingNode& at, std::uint32_t place) const {
      const Key key = cells[at.feature * n_rows + place];
      if (at.decides(key)) [[likely]] {
        return at.template child<kMissing>(key);
      }
      return exact_next(all->tree_, node, all->table_, all->circle_[place]);
    }
  };
  Guide guide() const {
    return {nodes_.view(), cells_.data(), n_rows_, groups_.data(), shifts_.data(), this};
  }

  // Calls step(lane) for all lanes until each has walked to a leaf, and again with what start(lane)
  // gives it, until that says no. arrive(lane) is called at leaves, where lanes step on the spot.
  template <typename Lane, typename Start, typename Step, typename Arrive>
  void walk(const Start& start, const Step& step, const Arrive& arrive) const {
    constexpr int kSteps = 4;
    std::array<Lane, kLanes> lanes;
    std::array<std::uint32_t, kLanes> before;
    std::size_t n_lanes = 0;
    for (; n_lanes < kLanes; ++n_lanes) {
      if (!start(lanes[n_lanes], n_lanes)) break;
    }
    while (n_lanes > 0) {
      for (int i = 0; i < kSteps; ++i) {
        for (std::size_t k = 0; k < n_lanes; ++k) {
          before[k] = lanes[k].node;
          step(lanes[k]);
        }
      }
      for (std::size_t k = 0; k < n_lanes; ++k) {
        if (lanes[k].node != before[k]) continue;
        arrive(lanes[k]);
        if (!start(lanes[k], lanes[k].number)) {
          lanes[k] = lanes[--n_lanes];
          before[k] = before[n_lanes];
          --k;  // looks at the one that took its place
        }
      }
    }
  }

  // Walks the rows at places begin ... end - 1 and notes where permuted groups leave the paths.
  void walk_paths(std::uint32_t begin, std::uint32_t end, std::span<std::uint32_t> leaves) {
    struct Lane {
      std::size_t number;
      std::uint32_t place;
      std::uint32_t node;
    };
    const Guide guide = this->guide();
    Detour* detours = detours_.data();
    std::size_t n_detours = 0;
    std::uint32_t* const left_at = left_at_.data();
    const std::size_t n_groups = n_groups_ + 1;
    std::uint32_t next_place = begin;
    const auto start = [&](Lane& lane, std::size_t number) {
      if (next_place == end) return false;
      lane = {number, next_place, 0};
      ++next_place;
      return true;
    };
    const auto step = [&](Lane& lane) {
      const RoutingNode at = guide.nodes.load(lane.node);
      const std::uint32_t group = guide.groups[at.feature];
      const std::uint32_t own = guide.next(lane.node, at, lane.place);
      const std::uint32_t other = guide.next(lane.node, at, guide.donor(lane.place, group));
      // Written in any case and counted if it is one: there is no branch to guess.
      std::uint32_t& left = left_at[lane.number * n_groups + group];
      const bool is_detour = (own != other) & (left != lane.place + 1);
      left = is_detour ? lane.place + 1 : left;
      if (n_detours == detours_.size()) {
        detours_.resize(2 * n_detours + kLanes);
        detours = detours_.data();
      }
      detours[n_detours] = {lane.place, group, other};
      n_detours += is_detour ? 1 : 0;
      lane.node = own;
    };
    walk<Lane>(start, step, [&](const Lane& lane) {
      leaves[lane.place - begin] = value_row_of(tree_, lane.node, guide.nodes.load(lane.node).word);
    });
    n_detours_ = n_detours;
  }

  template <typename Reach>
  void walk_detours(const Reach& reach) const {
    struct Lane {
      std::size_t number;
      std::size_t detour;
      std::uint32_t place;
      std::uint32_t donor;
      std::uint32_t group;
      std::uint32_t node;
    };
    const Guide guide = this->guide();
    std::size_t next_detour = 0;
    const auto start = [&](Lane& lane, std::size_t number) {
      if (next_detour == n_detours_) return false;
      const auto [place, group, node] = detours_[next_detour];
      lane = {number, next_detour, place, guide.donor(place, group), group, node};
      ++next_detour;
      return true;
    };
    const auto step = [&](Lane& lane) {
      const RoutingNode at = guide.nodes.load(lane.node);
      const bool is_permuted = guide.groups[at.feature] == lane.group;
      lane.node = guide.next(lane.node, at, is_permuted ? lane.donor : lane.place);
    };
    walk<Lane>(start, step, [&](const Lane& lane) {
      reach(detours_[lane.detour],
            value_row_of(tree_, lane.node, guide.nodes.load(lane.node).word));
    });
  }

  const CompactTree& tree_;
  const Nodes& nodes_;
  const TableView& table_;
  std::span<const std::uint32_t> groups_;
  std::uint32_t n_groups_;
  std::vector<std::uint32_t> circle_;  // rows of the table
  std::uint32_t n_rows_;
  std::vector<std::uint32_t> shifts_;
  // For each lane and group the last row (place + 1) whose path the group has left.
  std::vector<std::uint32_t> left_at_;
  std::vector<Key> cells_;       // n_features x n_rows
  std::vector<Detour> detours_;  // the first n_detours_ of them
  std::size_t n_detours_ = 0;
};

}  // namespace

PermutationLosses permute_features(const Forest& forest, const TableView& table,
                                   const Target& target, const LeftOut& left_out,
                                   const PermutationOptions& options, Monitor& monitor) {
  const UsedFeatures used = UsedFeatures::all(table.n_features());
  const KeyRows keys = copy_table(table, used, options.n_threads);
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
    const RoutingNodes nodes = make_routing_nodes(tree, used);
    const auto run = [&]<bool kMissing>(const auto& n) {
      TreePermutation<kMissing, std::decay_t<decltype(n)>> permutation(
          tree, n, table, keys, options, std::move(rows), derive_key(options.seed, index));
      std::uint32_t n_seen = 0;
      permutation.run(
          [&](std::uint32_t row, std::uint32_t leaf) {
            if (++n_seen % 4096 == 0) monitor.check();
            total.loss += left_out.weight(row) * loss(leaf, row);
            total.weight += left_out.weight(row);
          },
          [&](std::uint32_t row, std::uint32_t group, std::uint32_t before, std::uint32_t after) {
            increases[group] += left_out.weight(row) * (loss(after, row) - loss(before, row));
          });
    };
    std::visit(
        [&](const auto& n) {
          if (keys.has_missing) {
            run.template operator()<true>(n);
          } else {
            run.template operator()<false>(n);
          }
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
