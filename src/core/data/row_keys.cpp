#include "data/row_keys.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

constexpr std::uint64_t kMissing = 0x7FF8000000000000ULL;  // not the bits of any present value

// -0.0 becomes 0.0, and one NaN stands for all.
inline std::uint64_t real_bits(double value) {
  return std::isnan(value) ? kMissing : std::bit_cast<std::uint64_t>(value + 0.0);
}

// An integer that a double can hold is that double: whether a column is kept as integers depends on
// its other rows.
inline std::uint64_t integer_bits(const Integer& integer) {
  if (integer.is_missing) return kMissing;
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const std::int64_t value = integer.value;
  if (value >= -kExact && value <= kExact) return real_bits(static_cast<double>(value));
  return scatter(static_cast<std::uint64_t>(value));
}

// Two steps that can be undone: as long as keys differ they stay different.
inline std::uint64_t mixed(std::uint64_t key, std::uint64_t bits) {
  const std::uint64_t product = (key ^ bits) * 0x9E3779B97F4A7C15ULL;
  return product ^ (product >> 29);
}

template <typename Bits>
void add_column(Range rows, std::span<std::uint64_t> keys, const Bits& bits) {
  for (std::size_t row = rows.begin; row < rows.end; ++row) keys[row] = mixed(keys[row], bits(row));
}

void add_sparse_column(const ColumnView& column, Range rows, std::span<std::uint64_t> keys) {
  std::size_t place = column.first_stored(rows.begin);
  add_column(rows, keys, [&](std::size_t row) {
    const bool is_stored = place < column.stored.size() && column.stored_row(place) == row;
    return real_bits(is_stored ? column.stored_value(place++) : 0.0);
  });
}

void add_rows(const TableView& table, std::span<const std::vector<std::uint64_t>> level_keys,
              Range rows, std::span<std::uint64_t> keys) {
  for (std::size_t feature = 0; feature < table.n_features(); ++feature) {
    const ColumnView& column = table.columns[feature];
    switch (table.kinds[feature]) {
      case FeatureKind::kReal:
        if (column.type == ValueType::kFloat64 && column.missing == nullptr) {  // the usual case
          add_column(rows, keys,
                     [&](std::size_t row) { return real_bits(column.at<double>(row)); });
        } else if (column.is_sparse()) {
          add_sparse_column(column, rows, keys);
        } else {
          add_column(rows, keys,
                     [&](std::size_t row) { return real_bits(read_real(column, row)); });
        }
        break;
      case FeatureKind::kInteger:
        add_column(rows, keys,
                   [&](std::size_t row) { return integer_bits(read_integer(column, row)); });
        break;
      case FeatureKind::kCategory:
        add_column(rows, keys, [&](std::size_t row) {
          const std::int32_t level = read_level(column, row);
          const std::vector<std::uint64_t>& known = level_keys[feature];
          const auto place = static_cast<std::size_t>(level);  // beyond all levels if missing
          return place < known.size() ? known[place] : kMissing;
        });
        break;
    }
  }
  for (std::size_t row = rows.begin; row < rows.end; ++row) keys[row] = scatter(keys[row]);
}

}  // namespace

void add_row_keys(const TableView& table, std::span<const std::vector<std::uint64_t>> level_keys,
                  std::size_t n_threads, std::span<std::uint64_t> keys) {
  constexpr std::size_t kRows = 512;  // the lines of so many rows of a matrix stay in the cache
  const std::size_t n_parts = (keys.size() + kRows - 1) / kRows;
  parallel_parts(n_parts, n_threads, [&](std::size_t part) {
    add_rows(table, level_keys, {part * kRows, std::min((part + 1) * kRows, keys.size())}, keys);
  });
}

}  // namespace committee
