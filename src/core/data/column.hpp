// Views on the columns of a table, as Python hands them over: nothing is copied.
//
// A *feature* is a column used for prediction. Its kind says how values are compared:
//   real      doubles; NaN is missing
//   integer   int64 beyond 2^53, where doubles would merge neighbours; a mask marks missing
//   category  int32 level numbers; a negative number is missing or a level unseen in training
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace committee {

enum class FeatureKind : std::uint8_t { kReal = 0, kInteger = 1, kCategory = 2 };

// Eight bytes that hold a value of a real or an integer feature.
union Value {
  double real;
  std::int64_t integer;
};

// Level numbers and the code for missing fit 16 bits: at most 65,535 levels.
constexpr std::uint32_t kMaxLevels = 1U << 16;

enum class ValueType : std::uint8_t {
  kFloat64 = 0,
  kFloat32 = 1,
  kInt64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kSparse = 5,  // float64 where a value is stored, zero elsewhere
};

// One column: `stride` is in bytes, so a column of a row-major matrix is a view as well.
// `missing` (one byte a row, may be null) marks missing integers. A sparse column has a value for
// each of its `stored` rows, which ascend.
struct ColumnView {
  const std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;
  ValueType type = ValueType::kFloat64;
  const std::uint8_t* missing = nullptr;
  std::span<const std::int32_t> stored = {};
  std::size_t first_row = 0;  // of the table, in the numbers of the stored rows

  bool is_sparse() const { return type == ValueType::kSparse; }
  // The place of the first stored row that is not before `row`.
  std::size_t first_stored(std::size_t row) const {
    row += first_row;
    const auto is_before = [](std::int32_t a, std::size_t b) {
      return static_cast<std::size_t>(a) < b;
    };
    return static_cast<std::size_t>(std::lower_bound(stored.begin(), stored.end(), row, is_before) -
                                    stored.begin());
  }
  std::size_t stored_row(std::size_t place) const {
    return static_cast<std::size_t>(stored[place]) - first_row;
  }
  double stored_value(std::size_t place) const {
    double value;
    std::memcpy(&value, data + place * sizeof(double), sizeof(double));
    return value;
  }
  double sparse_at(std::size_t row) const {
    const std::size_t place = first_stored(row);
    const bool is_stored = place < stored.size() && stored_row(place) == row;
    return is_stored ? stored_value(place) : 0.0;
  }

  template <typename T>
  T at(std::size_t row) const {
    T value;  // copied, for a field of a packed record is not aligned
    std::memcpy(&value, data + static_cast<std::ptrdiff_t>(row) * stride, sizeof(T));
    return value;
  }
};

struct TableView {
  std::size_t n_rows = 0;
  std::vector<FeatureKind> kinds;
  std::vector<ColumnView> columns;

  std::size_t n_features() const { return columns.size(); }
};

// A real value, NaN when missing. Integers of any width read exactly up to 2^53.
inline double read_real(const ColumnView& column, std::size_t row) {
  if (column.missing != nullptr && column.missing[row] != 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  switch (column.type) {
    case ValueType::kFloat64:
      return column.at<double>(row);
    case ValueType::kFloat32:
      return static_cast<double>(column.at<float>(row));
    case ValueType::kInt64:
      return static_cast<double>(column.at<std::int64_t>(row));
    case ValueType::kInt32:
      return static_cast<double>(column.at<std::int32_t>(row));
    case ValueType::kUint8:
      return static_cast<double>(column.at<std::uint8_t>(row));
    case ValueType::kSparse:
      return column.sparse_at(row);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// An integer and whether it is there. Floats given for an integer feature are rounded up, which
// keeps every comparison `value <= threshold` with an integer threshold right.
struct Integer {
  std::int64_t value = 0;
  bool is_missing = false;
};

inline Integer ceil_to_integer(double value) {
  if (std::isnan(value)) return {0, true};
  const double rounded = std::ceil(value);
  if (rounded >= 9223372036854775808.0) return {std::numeric_limits<std::int64_t>::max(), false};
  if (rounded < -9223372036854775808.0) return {std::numeric_limits<std::int64_t>::min(), false};
  return {static_cast<std::int64_t>(rounded), false};
}

inline Integer read_integer(const ColumnView& column, std::size_t row) {
  if (column.missing != nullptr && column.missing[row] != 0) return {0, true};
  switch (column.type) {
    case ValueType::kInt64:
      return {column.at<std::int64_t>(row), false};
    case ValueType::kInt32:
      return {column.at<std::int32_t>(row), false};
    case ValueType::kUint8:
      return {column.at<std::uint8_t>(row), false};
    case ValueType::kFloat64:
    case ValueType::kFloat32:
    case ValueType::kSparse:
      return ceil_to_integer(read_real(column, row));
  }
  return {0, true};
}

// A level number, negative when missing or unseen.
inline std::int32_t read_level(const ColumnView& column, std::size_t row) {
  return column.at<std::int32_t>(row);
}

}  // namespace committee
