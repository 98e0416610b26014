// The grow loop: open nodes wait in a stack (depth-first) or in a heap (best-first); each is
// split or becomes a leaf.
//
// Depth-first growth on several threads: the top of the tree is grown node by node, features side
// by side; the subtrees below are independent *pieces* and grown side by side. Pieces are put
// together in a fixed order, so the tree does not depend on who grew what.
#include "grower.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>

#include "block.hpp"
#include "node_statistics.hpp"
#include "random.hpp"
#include "rows.hpp"
#include "splitter.hpp"
#include "thread_pool.hpp"

namespace committee {
namespace {

constexpr std::int64_t kNone = -1;

// A node as it is grown; indices are positions in its piece.
struct GrownNode {
  Node node;
  NodeRange range;
  Bounds bounds;
  std::vector<std::uint32_t> category_data;
  std::uint32_t n_children = 0;
  std::int64_t first_child = kNone;
  std::int64_t piece = kNone;  // the piece that continues here
};
using Piece = std::vector<GrownNode>;

// A node whose fate is not decided: its rows are block->rows[begin] ... [end - 1].
struct OpenNode {
  std::shared_ptr<Block> block;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t index = 0;  // in its piece
  std::uint32_t depth = 0;
  std::uint64_t key = 0;

  std::size_t n_rows() const { return end - begin; }
  std::span<std::uint32_t> rows() const {
    return std::span(block->rows).subspan(begin, end - begin);
  }
};

Value middle(FeatureKind kind, Value low, Value high) {
  if (kind == FeatureKind::kInteger) {
    const std::uint64_t gap =
        static_cast<std::uint64_t>(high.integer) - static_cast<std::uint64_t>(low.integer);
    return {.integer =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(low.integer) + gap / 2)};
  }
  const double threshold = std::midpoint(low.real, high.real);
  // Neighbouring doubles and infinities have no middle of their own.
  return {.real = low.real <= threshold && threshold < high.real ? threshold : low.real};
}

class TreeGrower {
 public:
  TreeGrower(const BinnedDataset& dataset, const Target& target, const Entries& entries,
             const GrowOptions& options, Monitor& monitor)
      : options_(options), monitor_(monitor), order_(entries.size()) {
    data_.dataset = &dataset;
    data_.target = target;
    data_.entries = entries;
    data_.layout = layout_of(target, entries);
    data_.count_rows = options.min_rows_leaf > 1;
    total_weight_ = std::accumulate(entries.weights.begin(), entries.weights.end(), 0.0);
  }

  Tree grow() {
    Piece top(1);
    top[0].range = {0, order_.size()};
    OpenNode root{make_root_block(data_), 0, order_.size(), 0, 0, derive_key(options_.seed, 0)};
    std::vector<Piece> pieces;
    if (options_.max_leaf_nodes > 0) {
      grow_best_first(std::move(root), top);
    } else if (options_.n_threads < 2) {
      grow_depth_first(std::move(root), top, nullptr);
    } else {
      grow_in_pieces(std::move(root), top, pieces);
    }
    return assemble(top, pieces);
  }

 private:
  static StatisticLayout layout_of(const Target& target, const Entries& entries) {
    if (!target.is_classification) return StatisticLayout::kTargetSums;
    const bool is_binary = target.n_outputs == 1 && target.n_classes[0] == 2;
    return is_binary && entries.weights_are_repetitions ? StatisticLayout::kBinaryCounts
                                                        : StatisticLayout::kClassCounts;
  }

  // --- growth -----------------------------------------------------------------------------

  struct Worker {  // what one thread needs to split nodes
    std::unique_ptr<Splitter> splitter;
    std::vector<std::uint32_t> scratch;
    std::size_t n_threads = 1;
  };
  Worker make_worker(std::size_t n_threads) const {
    return {make_splitter(data_, options_), {}, n_threads};
  }

  // Grows the subtree of `root` into `piece`. With `deferred`, nodes below its size limit are put
  // there instead.
  struct Deferred {
    std::size_t max_rows = 0;
    std::vector<OpenNode> nodes;
  };
  void grow_depth_first(OpenNode root, Piece& piece, Deferred* deferred) {
    Worker worker = make_worker(deferred == nullptr ? 1 : options_.n_threads);
    std::vector<OpenNode> stack;
    stack.push_back(std::move(root));
    while (!stack.empty()) {
      OpenNode node = std::move(stack.back());
      stack.pop_back();
      monitor_.check();
      if (deferred != nullptr && node.n_rows() <= deferred->max_rows) {
        deferred->nodes.push_back(std::move(node));
        continue;
      }
      const Split split = find_split(node, piece, worker);
      if (!split.exists()) {
        finish_leaf(node, piece);
        continue;
      }
      std::vector<OpenNode> children = divide(node, split, piece, worker);
      std::move(children.rbegin(), children.rend(), std::back_inserter(stack));
    }
  }

  void grow_in_pieces(OpenNode root, Piece& top, std::vector<Piece>& pieces) {
    Deferred deferred;
    deferred.max_rows = std::max<std::size_t>(1024, root.n_rows() / (8 * options_.n_threads));
    grow_depth_first(std::move(root), top, &deferred);
    std::vector<OpenNode>& roots = deferred.nodes;
    pieces.resize(roots.size());
    std::vector<std::size_t> by_size(roots.size());
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
      return roots[a].n_rows() > roots[b].n_rows();
    });
    for (std::size_t i = 0; i < roots.size(); ++i) {
      pieces[i].push_back(top[roots[i].index]);
      top[roots[i].index].piece = static_cast<std::int64_t>(i);
      roots[i].index = 0;
    }
    parallel_for(
        roots.size(), options_.n_threads,
        [&](std::size_t task) {
          const std::size_t i = by_size[task];
          grow_depth_first(std::move(roots[i]), pieces[i], nullptr);
        },
        &monitor_);
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
      for (OpenNode& child : divide(best.node, best.split, piece, worker)) open(std::move(child));
    }
  }

  // --- one node ---------------------------------------------------------------------------

  // Rows of the node, repetitions included.
  std::int64_t count_rows(const OpenNode& node) const {
    if (data_.entries.repetitions.empty()) return static_cast<std::int64_t>(node.n_rows());
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
    return weight >= 2 * options_.min_weight_leaf;
  }

  Split find_split(OpenNode& node, const Piece& piece, Worker& worker) {
    const std::int64_t n_rows = count_rows(node);
    if (!is_splittable(node, n_rows)) return {};
    if (deserves_block(n_rows, node.block->n_counted) ||
        is_too_coarse(node.block->statistics, node.rows())) {
      node.block = make_block(data_, *node.block, node.rows(), worker.n_threads);
      node.begin = 0;
      node.end = node.block->n_rows();
    }
    const NodeView view{node.block.get(), node.rows(), static_cast<double>(n_rows),
                        piece[node.index].bounds, node.key};
    Split split = worker.splitter->find(view, worker.n_threads, monitor_);
    const double decrease = split.decrease / total_weight_;
    if (decrease + std::numeric_limits<double>::epsilon() < options_.min_impurity_decrease) {
      return {};
    }
    return split;
  }

  void finish_leaf(const OpenNode& node, const Piece& piece) {
    std::size_t position = piece[node.index].range.begin;
    for (const std::uint32_t row : node.rows()) order_[position++] = node.block->entries[row];
    monitor_.advance(node.n_rows());
  }

  // Splits the node: writes its routing and returns its children, still open.
  std::vector<OpenNode> divide(const OpenNode& node, const Split& split, Piece& piece,
                               Worker& worker) {
    const CodeColumn& column = node.block->columns[split.feature];
    const std::vector<std::size_t> begins =
        partition_rows(column, split, node.rows(), worker.scratch);
    GrownNode grown = std::move(piece[node.index]);
    grown.n_children = split.n_children;
    grown.first_child = static_cast<std::int64_t>(piece.size());
    grown.node.set_split(split.feature, split.kind, split.default_child == 0);
    if (split.kind == SplitKind::kReal || split.kind == SplitKind::kInteger) {
      set_threshold(node, split, column, grown.node);
    } else {
      grown.category_data = category_data(node, split, column);
    }
    std::vector<OpenNode> children;
    for (std::uint32_t child = 0; child < split.n_children; ++child) {
      GrownNode& next = piece.emplace_back();
      next.range = {grown.range.begin + begins[child], grown.range.begin + begins[child + 1]};
      next.bounds = child_bounds(grown.bounds, split, child);
      children.push_back({node.block, node.begin + begins[child], node.begin + begins[child + 1],
                          piece.size() - 1, node.depth + 1, derive_key(node.key, child)});
    }
    piece[node.index] = std::move(grown);
    return children;
  }

  Bounds child_bounds(Bounds bounds, const Split& split, std::uint32_t child) const {
    const int direction = options_.monotonic_of(split.feature);
    if (direction == 0) return bounds;
    const double boundary = split.left_value / 2 + split.right_value / 2;
    const bool is_lower_side = (child == 0) == (direction > 0);
    (is_lower_side ? bounds.high : bounds.low) = boundary;
    return bounds;
  }

  std::size_t table_row(const OpenNode& node, std::uint32_t block_row) const {
    return data_.entries.rows[node.block->entries[block_row]];
  }

  // A threshold t with a <= t < b for the neighbours a, b that it separates.
  void set_threshold(const OpenNode& node, const Split& split, const CodeColumn& column,
                     Node& out) const {
    const bool is_integer = split.kind == SplitKind::kInteger;
    Value threshold = split.threshold;
    if (split.first_right == kNoCode) {
      threshold = is_integer ? Value{.integer = std::numeric_limits<std::int64_t>::max()}
                             : Value{.real = std::numeric_limits<double>::infinity()};
    } else if (!split.has_threshold) {
      const auto row_of = [&](std::uint32_t code) {
        const auto rows = node.rows();
        return table_row(node, *std::find_if(rows.begin(), rows.end(), [&](std::uint32_t row) {
                           return column.at(row) == code;
                         }));
      };
      threshold = middle(is_integer ? FeatureKind::kInteger : FeatureKind::kReal,
                         data_.dataset->high(split.feature, row_of(split.last_left)),
                         data_.dataset->low(split.feature, row_of(split.first_right)));
    }
    if (is_integer) {
      out.threshold.integer = threshold.integer;
    } else {
      out.threshold.real = threshold.real;
    }
  }

  // See tree.hpp for the layout.
  std::vector<std::uint32_t> category_data(const OpenNode& node, const Split& split,
                                           const CodeColumn& column) const {
    const CodeColumn& levels = data_.dataset->feature(split.feature).column;
    std::vector<std::uint32_t> level_of_code(column.n_codes(), kNoCode);
    for (const std::uint32_t row : node.rows()) {
      const std::uint32_t level = levels.at(table_row(node, row));
      if (level != levels.missing_code()) level_of_code[column.at(row)] = level;
    }
    if (split.kind == SplitKind::kFanOut) {
      std::vector<std::uint32_t> data{split.n_children, split.default_child, levels.n_values};
      data.resize(3 + std::size_t{levels.n_values}, kNoChild);
      for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
        if (level_of_code[code] != kNoCode) {
          data[3 + level_of_code[code]] = split.child_of_code[code];
        }
      }
      return data;
    }
    std::vector<std::uint32_t> leaving;
    for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
      if (level_of_code[code] != kNoCode && split.child_of_code[code] != split.default_child) {
        leaving.push_back(level_of_code[code]);
      }
    }
    std::sort(leaving.begin(), leaving.end());
    const std::size_t n_words = leaving.back() / 32 + 1;
    if (leaving.size() <= n_words) {
      leaving.insert(leaving.begin(), static_cast<std::uint32_t>(leaving.size()) | kListFlag);
      return leaving;
    }
    std::vector<std::uint32_t> data(1 + n_words, 0);
    data[0] = static_cast<std::uint32_t>(n_words);
    for (const std::uint32_t level : leaving) data[1 + level / 32] |= 1U << (level % 32);
    return data;
  }

  // --- the finished tree --------------------------------------------------------------------

  // Numbers the nodes depth-first, siblings side by side, and fills in what users read.
  Tree assemble(const Piece& top, const std::vector<Piece>& pieces) const {
    Tree tree;
    tree.n_features = static_cast<std::uint32_t>(data_.dataset->n_features());
    std::vector<NodeRange> ranges(1);
    std::vector<Bounds> bounds(1);
    tree.nodes.resize(1);
    struct Pending {
      const Piece* piece;
      std::size_t index;
      std::size_t number;
    };
    std::vector<Pending> stack{{&top, 0, 0}};
    while (!stack.empty()) {
      auto [piece, index, number] = stack.back();
      stack.pop_back();
      if ((*piece)[index].piece != kNone) {
        piece = &pieces[static_cast<std::size_t>((*piece)[index].piece)];
        index = 0;
      }
      const GrownNode& grown = (*piece)[index];
      tree.nodes[number] = grown.node;
      ranges[number] = grown.range;
      bounds[number] = grown.bounds;
      if (grown.first_child == kNone) continue;
      const std::size_t first = tree.nodes.size();
      tree.nodes[number].first_child = static_cast<std::uint32_t>(first);
      if (!grown.category_data.empty()) {
        tree.nodes[number].threshold.offset = tree.category_data.size();
        tree.category_data.insert(tree.category_data.end(), grown.category_data.begin(),
                                  grown.category_data.end());
      }
      tree.nodes.resize(first + grown.n_children);
      ranges.resize(first + grown.n_children);
      bounds.resize(first + grown.n_children);
      for (std::size_t child = grown.n_children; child-- > 0;) {
        stack.push_back(
            {piece, static_cast<std::size_t>(grown.first_child) + child, first + child});
      }
    }
    if (options_.monotonic.empty()) bounds.clear();
    fill_statistics(tree, data_, options_.criterion, order_, ranges, bounds);
    return tree;
  }

  const GrowOptions& options_;
  Monitor& monitor_;
  FitData data_;
  double total_weight_ = 0.0;
  std::vector<std::uint32_t> order_;  // entries, leaf by leaf
};

}  // namespace

Tree grow_tree(const BinnedDataset& dataset, const Target& target, const Entries& entries,
               const GrowOptions& options, Monitor& monitor) {
  return TreeGrower(dataset, target, entries, options, monitor).grow();
}

}  // namespace committee
