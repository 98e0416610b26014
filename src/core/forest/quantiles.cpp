#include "forest/quantiles.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/thread_pool.hpp"
#include "forest/forest_routing.hpp"

namespace committee {
namespace {

// The members of the leaves of one tree, leaf by leaf, rows ascending.
struct TreeMembers {
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> counts;
};

TreeMembers members_of_tree(const CompactTree& tree, const TableView& table,
                            const UsedFeatures& used, const KeyRows& keys,
                            std::span<const std::uint32_t> rows,
                            std::span<const std::uint32_t> counts) {
  std::vector<std::uint32_t> leaves(rows.size());
  route(tree, make_routing_nodes(tree, used), table, keys, rows, Reached::kLeafNumber,
        leaves.data());
  TreeMembers members;
  members.sizes.assign(tree.n_leaves, 0);
  for (const std::uint32_t leaf : leaves) ++members.sizes[leaf];
  std::vector<std::size_t> next(tree.n_leaves);
  std::exclusive_scan(members.sizes.begin(), members.sizes.end(), next.begin(), std::size_t{0});
  members.rows.resize(rows.size());
  members.counts.resize(counts.empty() ? 0 : rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t place = next[leaves[i]]++;
    members.rows[place] = rows[i];
    if (!counts.empty()) members.counts[place] = counts[rows[i]];
  }
  return members;
}

// Weights of training rows by the rank of their target, and which of them are not zero.
class RankWeights {
 public:
  explicit RankWeights(std::size_t n_ranks) : weights_(n_ranks, 0.0) {}

  void add(std::uint32_t rank, double weight) {
    if (weights_[rank] == 0.0) touched_.push_back(rank);
    weights_[rank] += weight;
  }
  // Calls see(rank, weight) in the order of ranks until it returns false, and forgets all.
  template <typename See>
  void drain(const See& see) {
    // Sorting a large part of all ranks costs more than looking at each of them.
    constexpr std::size_t kDense = 16;
    if (touched_.size() > weights_.size() / kDense) {
      for (std::uint32_t rank = 0; rank < weights_.size(); ++rank) {
        if (weights_[rank] > 0.0 && !see(rank, weights_[rank])) break;
      }
    } else {
      std::sort(touched_.begin(), touched_.end());
      for (const std::uint32_t rank : touched_) {
        if (!see(rank, weights_[rank])) break;
      }
    }
    for (const std::uint32_t rank : touched_) weights_[rank] = 0.0;
    touched_.clear();
  }

 private:
  std::vector<double> weights_;
  std::vector<std::uint32_t> touched_;
};

class QuantileFinder {
 public:
  QuantileFinder(const Forest& forest, const MembersView& members, std::span<const double> targets,
                 std::span<const double> weights, std::span<const double> quantiles)
      : members_(members),
        targets_(targets),
        weights_(weights),
        quantiles_(quantiles),
        order_(targets.size()),
        ranks_(targets.size()),
        ascending_(quantiles.size()),
        first_leaf_(forest.n_trees(), 0) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return targets[a] < targets[b]; });
    for (std::uint32_t rank = 0; rank < order_.size(); ++rank) ranks_[order_[rank]] = rank;
    std::iota(ascending_.begin(), ascending_.end(), std::size_t{0});
    std::sort(ascending_.begin(), ascending_.end(),
              [&](std::size_t a, std::size_t b) { return quantiles[a] < quantiles[b]; });
    for (std::size_t i = 1; i < first_leaf_.size(); ++i) {
      first_leaf_[i] = first_leaf_[i - 1] + forest.trees[i - 1]->n_leaves;
    }
  }

  // The quantiles of a row that reaches these leaves, one a tree.
  void find(std::span<const std::uint32_t> leaves, RankWeights& by_rank,
            std::span<double> out) const {
    double total = 0.0;
    for (std::size_t tree = 0; tree < leaves.size(); ++tree) {
      total += add_leaf(first_leaf_[tree] + leaves[tree], by_rank);
    }
    std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
    constexpr double kSlack = 1e-12;  // sums of shares are not exact
    double below = 0.0;
    std::size_t next = 0;
    by_rank.drain([&](std::uint32_t rank, double weight) {
      below += weight;
      for (; next < ascending_.size(); ++next) {
        if (below < (quantiles_[ascending_[next]] - kSlack) * total) return true;
        out[ascending_[next]] = targets_[order_[rank]];
      }
      return false;
    });
  }

 private:
  double weight(std::size_t member) const {
    const double count = members_.counts.empty() ? 1.0 : members_.counts[member];
    return weights_.empty() ? count : count * weights_[members_.rows[member]];
  }

  // Adds the shares of the members of a leaf; returns their sum, 0 for an empty leaf.
  double add_leaf(std::size_t leaf, RankWeights& by_rank) const {
    const std::size_t end = members_.offsets[leaf + 1];
    double in_leaf = 0.0;
    for (std::size_t m = members_.offsets[leaf]; m < end; ++m) in_leaf += weight(m);
    if (!(in_leaf > 0.0)) return 0.0;
    for (std::size_t m = members_.offsets[leaf]; m < end; ++m) {
      by_rank.add(ranks_[members_.rows[m]], weight(m) / in_leaf);
    }
    return 1.0;
  }

  MembersView members_;
  std::span<const double> targets_;
  std::span<const double> weights_;
  std::span<const double> quantiles_;
  std::vector<std::uint32_t> order_;  // training rows by target
  std::vector<std::uint32_t> ranks_;
  std::vector<std::size_t> ascending_;   // quantiles
  std::vector<std::size_t> first_leaf_;  // of each tree among all leaves
};

TableView part_of(const TableView& table, Range rows) {
  TableView part = table;
  part.n_rows = rows.end - rows.begin;
  for (ColumnView& column : part.columns) {
    if (column.is_sparse()) {
      column.first_row += rows.begin;
      continue;
    }
    column.data += static_cast<std::ptrdiff_t>(rows.begin) * column.stride;
    if (column.missing != nullptr) column.missing += rows.begin;
  }
  return part;
}

}  // namespace

LeafMembers leaf_members(const Forest& forest, const TableView& table, const SamplingPlan* plan,
                         std::uint64_t row_seed, std::span<const double> weights,
                         std::size_t n_threads, Monitor& monitor) {
  const UsedFeatures used = UsedFeatures::of(forest, table.n_features());
  const KeyRows keys = copy_table(table, used, n_threads);
  std::vector<TreeMembers> trees(forest.n_trees());
  parallel_for(
      trees.size(), n_threads,
      [&](std::size_t i) {
        std::vector<std::uint32_t> counts;
        if (plan != nullptr) plan->draw(row_seed, i, counts, &monitor);
        std::vector<std::uint32_t> rows;
        for (std::uint32_t row = 0; row < table.n_rows; ++row) {
          const bool is_there = counts.empty() || counts[row] > 0;
          if (is_there && (weights.empty() || weights[row] > 0.0)) rows.push_back(row);
        }
        trees[i] = members_of_tree(*forest.trees[i], table, used, keys, rows, counts);
        monitor.advance(1);
      },
      &monitor);
  LeafMembers all;
  all.offsets.push_back(0);
  for (TreeMembers& tree : trees) {
    for (const std::uint32_t size : tree.sizes) all.offsets.push_back(all.offsets.back() + size);
    all.rows.insert(all.rows.end(), tree.rows.begin(), tree.rows.end());
    all.counts.insert(all.counts.end(), tree.counts.begin(), tree.counts.end());
    tree = {};
  }
  return all;
}

void check_members(const Forest& forest, const MembersView& members, std::size_t n_training) {
  const bool has_offsets = members.offsets.size() == forest.n_leaves() + 1 &&
                           members.offsets.front() == 0 &&
                           members.offsets.back() == members.rows.size() &&
                           std::is_sorted(members.offsets.begin(), members.offsets.end());
  if (!has_offsets) throw std::invalid_argument("offsets do not fit the leaves of the forest");
  if (!members.counts.empty() && members.counts.size() != members.rows.size()) {
    throw std::invalid_argument("counts must have one entry a member");
  }
  for (const std::uint32_t row : members.rows) {
    if (row >= n_training) throw std::invalid_argument("a member is not a training row");
  }
}

void predict_quantiles(const Forest& forest, const TableView& table, const MembersView& members,
                       std::span<const double> targets, std::span<const double> weights,
                       std::span<const double> quantiles, std::span<double> out,
                       std::size_t n_threads, Monitor& monitor) {
  const QuantileFinder finder(forest, members, targets, weights, quantiles);
  const std::size_t n_trees = forest.n_trees();
  // Leaves are found for a part of the rows at a time, to bound the memory.
  constexpr std::size_t kRows = 4096;
  std::vector<std::uint32_t> leaves(std::min(kRows, table.n_rows) * n_trees);
  for (std::size_t begin = 0; begin < table.n_rows; begin += kRows) {
    const Range rows{begin, std::min(begin + kRows, table.n_rows)};
    const std::size_t n_rows = rows.end - rows.begin;
    apply(forest, part_of(table, rows), Reached::kLeafNumber, {leaves.data(), n_rows * n_trees},
          n_threads, monitor);
    const std::size_t n_chunks = chunk_count(n_rows, 16, n_threads);
    const auto task = [&](std::size_t chunk) {
      RankWeights by_rank(targets.size());
      const Range part = chunk_range(n_rows, n_chunks, chunk);
      for (std::size_t row = part.begin; row < part.end; ++row) {
        monitor.check();
        finder.find({leaves.data() + row * n_trees, n_trees}, by_rank,
                    out.subspan((begin + row) * quantiles.size(), quantiles.size()));
      }
    };
    parallel_for(n_chunks, n_threads, task, &monitor);
  }
}

}  // namespace committee
