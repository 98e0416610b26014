// Where a row goes from a node.
//
// How a row's real values are reached is a small type with a method `real(row, feature)`; it gives
// a double, NaN for a missing value. Unless kOnlyReal, integers and levels are read from `table`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "data/column.hpp"
#include "tree/tree.hpp"

namespace committee {

// Any table, read in place.
struct TableCells {
  static constexpr bool kOnlyReal = false;
  const TableView& table;

  double real(std::size_t row, std::uint32_t feature) const {
    return read_real(table.columns[feature], row);
  }
};

// Rows of a table whose real values have been copied to doubles side by side.
struct BlockCells {
  static constexpr bool kOnlyReal = false;
  const TableView& table;
  const double* values;  // of row first_row, feature 0
  std::size_t first_row;

  double real(std::size_t row, std::uint32_t feature) const {
    return values[(row - first_row) * table.n_features() + feature];
  }
};

// The number of the child to go to, without a branch for the compiler to guess.
inline std::uint32_t real_child(const Node& node, double value) {
  const bool is_missing = value != value;
  const bool goes_left = (value <= node.threshold.real) | (is_missing & node.missing_goes_left());
  return goes_left ? 0U : 1U;
}

inline std::uint32_t integer_child(const Node& node, Integer value) {
  const bool goes_left =
      value.is_missing ? node.missing_goes_left() : value.value <= node.threshold.integer;
  return goes_left ? 0U : 1U;
}

template <typename Cells>
inline std::uint32_t next_node(const Tree& tree, const Node& node, const Cells& cells,
                               std::size_t row) {
  const std::uint32_t feature = node.feature();
  if constexpr (!Cells::kOnlyReal) {
    const SplitKind kind = node.kind();
    if (kind == SplitKind::kInteger) {
      return node.first_child +
             integer_child(node, read_integer(cells.table.columns[feature], row));
    }
    if (kind != SplitKind::kReal) {
      return node.first_child +
             tree.child_of_level(node, read_level(cells.table.columns[feature], row));
    }
  }
  return node.first_child + real_child(node, cells.real(row, feature));
}

// Copies the real values of some rows of a column, every `step` values of `out`.
template <typename T>
void copy_column(const ColumnView& column, std::size_t begin, std::size_t end, T* out,
                 std::size_t step) {
  const auto copy = [&](auto read) {
    for (std::size_t row = begin; row < end; ++row, out += step) *out = static_cast<T>(read(row));
  };
  // The common types get a loop of their own: a pointer that moves on, several cells a round.
  const auto copy_plain = [&](auto value) {
    const std::byte* from = column.data + static_cast<std::ptrdiff_t>(begin) * column.stride;
    const std::ptrdiff_t stride = column.stride;
#if defined(__GNUC__)
#pragma GCC unroll 8
#endif
    for (std::size_t row = begin; row < end; ++row, from += stride, out += step) {
      std::memcpy(&value, from, sizeof(value));
      *out = static_cast<T>(value);
    }
  };
  if (column.missing == nullptr && column.type == ValueType::kFloat64) {
    copy_plain(double{});
  } else if (column.missing == nullptr && column.type == ValueType::kFloat32) {
    copy_plain(float{});
  } else if (column.is_sparse()) {
    for (std::size_t row = begin; row < end; ++row) out[(row - begin) * step] = T{};
    for (std::size_t place = column.first_stored(begin); place < column.stored.size(); ++place) {
      const auto row = column.stored_row(place);
      if (row >= end) break;
      out[(row - begin) * step] = static_cast<T>(column.stored_value(place));
    }
  } else {
    copy([&](std::size_t row) { return read_real(column, row); });
  }
}

}  // namespace committee
