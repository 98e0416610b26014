// The grow loop: open nodes wait in a stack (depth-first) or in a heap (best-first); each is
// split or becomes a leaf.
//
// Depth-first growth on several threads: the top of the tree is grown node by node, features side
// by side; the subtrees below are independent *pieces* and grown side by side. Pieces are put
// together in a fixed order, so the tree does not depend on who grew what.
#include "grow/grower.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "grow/grown_tree.hpp"
#include "grow/node_statistics.hpp"
#include "grow/rows.hpp"
#include "grow/table_split.hpp"
#include "score/block.hpp"
#include "small/piece.hpp"
#include "small/subtree.hpp"
#include "split/splitter.hpp"

namespace committee {
namespace {

// A node whose fate is not decided: its rows are block->rows[begin] ... [end - 1].
struct OpenNode {
  std::shared_ptr<Block> block;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t index = 0;  // in its piece
  std::uint32_t depth = 0;
  std::uint64_t key = 0;
  ConstantFeatures constants;

  std::size_t n_rows() const { return end - begin; }
  std::span<std::uint32_t> rows() const {
    return std::span(block->rows).subspan(begin, end - begin);
  }
};

class TreeGrower {
 public:
  TreeGrower(const BinnedDataset& dataset, const RecordMatrix* records, const Target& target,
             Entries entries, const GrowOptions& options, Monitor& monitor)
      : options_(options), monitor_(monitor), order_(entries.size()) {
    data_.dataset = &dataset;
    data_.records = records;
    data_.target = target;
    data_.statistics.layout = layout_of(target, entries);
    data_.statistics.count_rows = options.min_rows_leaf > 1;
    data_.statistics.count_positives = options.criterion == Criterion::kPoisson;
    total_weight_ = std::accumulate(entries.weights.begin(), entries.weights.end(), 0.0);
    const double mantissa = std::frexp(total_weight_, &data_.statistics.weight_magnitude);
    data_.statistics.target_magnitude = target_magnitude(target, entries);
    // In the units of Split::decrease: those of the magnitudes.
    min_decrease_ =
        std::ldexp(options.min_impurity_decrease * mantissa,
                   -target_power(options.criterion) * data_.statistics.target_magnitude);
    data_.entries = std::move(entries);
  }

  Tree grow() {
    GrownNode everything;
    everything.end = static_cast<std::uint32_t>(order_.size());
    Piece top = start_piece(everything, Bounds{});
    OpenNode root{make_root_block(data_), 0, order_.size(), 0, 0, derive_key(options_.seed, 0), {}};
    std::vector<Piece> pieces;
    if (options_.max_leaf_nodes > 0) {
      is_in_order_ = false;
      grow_best_first(std::move(root), top);
    } else if (options_.n_threads < 2) {
      grow_depth_first(std::move(root), top, nullptr);
    } else {
      is_in_order_ = false;
      grow_in_pieces(std::move(root), top, pieces);
    }
    const std::size_t n_features = data_.dataset->n_features();
    GrownTree grown =
        is_in_order_ ? tree_of(std::move(top), n_features) : join_pieces(top, pieces, n_features);
    if (options_.leaves_only) {
      fill_leaves(grown.tree, data_, order_, grown.ranges);
    } else {
      fill_statistics(grown.tree, data_, options_.criterion, order_, grown.ranges, grown.bounds);
    }
    return std::move(grown.tree);
  }

 private:
  static int target_magnitude(const Target& target, const Entries& entries) {
    double reach = 0.0;
    for (std::size_t output = 0; output < target.n_outputs && !target.is_classification; ++output) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      for (const std::uint32_t row : entries.rows) {
        const double value = target.reals[std::size_t{row} * target.n_outputs + output];
        low = std::min(low, value);
        high = std::max(high, value);
      }
      reach = std::max(reach, high / 2 - low / 2);
    }
    int exponent = 0;
    std::frexp(reach, &exponent);
    return exponent;
  }

  static StatisticLayout layout_of(const Target& target, const Entries& entries) {
    if (!target.is_classification) return StatisticLayout::kTargetSums;
    const bool is_binary = target.n_outputs == 1 && target.n_classes[0] == 2;
    return is_binary && entries.weights_are_repetitions ? StatisticLayout::kBinaryCounts
                                                        : StatisticLayout::kClassCounts;
  }

  // --- growth -----------------------------------------------------------------------------

  struct Worker {  // what one thread needs to split nodes
    std::unique_ptr<Splitter> splitter;
    std::unique_ptr<SubtreeGrower> subtrees;  // null: none
    std::size_t n_threads = 1;
    PartitionScratch scratch;
    std::vector<OpenNode> children;  // of the node divided last
    std::vector<CoarseNode> coarse;
  };
  Worker make_worker(std::size_t n_threads) const {
    return {make_splitter(data_, options_),
            make_subtree_grower(data_, options_),
            n_threads,
            {},
            {},
            {}};
  }

  Piece start_piece(GrownNode root, Bounds bounds) const {
    Piece piece;
    piece.nodes.push_back(root);
    if (!options_.monotonic.empty()) piece.bounds.push_back(bounds);
    return piece;
  }

  // Grows the subtree of `root` into `piece`. With `defer`, nodes that it takes are left to it.
  using Defer = std::function<bool(OpenNode&)>;
  void grow_depth_first(OpenNode root, Piece& piece, const Defer& defer) {
    Worker worker = make_worker(defer ? options_.n_threads : 1);
    std::vector<OpenNode> stack;
    stack.push_back(std::move(root));
    std::size_t n_visited = 0;
    while (!stack.empty()) {
      OpenNode node = std::move(stack.back());
      stack.pop_back();
      // Looking at the clock takes longer than splitting a tiny node.
      if (node.n_rows() >= 512 || ++n_visited % 64 == 0) monitor_.check();
      if (defer && defer(node)) continue;
      if (grow_subtree(node, piece, worker, stack)) continue;
      const Split split = find_split(node, piece, worker);
      if (!split.exists()) {
        finish_leaf(node, piece);
        continue;
      }
      divide(node, split, piece, worker);
      std::move(worker.children.rbegin(), worker.children.rend(), std::back_inserter(stack));
    }
  }

  // Grows the whole subtree of a node of few rows, if it can be done without the general search.
  // Nodes that ask for a finer grid join the stack.
  bool grow_subtree(const OpenNode& node, Piece& piece, Worker& worker,
                    std::vector<OpenNode>& stack) {
    if (!worker.subtrees || node.n_rows() > kSmallNodeRows) return false;
    const SubtreeRoot root{node.block.get(), node.begin, node.end,
                           node.index,       node.depth, node.key};
    worker.coarse.clear();
    if (!worker.subtrees->grow(root, piece, order_, worker.coarse)) return false;
    if (is_in_order_ && !worker.coarse.empty()) is_in_order_ = false;  // of one thread
    monitor_.advance(node.n_rows());
    for (const CoarseNode& coarse : worker.coarse) {
      auto block = make_block(data_, *node.block, coarse.rows, worker.n_threads);
      stack.push_back({std::move(block), 0, coarse.rows.size(), coarse.index, coarse.depth,
                       coarse.key, node.constants});
    }
    return true;
  }

  // Small enough nodes wait until there are a few for each thread, then their subtrees are grown
  // side by side. Not all at the end: a waiting node keeps the block of its parent alive.
  void grow_in_pieces(OpenNode root, Piece& top, std::vector<Piece>& pieces) {
    const std::size_t max_rows =
        std::max<std::size_t>(1024, root.n_rows() / (8 * options_.n_threads));
    std::vector<OpenNode> waiting;
    const auto defer = [&](OpenNode& node) {
      if (node.n_rows() > max_rows) return false;
      waiting.push_back(std::move(node));
      if (waiting.size() >= 4 * options_.n_threads) grow_waiting(waiting, top, pieces);
      return true;
    };
    grow_depth_first(std::move(root), top, defer);
    grow_waiting(waiting, top, pieces);
  }

  void grow_waiting(std::vector<OpenNode>& waiting, Piece& top, std::vector<Piece>& pieces) {
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const OpenNode& a, const OpenNode& b) { return a.n_rows() > b.n_rows(); });
    const std::size_t first = pieces.size();
    for (OpenNode& node : waiting) {
      GrownNode& link = top.nodes[node.index];
      pieces.push_back(start_piece(link, top.bounds_of(node.index)));
      link.piece = static_cast<std::uint32_t>(pieces.size() - 1);
      node.index = 0;
    }
    parallel_for(
        waiting.size(), options_.n_threads,
        [&](std::size_t i) { grow_depth_first(std::move(waiting[i]), pieces[first + i], nullptr); },
        &monitor_);
    waiting.clear();
  }

  // The node with the largest decrease of weighted impurity is split next; ties go to the node
  // that was opened first.
  void grow_best_first(OpenNode root, Piece& piece) {
    struct Candidate {
      OpenNode node;
      Split split;
      std::size_t serial;
    };
    const auto is_worse = [](const Candidate& a, const Candidate& b) {
      return a.split.decrease != b.split.decrease ? a.split.decrease < b.split.decrease
                                                  : a.serial > b.serial;
    };
    Worker worker = make_worker(options_.n_threads);
    std::vector<Candidate> heap;
    std::size_t n_opened = 0;
    const auto open = [&](OpenNode node) {
      monitor_.check();
      Split split = find_split(node, piece, worker);
      if (!split.exists()) return finish_leaf(node, piece);
      heap.push_back({std::move(node), std::move(split), n_opened++});
      std::push_heap(heap.begin(), heap.end(), is_worse);
    };
    open(std::move(root));
    std::size_t n_leaves = 1;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), is_worse);
      Candidate best = std::move(heap.back());
      heap.pop_back();
      if (n_leaves + best.split.n_children - 1 > options_.max_leaf_nodes) {
        finish_leaf(best.node, piece);
        continue;
      }
      n_leaves += best.split.n_children - 1;
      divide(best.node, best.split, piece, worker);
      for (OpenNode& child : worker.children) open(std::move(child));
    }
  }

  // --- one node ---------------------------------------------------------------------------

  // Rows of the node, repetitions included.
  std::int64_t count_rows(const OpenNode& node) const {
    if (data_.entries.repetitions.empty()) return static_cast<std::int64_t>(node.n_rows());
    if (data_.entries.weights_are_repetitions) {
      return count_repetitions(node.block->statistics, node.rows(), node.block->has_records());
    }
    std::int64_t n_rows = 0;
    for (const std::uint32_t row : node.rows()) {
      n_rows += data_.entries.repetitions[node.block->entries[row]];
    }
    return n_rows;
  }

  bool is_splittable(const OpenNode& node, std::int64_t n_rows) const {
    if (node.depth >= options_.max_depth || node.n_rows() < 2) return false;
    if (n_rows < options_.min_rows_split || n_rows < 2 * options_.min_rows_leaf) return false;
    if (options_.min_weight_leaf <= 0.0) return true;
    double weight = 0.0;
    for (const std::uint32_t row : node.rows()) {
      weight += data_.entries.weights[node.block->entries[row]];
    }
    return weight >= 2 * options_.min_weight_leaf * (1 - kWeightSlack);
  }

  Split find_split(OpenNode& node, const Piece& piece, Worker& worker) {
    const std::int64_t n_rows = count_rows(node);
    if (!is_splittable(node, n_rows)) return {};
    const bool is_sparse =
        !node.block->has_records() && deserves_block(n_rows, node.block->n_counted);
    if (is_sparse || is_too_coarse(node.block->statistics, node.rows())) {
      node.block = make_block(data_, *node.block, node.rows(), worker.n_threads);
      node.begin = 0;
      node.end = node.block->n_rows();
    }
    const NodeView view{
        node.block.get(), node.rows(),    static_cast<double>(n_rows), piece.bounds_of(node.index),
        node.key,         &node.constants};
    Split split = worker.splitter->find(view, worker.n_threads, monitor_);
    // A split that gains nothing is fine (it may make others possible) unless a gain is required.
    constexpr double kSlack = 1e-12;
    if (min_decrease_ > 0.0 && split.decrease < min_decrease_ * (1 - kSlack)) return {};
    return split;
  }

  void finish_leaf(const OpenNode& node, const Piece& piece) {
    std::size_t position = piece.nodes[node.index].begin;
    for (const std::uint32_t row : node.rows()) order_[position++] = node.block->entries[row];
    monitor_.advance(node.n_rows());
  }

  // Splits the node: writes its routing and leaves its children, still open, with the worker.
  void divide(const OpenNode& node, const Split& split, Piece& piece, Worker& worker) {
    partition_rows(*node.block, node.begin, node.end, split, worker.scratch);
    const std::vector<std::size_t>& begins = worker.scratch.begins;
    GrownNode grown = piece.nodes[node.index];
    grown.n_children = split.n_children;
    grown.first_child = static_cast<std::uint32_t>(piece.nodes.size());
    write_split({data_, *node.block, node.rows()}, split, grown.node, piece.category_data);
    piece.nodes[node.index] = grown;
    const Bounds bounds = piece.bounds_of(node.index);
    const int direction = options_.monotonic_of(split.feature);
    worker.children.clear();
    for (std::uint32_t child = 0; child < split.n_children; ++child) {
      GrownNode& next = piece.nodes.emplace_back();
      next.begin = grown.begin + static_cast<std::uint32_t>(begins[child]);
      next.end = grown.begin + static_cast<std::uint32_t>(begins[child + 1]);
      if (!piece.bounds.empty()) {
        piece.bounds.push_back(
            bounds.of_child(child, direction, split.left_value, split.right_value));
      }
      worker.children.push_back({node.block, node.begin + begins[child],
                                 node.begin + begins[child + 1], piece.nodes.size() - 1,
                                 node.depth + 1, derive_key(node.key, child), node.constants});
    }
  }

  const GrowOptions& options_;
  Monitor& monitor_;
  FitData data_;
  double total_weight_ = 0.0;
  double min_decrease_ = 0.0;
  std::vector<std::uint32_t> order_;  // entries, leaf by leaf
  bool is_in_order_ = true;           // the nodes of the one piece; see tree_of
};

}  // namespace

Tree grow_tree(const BinnedDataset& dataset, const Target& target, Entries entries,
               const GrowOptions& options, Monitor& monitor, const RecordMatrix* records) {
  return TreeGrower(dataset, records, target, std::move(entries), options, monitor).grow();
}

}  // namespace committee
