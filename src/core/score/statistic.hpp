// What is known about a set of rows, as integers: their sums are exact and free of order.
//
// A *cell* is the statistic of the rows that share a code. Three layouts of a cell:
//   BinaryCounts   one 64-bit number: weight of class 1 in the upper half, total in the lower
//   ClassCounts    weight of each class, outputs one after the other
//   TargetSums     weight, then the sum of weight * target of each output
// Weights that count repetitions are used as they are; other weights and targets are put on a
// grid of a power of two chosen for the rows at hand, so deep nodes keep full resolution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/moves.hpp"
#include "data/target.hpp"

namespace committee {

enum class StatisticLayout : std::uint8_t { kBinaryCounts, kClassCounts, kTargetSums };

// The statistics of the single rows of a block.
struct RowStatistics {
  StatisticLayout layout = StatisticLayout::kTargetSums;
  std::size_t n_outputs = 1;
  std::size_t cell_size = 1;  // integers in a cell

  std::vector<std::uint64_t> packed;       // kBinaryCounts: what a row adds to a cell
  std::vector<std::uint32_t> slots;        // kClassCounts: rows x outputs, which integer to add to
  std::vector<std::int64_t> weights;       // kClassCounts: what to add
  std::vector<std::int64_t> sums;          // kTargetSums: rows x cell_size
  std::vector<double> targets;             // kTargetSums: rows x outputs, as given
  std::vector<std::uint32_t> repetitions;  // rows a row stands for; empty: the weight says it

  int weight_exponent = 0;         // weight = integer * 2^-weight_exponent
  std::vector<int> sum_exponents;  // per output, likewise
  std::vector<double> centres;     // per output: what was taken off the target
  std::vector<double> reaches;     // per output: largest distance from the centre
  int weight_magnitude = 0;        // of the whole fit, see StatisticOptions
  int target_magnitude = 0;
  std::vector<double> row_weights;         // as given, unless they count repetitions
  double total_weight = 0.0;               // of these
  std::vector<std::uint32_t> first_class;  // kClassCounts: first slot of each output, then the end
};

// What all statistics of a fit have in common.
struct StatisticOptions {
  StatisticLayout layout = StatisticLayout::kTargetSums;
  bool count_rows = false;       // rows are counted apart from their weights
  bool count_positives = false;  // cells of kTargetSums end with the rows above zero, per output
  // The sum of all weights is about 2^weight_magnitude, the largest distance between targets
  // about 2^target_magnitude. Decreases of impurity are in these units, so that they can be
  // compared between nodes without overflow, whatever the units of the user.
  int weight_magnitude = 0;
  int target_magnitude = 0;
};

RowStatistics make_statistics(const Target& target, const Entries& entries,
                              std::span<const std::uint32_t> which,
                              const StatisticOptions& options);

// Whether the targets of a node, from low to high, are blurred by a grid made for targets that
// reach so far from their centre.
inline bool is_blurred(double low, double high, double reach) {
  constexpr double kBlur = 1.0 / 1024;  // ten of the forty or more bits may be lost
  const double own_reach = high / 2 - low / 2;
  return own_reach > 0.0 && own_reach < kBlur * reach;
}

// Whether the rows of a node have so much smaller targets or weights than the block's that its
// grid would blur them (a giant was split off, say).
bool is_too_coarse(const RowStatistics& rows, std::span<const std::uint32_t> which);

// The statistics of some rows of a block, where they can be taken over as they are: class weights
// that count repetitions need no finer grid. Returns false where they have to be made anew.
bool take_statistics(const RowStatistics& parent, std::span<const std::uint32_t> parent_rows,
                     RowStatistics& rows);

// Puts rows in another order, with all that is known of them.
template <typename Moves>
void move_statistics(RowStatistics& rows, const Moves& moves, std::vector<std::byte>& scratch) {
  move_items(rows.packed, 1, moves, scratch);
  move_items(rows.slots, rows.n_outputs, moves, scratch);
  move_items(rows.weights, 1, moves, scratch);
  move_items(rows.sums, rows.cell_size, moves, scratch);
  move_items(rows.targets, rows.n_outputs, moves, scratch);
  move_items(rows.repetitions, 1, moves, scratch);
  move_items(rows.row_weights, 1, moves, scratch);
}

// The number of repetitions of some rows, where weights count them; `are_neighbours`: they follow
// each other.
std::int64_t count_repetitions(const RowStatistics& rows, std::span<const std::uint32_t> which,
                               bool are_neighbours);

// Adders know how a row changes a cell; the one template axis below the node besides criteria.
struct BinaryAdder {
  using Cell = std::uint64_t;
  const std::uint64_t* packed;

  explicit BinaryAdder(const RowStatistics& rows) : packed(rows.packed.data()) {}
  static constexpr std::size_t cell_size() { return 1; }
  void add(Cell* cell, std::size_t row) const { *cell += packed[row]; }
  // Rows begin ... end - 1. Summed up apart from the cell, which might be one of the rows.
  void add_range(Cell* cell, std::size_t begin, std::size_t end) const {
    Cell sum = 0;
    for (std::size_t row = begin; row < end; ++row) sum += packed[row];
    *cell += sum;
  }
  // Adds the row if `mask` has all bits set, nothing if it has none: no branch to mispredict.
  void add_masked(Cell* cell, std::size_t row, std::uint64_t mask) const {
    *cell += packed[row] & mask;
  }
  static bool is_empty(const Cell* cell) { return *cell == 0; }
  static std::int64_t weight(const Cell* cell) {
    return static_cast<std::int64_t>(*cell & 0xFFFFFFFFULL);
  }
};

struct ClassAdder {
  using Cell = std::int64_t;
  const std::uint32_t* slots;
  const std::int64_t* weights;
  std::size_t n_outputs;
  std::size_t size;
  std::size_t n_first;  // classes of the first output: enough to know the weight

  explicit ClassAdder(const RowStatistics& rows)
      : slots(rows.slots.data()),
        weights(rows.weights.data()),
        n_outputs(rows.n_outputs),
        size(rows.cell_size),
        n_first(rows.first_class[1]) {}
  std::size_t cell_size() const { return size; }
  void add(Cell* cell, std::size_t row) const {
    const std::int64_t weight_of_row = weights[row];
    for (std::size_t output = 0; output < n_outputs; ++output) {
      cell[slots[row * n_outputs + output]] += weight_of_row;
    }
  }
  void add_range(Cell* cell, std::size_t begin, std::size_t end) const {
    for (std::size_t row = begin; row < end; ++row) add(cell, row);
  }
  void add_masked(Cell* cell, std::size_t row, std::uint64_t mask) const {
    const std::int64_t weight_of_row = weights[row] & static_cast<std::int64_t>(mask);
    for (std::size_t output = 0; output < n_outputs; ++output) {
      cell[slots[row * n_outputs + output]] += weight_of_row;
    }
  }
  std::int64_t weight(const Cell* cell) const {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < n_first; ++i) total += cell[i];
    return total;
  }
  bool is_empty(const Cell* cell) const { return weight(cell) == 0; }
};

struct SumAdder {
  using Cell = std::int64_t;
  const std::int64_t* sums;
  std::size_t size;

  explicit SumAdder(const RowStatistics& rows) : sums(rows.sums.data()), size(rows.cell_size) {}
  std::size_t cell_size() const { return size; }
  void add(Cell* cell, std::size_t row) const {
    if (size == 2) {  // one target: both at once
      cell[0] += sums[2 * row];
      cell[1] += sums[2 * row + 1];
      return;
    }
    for (std::size_t i = 0; i < size; ++i) cell[i] += sums[row * size + i];
  }
  void add_range(Cell* cell, std::size_t begin, std::size_t end) const {
    for (std::size_t row = begin; row < end; ++row) add(cell, row);
  }
  void add_masked(Cell* cell, std::size_t row, std::uint64_t mask) const {
    for (std::size_t i = 0; i < size; ++i) {
      cell[i] += sums[row * size + i] & static_cast<std::int64_t>(mask);
    }
  }
  static std::int64_t weight(const Cell* cell) { return cell[0]; }
  static bool is_empty(const Cell* cell) { return cell[0] == 0; }
};

}  // namespace committee
