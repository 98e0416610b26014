#include "data/column_groups.hpp"

namespace committee {
namespace {

std::size_t size_of(ValueType type) {
  switch (type) {
    case ValueType::kFloat64:
    case ValueType::kInt64:
    case ValueType::kSparse:
      return 8;
    case ValueType::kFloat32:
    case ValueType::kInt32:
      return 4;
    case ValueType::kUint8:
      return 1;
  }
  return 8;
}

// Copies neighbouring columns side by side into `copy`; returns views on the copies.
template <typename T>
std::vector<ColumnView> copy_columns(std::span<const ColumnView> columns, std::size_t n_rows,
                                     std::vector<std::uint64_t>& copy) {
  copy.resize((columns.size() * n_rows * sizeof(T) + 7) / 8);
  T* const out = reinterpret_cast<T*>(copy.data());
  const std::size_t n_columns = columns.size();
  for (std::size_t row = 0; row < n_rows; ++row) {
    const auto* in = reinterpret_cast<const T*>(columns[0].data + static_cast<std::ptrdiff_t>(row) *
                                                                      columns[0].stride);
    for (std::size_t i = 0; i < n_columns; ++i) out[i * n_rows + row] = in[i];
  }
  std::vector<ColumnView> views(columns.begin(), columns.end());
  for (std::size_t i = 0; i < n_columns; ++i) {
    views[i].data = reinterpret_cast<const std::byte*>(out + i * n_rows);
    views[i].stride = sizeof(T);
  }
  return views;
}

}  // namespace

std::vector<std::size_t> group_neighbours(const TableView& table) {
  constexpr std::size_t kGroup = 8;
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < table.n_features(); ++i) {
    const ColumnView& column = table.columns[i];
    const auto size = static_cast<std::ptrdiff_t>(size_of(column.type));
    const bool joins = !begins.empty() && i - begins.back() < kGroup && column.stride != size &&
                       !column.is_sparse() && column.missing == nullptr &&
                       table.columns[i - 1].missing == nullptr &&
                       column.type == table.columns[i - 1].type &&
                       column.stride == table.columns[i - 1].stride &&
                       column.data == table.columns[i - 1].data + size;
    if (!joins) begins.push_back(i);
  }
  begins.push_back(table.n_features());
  return begins;
}

std::vector<ColumnView> gather_columns(std::span<const ColumnView> columns, std::size_t n_rows,
                                       std::vector<std::uint64_t>& copy) {
  if (columns.size() < 2) return {columns.begin(), columns.end()};
  switch (size_of(columns[0].type)) {
    case 8:
      return copy_columns<std::uint64_t>(columns, n_rows, copy);
    case 4:
      return copy_columns<std::uint32_t>(columns, n_rows, copy);
    default:
      return copy_columns<std::uint8_t>(columns, n_rows, copy);
  }
}

}  // namespace committee
