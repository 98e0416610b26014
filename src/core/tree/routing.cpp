// Sends rows down a tree. A walk is a chain of cache misses, so each thread walks several rows at
// a time: while one row waits for its node, the others go on.
//
// How a row's real values are reached depends on the table (see step.hpp): TableCells, BlockCells,
// or MatrixCells for a float matrix of any strides, read in place. All give the same double.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <optional>

#include "base/thread_pool.hpp"
#include "tree/step.hpp"
#include "tree/tree.hpp"

namespace committee {
namespace {

struct Matrix {
  const std::byte* data = nullptr;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t feature_stride = 0;
  ValueType type = ValueType::kFloat64;

  bool is_row_major() const { return std::abs(feature_stride) <= std::abs(row_stride); }
};

template <typename T>
struct MatrixCells {
  static constexpr bool kOnlyReal = true;
  Matrix matrix;

  double real(std::size_t row, std::uint32_t feature) const {
    T value;
    std::memcpy(&value,
                matrix.data + static_cast<std::ptrdiff_t>(row) * matrix.row_stride +
                    static_cast<std::ptrdiff_t>(feature) * matrix.feature_stride,
                sizeof(T));
    return static_cast<double>(value);
  }
};

// Walks rows begin .. end - 1; leaves[0] is for row `begin`.
template <typename Cells>
void walk(const Tree& tree, const Cells& cells, Range rows, std::uint32_t* leaves) {
  struct Lane {
    std::size_t row;
    std::uint32_t node;
  };
  constexpr std::size_t kLanes = 16;
  std::array<Lane, kLanes> lanes;
  std::size_t next_row = rows.begin;
  std::size_t n_lanes = std::min(kLanes, rows.end - rows.begin);
  for (std::size_t i = 0; i < n_lanes; ++i) lanes[i] = {next_row++, 0};
  const Node* nodes = tree.nodes.data();
  while (n_lanes > 0) {
    for (std::size_t i = 0; i < n_lanes; ++i) {
      Lane& lane = lanes[i];
      const Node& node = nodes[lane.node];
      if (!node.is_leaf()) {
        lane.node = next_node(tree, node, cells, lane.row);
        continue;
      }
      leaves[lane.row - rows.begin] = lane.node;
      if (next_row < rows.end) {
        lane = {next_row++, 0};
      } else {
        lane = lanes[--n_lanes];  // its turn is skipped once, which costs nothing
      }
    }
  }
}

// Copying a row costs about as much as a few steps of a walk; a row of a wider table is better
// read where it is, for a walk looks at few of its features.
constexpr std::size_t kMaxCopiedFeatures = 256;
constexpr std::size_t kMinCopiedRows = 64;
constexpr std::size_t kBlockRows = 256;

void walk_blocks(const Tree& tree, const TableView& table, Range rows, std::uint32_t* leaves) {
  std::vector<double> values(kBlockRows * table.n_features());
  for (std::size_t begin = rows.begin; begin < rows.end; begin += kBlockRows) {
    const Range block{begin, std::min(begin + kBlockRows, rows.end)};
    for (std::size_t i = 0; i < table.n_features(); ++i) {
      if (table.kinds[i] != FeatureKind::kReal) continue;
      copy_column(table.columns[i], block.begin, block.end, values.data() + i, table.n_features());
    }
    walk(tree, BlockCells{table, values.data(), begin}, block, leaves + (begin - rows.begin));
  }
}

// The table as one matrix of floats, if it is one.
std::optional<Matrix> as_matrix(const TableView& table) {
  if (table.n_features() == 0) return std::nullopt;
  const auto address = [&](std::size_t i) {
    return std::bit_cast<std::intptr_t>(table.columns[i].data);
  };
  const ColumnView& first = table.columns[0];
  Matrix matrix{first.data, first.stride, 0, first.type};
  if (matrix.type != ValueType::kFloat64 && matrix.type != ValueType::kFloat32) {
    return std::nullopt;
  }
  if (table.n_features() > 1) matrix.feature_stride = address(1) - address(0);
  for (std::size_t i = 0; i < table.n_features(); ++i) {
    const ColumnView& column = table.columns[i];
    const bool fits =
        table.kinds[i] == FeatureKind::kReal && column.type == matrix.type &&
        column.missing == nullptr && column.stride == matrix.row_stride &&
        address(i) - address(0) == static_cast<std::ptrdiff_t>(i) * matrix.feature_stride;
    if (!fits) return std::nullopt;
  }
  return matrix;
}

// Picks the fastest way to walk once, then serves chunks of rows from any thread.
class Router {
 public:
  Router(const Tree& tree, const TableView& table)
      : tree_(tree), table_(table), matrix_(as_matrix(table)) {}

  void route(Range rows, std::uint32_t* leaves) const {
    const bool may_copy =
        rows.end - rows.begin >= kMinCopiedRows && table_.n_features() <= kMaxCopiedFeatures;
    if (may_copy && (!matrix_ || !matrix_->is_row_major())) {
      walk_blocks(tree_, table_, rows, leaves);
    } else if (matrix_ && matrix_->type == ValueType::kFloat64) {
      walk(tree_, MatrixCells<double>{*matrix_}, rows, leaves);
    } else if (matrix_) {
      walk(tree_, MatrixCells<float>{*matrix_}, rows, leaves);
    } else {
      walk(tree_, TableCells{table_}, rows, leaves);
    }
  }

 private:
  const Tree& tree_;
  const TableView& table_;
  std::optional<Matrix> matrix_;
};

// Calls body(range) for chunks of the rows; few rows stay on the calling thread.
template <typename Body>
void for_chunks_of_rows(std::size_t n_rows, std::size_t n_threads, const Body& body) {
  constexpr std::size_t kMinChunk = 2048;
  const std::size_t n_chunks = chunk_count(n_rows, kMinChunk, n_threads);
  if (n_chunks == 1) return body(Range{0, n_rows});
  parallel_for(n_chunks, n_threads, [&](std::size_t i) { body(chunk_range(n_rows, n_chunks, i)); });
}

}  // namespace

void apply(const Tree& tree, const TableView& table, std::span<std::uint32_t> leaves,
           std::size_t n_threads) {
  const Router router(tree, table);
  for_chunks_of_rows(table.n_rows, n_threads,
                     [&](Range rows) { router.route(rows, leaves.data() + rows.begin); });
}

void predict(const Tree& tree, const TableView& table, std::span<double> out,
             std::size_t n_threads) {
  const Router router(tree, table);
  const std::size_t n_values = tree.n_values;
  for_chunks_of_rows(table.n_rows, n_threads, [&](Range rows) {
    std::array<std::uint32_t, 1024> leaves;
    for (std::size_t begin = rows.begin; begin < rows.end; begin += leaves.size()) {
      const Range block{begin, std::min(begin + leaves.size(), rows.end)};
      router.route(block, leaves.data());
      for (std::size_t row = block.begin; row < block.end; ++row) {
        std::copy_n(tree.values.data() + leaves[row - begin] * n_values, n_values,
                    out.data() + row * n_values);
      }
    }
  });
}

DecisionPath decision_path(const Tree& tree, const TableView& table) {
  DecisionPath path;
  path.offsets.reserve(table.n_rows + 1);
  path.offsets.push_back(0);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    std::uint32_t node = 0;
    path.indices.push_back(0);
    while (!tree.nodes[node].is_leaf()) {
      node = next_node(tree, tree.nodes[node], TableCells{table}, row);
      path.indices.push_back(static_cast<std::int32_t>(node));
    }
    path.offsets.push_back(static_cast<std::int64_t>(path.indices.size()));
  }
  return path;
}

}  // namespace committee
