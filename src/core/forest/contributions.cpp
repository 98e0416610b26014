#include "forest/contributions.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/gauss_rule.hpp"
#include "base/simd.hpp"
#include "base/thread_pool.hpp"
#include "forest/edges.hpp"
#include "forest/forest_routing.hpp"
#include "tree/step.hpp"

namespace committee {
namespace {

// Rows walk in blocks of so many: the innermost loops are over the rows of a block.
constexpr std::size_t kLanes = 32;

// ---- the rows of a block ----

// Rows first, first + 1, ... of the table; lanes beyond `last` repeat that row. Real values are
// copied to doubles, the lanes of a feature side by side.
struct BlockRows {
  const TableView& table;
  const double* values;
  std::size_t first;
  std::size_t last;
};

// The number of the child of a node that each lane goes to.
COMMITTEE_INLINE void choose_children(const Tree& tree, std::uint32_t at, const BlockRows& rows,
                                      double* __restrict children) {
  const Node& node = tree.nodes[at];
  if (node.kind() == SplitKind::kReal) {
    const double* __restrict values = rows.values + node.feature() * kLanes;
    const double threshold = node.threshold.real;
    const bool missing_goes_right = !node.missing_goes_left();
    for (std::size_t i = 0; i < kLanes; ++i) {
      const bool is_missing = values[i] != values[i];
      children[i] = (values[i] > threshold) | (is_missing & missing_goes_right) ? 1.0 : 0.0;
    }
    return;
  }
  const TableCells cells{rows.table};
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::size_t row = std::min(rows.first + i, rows.last);
    children[i] = static_cast<double>(next_node(tree, node, cells, row) - node.first_child);
  }
}

// ---- the path from the root to the edge at hand ----

// What is known of the edges of the path, by level. Level 0 stands for a feature that has not been
// asked: o = z = 1.
class Path {
 public:
  void prepare(const EdgeList& list, const GaussRule& rule, std::size_t n_values) {
    const std::size_t n_points = rule.n_points();
    n_points_ = n_points;
    n_values_ = n_values;
    points_ = rule.points;
    weights_ = rule.weights;
    gains_off_.resize(n_points);
    for (std::size_t q = 0; q < n_points; ++q) gains_off_[q] = -weights_[q] / (1.0 - points_[q]);
    const std::size_t n_levels = list.n_levels;
    edges.resize(n_levels);
    is_on_.resize(n_levels * kLanes);
    children_.resize(n_levels * kLanes);
    inverses_.resize(n_levels * n_points);
    gains_.resize(n_levels * n_points);
    more_on_.resize(n_levels * n_points);
    more_off_.resize(n_levels * n_points);
    products_.resize(n_levels * n_points * kLanes);
    sums_.resize(n_levels * n_values * n_points * kLanes);
    std::fill_n(is_on(0), kLanes, 1.0);
    std::fill_n(inverses(0), n_points, 1.0);
    std::fill_n(gains(0), n_points, 0.0);
    std::fill_n(products(0), n_points * kLanes, 1.0);
  }
  std::size_t n_points() const { return n_points_; }
  std::size_t n_values() const { return n_values_; }

  const double* points() const { return points_.data(); }
  const double* weights() const { return weights_.data(); }
  const double* gains_off() const { return gains_off_.data(); }  // where o = 0, times the weight

  // Of each lane: o of the feature of the edge, and where it goes from the node below.
  double* is_on(std::size_t level) { return &is_on_[level * kLanes]; }
  double* children(std::size_t level) { return &children_[level * kLanes]; }
  // Of each point, where o = 1: 1 / (s + z (1 - s)), and the gain, times the weight of the point.
  double* inverses(std::size_t level) { return &inverses_[level * n_points_]; }
  double* gains(std::size_t level) { return &gains_[level * n_points_]; }
  // Of each point: how much the gain is more than before, for lanes that stay and that leave.
  double* more_on(std::size_t level) { return &more_on_[level * n_points_]; }
  double* more_off(std::size_t level) { return &more_off_[level * n_points_]; }
  // Products of o s + z (1 - s) over the features split on so far, by points and lanes.
  double* products(std::size_t level) { return &products_[level * n_points_ * kLanes]; }
  // Sums of value times product over the leaves below, by values, points and lanes.
  double* sums(std::size_t level) { return &sums_[level * n_values_ * n_points_ * kLanes]; }

  std::vector<const Edge*> edges;

 private:
  std::size_t n_points_ = 0;
  std::size_t n_values_ = 0;
  std::vector<double> points_, weights_, gains_off_;
  std::vector<double> is_on_, children_, inverses_, gains_, more_on_, more_off_, products_, sums_;
};

// Goes down an edge: its factor takes the place of the one that its feature had in the products.
//
// Leaves below give the feature their sum times its *gain* (o - z) / (o s + z (1 - s)), and the
// feature's previous edge has counted them by its own gain, so that each edge brings the
// difference. A lane stays on the way of the feature, or leaves it here, or had left it before:
// then only z changes, and the gain is -1 / (1 - s) as it was. One of three numbers is 1 for a lane
// and the others are 0; sums instead of branches are vector code.
COMMITTEE_INLINE void go_down(Path& path, const Edge& edge) {
  const double* __restrict children = path.children(edge.level - 1);
  const double* __restrict was_on = path.is_on(edge.previous);
  double* __restrict is_on = path.is_on(edge.level);
  const auto child = static_cast<double>(edge.child);
  double leaves[kLanes];
  double had_left[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double was = was_on[i];
    is_on[i] = children[i] == child ? was : 0.0;
    leaves[i] = was_on[i] - is_on[i];
    had_left[i] = (1.0 - was_on[i]) * edge.share;
  }
  const double* __restrict inverse_before = path.inverses(edge.previous);
  const double* __restrict gain_before = path.gains(edge.previous);
  double* __restrict inverses = path.inverses(edge.level);
  double* __restrict gains = path.gains(edge.level);
  const double* __restrict above = path.products(edge.level - 1);
  double* __restrict products = path.products(edge.level);
  for (std::size_t q = 0; q < path.n_points(); ++q) {
    const double z_part = edge.z * (1.0 - path.points()[q]);
    const double factor = path.points()[q] + z_part;
    inverses[q] = 1.0 / factor;
    gains[q] = path.weights()[q] * (1.0 - edge.z) * inverses[q];
    path.more_on(edge.level)[q] = gains[q] - gain_before[q];
    path.more_off(edge.level)[q] = path.gains_off()[q] - gain_before[q];
    const double if_on = factor * inverse_before[q];
    const double if_leaves = z_part * inverse_before[q];
    for (std::size_t i = 0; i < kLanes; ++i) {
      products[q * kLanes + i] =
          above[q * kLanes + i] * (is_on[i] * if_on + leaves[i] * if_leaves + had_left[i]);
    }
  }
}

// What the leaves below an edge give its feature, their sums given.
COMMITTEE_INLINE void find_gain(Path& path, const Edge& edge, const double* __restrict sums,
                                double* __restrict gain) {
  const double* __restrict more_on = path.more_on(edge.level);
  const double* __restrict more_off = path.more_off(edge.level);
  const double* __restrict was_on = path.is_on(edge.previous);
  const double* __restrict is_on = path.is_on(edge.level);
  const std::size_t n_points = path.n_points();
  for (std::size_t i = 0; i < kLanes; ++i) {
    double if_on = 0.0;
    double if_leaves = 0.0;
    std::size_t q = 0;
    do {  // there is a point; not asking lets the compiler make vectors of lanes
      if_on += more_on[q] * sums[q * kLanes + i];
      if_leaves += more_off[q] * sums[q * kLanes + i];
    } while (++q < n_points);
    gain[i] = is_on[i] * if_on + (was_on[i] - is_on[i]) * if_leaves;
  }
}

// to += factor * from.
COMMITTEE_INLINE void add_scaled(const double* __restrict from, double factor, std::size_t size,
                                 double* __restrict to) {
  for (std::size_t i = 0; i < size; ++i) to[i] += factor * from[i];
}

// Adds a leaf: to its feature, and to the sums of the level above.
COMMITTEE_INLINE void add_leaf(Path& path, const Edge& edge, const double* values, double* out) {
  const std::size_t size = path.n_points() * kLanes;
  const double* products = path.products(edge.level);
  double gain[kLanes];
  find_gain(path, edge, products, gain);
  for (std::size_t k = 0; k < path.n_values(); ++k) {
    add_scaled(gain, values[k], kLanes, out + (edge.feature * path.n_values() + k) * kLanes);
    add_scaled(products, values[k], size, path.sums(edge.level - 1) + k * size);
  }
}

// Goes back up an edge when all leaves below have been added.
COMMITTEE_INLINE void go_up(Path& path, std::size_t level, double* out) {
  const std::size_t size = path.n_points() * kLanes;
  const Edge& edge = *path.edges[level];
  for (std::size_t k = 0; k < path.n_values(); ++k) {
    const double* sums = path.sums(level) + k * size;
    double gain[kLanes];
    find_gain(path, edge, sums, gain);
    add_scaled(gain, 1.0, kLanes, out + (edge.feature * path.n_values() + k) * kLanes);
    add_scaled(sums, 1.0, size, path.sums(level - 1) + k * size);
  }
}

// Adds the contributions of a tree to out: n_features x n_values x kLanes.
COMMITTEE_INLINE void explain_block_code(const EdgeList& list, const BlockRows& rows, Path& path,
                                         double* out) {
  const std::size_t size = path.n_values() * path.n_points() * kLanes;
  std::size_t level = 0;
  choose_children(*list.tree, 0, rows, path.children(0));
  std::fill_n(path.sums(0), size, 0.0);
  for (const Edge& edge : list.edges) {
    for (; level >= edge.level; --level) go_up(path, level, out);
    go_down(path, edge);
    if (edge.is_leaf()) {
      add_leaf(path, edge, &list.leaf_values[edge.leaf * path.n_values()], out);
      continue;
    }
    level = edge.level;
    path.edges[level] = &edge;
    choose_children(*list.tree, edge.to, rows, path.children(level));
    std::fill_n(path.sums(level), size, 0.0);
  }
  for (; level > 0; --level) go_up(path, level, out);
}

COMMITTEE_TWICE(void, explain_block,
                (const EdgeList& list, const BlockRows& rows, Path& path, double* out),
                (list, rows, path, out))

// ---- many rows, many trees ----

// Explains some neighbouring rows tree by tree. Nothing here grows with rows times trees.
class Explainer {
 public:
  Explainer(const TableView& table, Range rows, std::size_t n_values)
      : table_(table),
        rows_(rows),
        n_values_(n_values),
        n_blocks_((rows.end - rows.begin + kLanes - 1) / kLanes),
        values_(n_blocks_ * table.n_features() * kLanes),
        sums_(n_blocks_ * table.n_features() * n_values * kLanes, 0.0),
        mean_(n_values, 0.0) {
    for (std::size_t block = 0; block < n_blocks_; ++block) copy_block(block);
  }

  void add(const EdgeList& list, Monitor& monitor) {
    for (std::size_t i = 0; i < n_values_; ++i) mean_[i] += list.mean[i];
    if (list.edges.empty()) return;
    const std::size_t n_points = (std::size_t{list.n_features} + 1) / 2;
    GaussRule& rule = rules_[n_points];
    if (rule.points.empty()) rule = make_gauss_rule(n_points);
    path_.prepare(list, rule, n_values_);
    for (std::size_t block = 0; block < n_blocks_; ++block) {
      monitor.check();
      explain_block(list, block_rows(block), path_, sums_of(block));
    }
  }

  // out: n_rows x (n_features + 1) x n_values.
  void write(double* out) const {
    const std::size_t width = table_.n_features() * n_values_;
    for (std::size_t row = 0; row < rows_.end - rows_.begin; ++row) {
      const double* sums = &sums_[row / kLanes * width * kLanes + row % kLanes];
      for (std::size_t i = 0; i < width; ++i) *out++ = sums[i * kLanes];
      out = std::copy(mean_.begin(), mean_.end(), out);
    }
  }

 private:
  BlockRows block_rows(std::size_t block) const {
    const std::size_t first = rows_.begin + block * kLanes;
    return {table_, values_.data() + block * table_.n_features() * kLanes, first,
            std::min(first + kLanes, rows_.end) - 1};
  }
  double* sums_of(std::size_t block) {
    return sums_.data() + block * table_.n_features() * n_values_ * kLanes;
  }
  void copy_block(std::size_t block) {
    const BlockRows rows = block_rows(block);
    const std::size_t n_rows = rows.last - rows.first + 1;
    for (std::size_t i = 0; i < table_.n_features(); ++i) {
      if (table_.kinds[i] != FeatureKind::kReal) continue;
      double* values = values_.data() + (block * table_.n_features() + i) * kLanes;
      copy_column(table_.columns[i], rows.first, rows.last + 1, values, 1);
      std::fill(values + n_rows, values + kLanes, values[n_rows - 1]);
    }
  }

  const TableView& table_;
  Range rows_;
  std::size_t n_values_;
  std::size_t n_blocks_;
  std::vector<double> values_;
  std::vector<double> sums_;  // of each block, by features, values and lanes
  std::vector<double> mean_;
  std::map<std::size_t, GaussRule> rules_;  // by numbers of points
  Path path_;
};

}  // namespace

void contributions(const Forest& forest, const TableView& table, bool hard,
                   std::span<const double> tree_weights, std::span<double> out,
                   std::size_t n_threads, Monitor& monitor) {
  const std::size_t n_values = forest.info.n_values;
  const std::size_t width = (table.n_features() + 1) * n_values;
  // Listing the edges of a tree costs about as much as a block of rows; the sums of many rows of a
  // wide table would leave the cache.
  constexpr std::size_t kMinRows = 4 * kLanes;
  constexpr std::size_t kMaxCells = std::size_t{1} << 16;
  const std::size_t most = std::clamp<std::size_t>(kMaxCells / width, kMinRows, 1024);
  const std::size_t n_chunks =
      std::max((table.n_rows + most - 1) / most, chunk_count(table.n_rows, kMinRows, n_threads));
  const auto explain_chunk = [&](std::size_t chunk) {
    const Range rows = chunk_range(table.n_rows, n_chunks, chunk);
    if (rows.begin == rows.end) return;
    Explainer explainer(table, rows, n_values);
    for (std::size_t i = 0; i < forest.n_trees(); ++i) {
      const CompactTree& tree = *forest.trees[i];
      const double weight = tree_weights.empty() ? 1.0 : tree_weights[i];
      explainer.add(hard ? list_edges(tree, as_votes(tree.values(), forest.info), weight)
                         : list_edges(tree, tree.values(), weight),
                    monitor);
    }
    explainer.write(out.data() + rows.begin * width);
  };
  parallel_for(n_chunks, n_threads, explain_chunk, &monitor);
}

void contributions(const Tree& tree, const TableView& table, std::span<double> out,
                   std::size_t n_threads, Monitor& monitor) {
  auto numbered = std::make_shared<CompactTree>();
  numbered->tree = tree;
  number_leaves(*numbered);
  Forest forest;
  forest.info.n_features = tree.n_features;
  forest.info.n_values = tree.n_values;
  forest.add(std::move(numbered));
  contributions(forest, table, false, {}, out, n_threads, monitor);
}

}  // namespace committee
