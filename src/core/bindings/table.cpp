#include "table.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>

#include "arguments.hpp"
#include "arrays.hpp"
#include "data/row_keys.hpp"
#include "gil.hpp"
#include "tree/tree.hpp"

namespace committee {
namespace {

void check_length(const std::string& what, std::size_t found, std::size_t wanted,
                  const char* unit = "rows") {
  if (found == wanted) return;
  throw nb::value_error((what + " has " + std::to_string(found) + " entries; the table has " +
                         std::to_string(wanted) + " " + unit)
                            .c_str());
}

void check_n_features(std::size_t n_features) {
  if (n_features <= Node::kMaxFeatures) return;
  throw nb::value_error("a table has at most 16777216 columns");
}

void check_feature(std::size_t feature, const TableView& table) {
  if (feature < table.n_features()) return;
  throw nb::value_error(("there is no column " + std::to_string(feature) + "; the table has " +
                         std::to_string(table.n_features()))
                            .c_str());
}

nb::ndarray<nb::numpy, std::int32_t> levels_of(const TableObject& table, std::size_t feature) {
  const TableView& view = table.view();
  check_feature(feature, view);
  if (view.kinds[feature] != FeatureKind::kCategory) {
    throw nb::value_error(("column " + std::to_string(feature) + " is no category").c_str());
  }
  std::vector<std::int32_t> levels(view.n_rows);
  for (std::size_t row = 0; row < view.n_rows; ++row) {
    levels[row] = read_level(view.columns[feature], row);
  }
  return to_array(std::move(levels));
}

nb::ndarray<nb::numpy, std::uint64_t> keys_of(
    const TableObject& table, const Vector<std::uint64_t>& keys,
    const std::vector<std::vector<std::uint64_t>>& level_keys, std::size_t n_threads) {
  const TableView& view = table.view();
  check_length("keys", keys.shape(0), view.n_rows);
  check_length("level_keys", level_keys.size(), view.n_features(), "columns");
  auto out = empty_array<std::uint64_t>({view.n_rows});
  const std::span<std::uint64_t> result(out.data(), view.n_rows);
  std::copy_n(keys.data(), view.n_rows, result.begin());
  const WithoutGil without_gil;
  add_row_keys(view, level_keys, n_threads, result);
  return out;
}

}  // namespace

TableObject::TableObject(std::int64_t n_rows) {
  if (n_rows < 0) {
    throw nb::value_error(("n_rows must be an int >= 0; got " + std::to_string(n_rows)).c_str());
  }
  view_.n_rows = static_cast<std::size_t>(n_rows);
}

void TableObject::add_column(int kind, nb::handle values, nb::handle mask) {
  const std::string column = "column " + std::to_string(view_.n_features());
  check_n_features(view_.n_features() + 1);
  if (kind < 0 || kind > 2) {
    throw nb::value_error((column + ": kind must be 0 (real), 1 (integer) or 2 (category); got " +
                           std::to_string(kind))
                              .c_str());
  }
  const auto feature_kind = static_cast<FeatureKind>(kind);
  Buffer buffer(values, column, 1);
  const ValueType type = buffer.value_type(column);
  check_length(column, buffer.length(0), view_.n_rows);
  if (feature_kind == FeatureKind::kCategory && type != ValueType::kInt32) {
    throw nb::type_error(
        (column + ": the levels of a category must be int32; got " + buffer.type_name()).c_str());
  }
  if (feature_kind == FeatureKind::kCategory && !mask.is_none()) {
    throw nb::value_error(
        (column + ": a category has no mask; a missing level is a negative number").c_str());
  }
  const std::uint8_t* missing = mask.is_none() ? nullptr : add_mask(mask, column);
  view_.columns.push_back({buffer.data(), buffer.stride(0), type, missing});
  view_.kinds.push_back(feature_kind);
  buffers_.push_back(std::move(buffer));
}

const std::uint8_t* TableObject::add_mask(nb::handle mask, const std::string& column) {
  const std::string what = column + ": the mask";
  Buffer buffer(mask, what, 1);
  if (buffer.kind() == 0 || buffer.item_size() != 1) {
    throw nb::type_error((what + " must be uint8 or bool; got " + buffer.type_name()).c_str());
  }
  check_length(what, buffer.length(0), view_.n_rows);
  if (buffer.stride(0) != 1) {
    return mask_copies_.emplace_back(buffer.copy<std::uint8_t>()).data();
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(buffer.data());
  buffers_.push_back(std::move(buffer));
  return bytes;
}

TableObject TableObject::from_matrix(nb::handle matrix) {
  Buffer buffer(matrix, "the matrix", 2);
  const ValueType type = buffer.value_type("the matrix");
  check_n_features(buffer.length(1));
  TableObject table(static_cast<std::int64_t>(buffer.length(0)));
  for (std::size_t i = 0; i < buffer.length(1); ++i) {
    const std::byte* data = buffer.data() + static_cast<std::ptrdiff_t>(i) * buffer.stride(1);
    table.view_.columns.push_back({data, buffer.stride(0), type, nullptr});
  }
  table.view_.kinds.assign(buffer.length(1), FeatureKind::kReal);
  table.buffers_.push_back(std::move(buffer));
  return table;
}

TableObject TableObject::from_sparse(std::int64_t n_rows, const Vector<std::int64_t>& begins,
                                     const Vector<std::int32_t>& rows,
                                     const Vector<double>& values) {
  TableObject table(n_rows);
  const std::size_t n_stored = rows.shape(0);
  check_length("values", values.shape(0), n_stored, "stored rows");
  const bool is_whole = begins.shape(0) > 0 && begins.data()[0] == 0 &&
                        begins.data()[begins.shape(0) - 1] == static_cast<std::int64_t>(n_stored);
  if (!is_whole || !std::is_sorted(begins.data(), begins.data() + begins.shape(0))) {
    throw nb::value_error("begins must go from 0 to the number of stored rows and not fall");
  }
  const std::size_t n_features = begins.shape(0) - 1;
  check_n_features(n_features);
  for (std::size_t i = 0; i < n_features; ++i) {
    const auto begin = static_cast<std::size_t>(begins.data()[i]);
    const std::span stored(rows.data() + begin,
                           static_cast<std::size_t>(begins.data()[i + 1]) - begin);
    const auto does_not_rise = [](std::int32_t a, std::int32_t b) { return a >= b; };
    if (std::adjacent_find(stored.begin(), stored.end(), does_not_rise) != stored.end() ||
        (!stored.empty() && (stored.front() < 0 || stored.back() >= n_rows))) {
      throw nb::value_error(
          ("column " + std::to_string(i) + ": the stored rows must ascend and be rows of the table")
              .c_str());
    }
    ColumnView column{reinterpret_cast<const std::byte*>(values.data() + begin), sizeof(double),
                      ValueType::kSparse, nullptr, stored};
    table.view_.columns.push_back(column);
  }
  table.view_.kinds.assign(n_features, FeatureKind::kReal);
  table.stored_rows_.push_back(rows);
  table.stored_values_.push_back(values);
  return table;
}

void TableObject::add_from(nb::handle_t<TableObject> table, std::size_t feature) {
  const TableView& other = made(table).view();
  check_feature(feature, other);
  check_n_features(view_.n_features() + 1);
  check_length("the other table", other.n_rows, view_.n_rows);
  view_.columns.push_back(other.columns[feature]);
  view_.kinds.push_back(other.kinds[feature]);
  if (origins_.empty() || !origins_.back().is(table)) origins_.push_back(nb::borrow(table));
}

namespace {

// Python derives from this class, so that `nb::new_`, which makes an object once, cannot be used.
void make_table(nb::handle self, std::int64_t n_rows) {
  if (!nb::isinstance<TableObject>(self) || nb::inst_ready(self)) {
    throw nb::type_error("a Table is made once");
  }
  new (nb::inst_ptr<TableObject>(self)) TableObject(n_rows);
  nb::inst_mark_ready(self);
}

}  // namespace

void register_table(nb::module_& m) {
  nb::class_<TableObject>(m, "Table", "Columns of a table, looked at where they are.")
      .def(
          "__init__", [](nb::handle self, std::int64_t n_rows) { make_table(self, n_rows); },
          nb::arg("n_rows"), nb::sig("def __init__(self, n_rows: int) -> None"))
      .def("add_column", &TableObject::add_column, nb::arg("kind"), nb::arg("values"),
           nb::arg("mask").none() = nb::none(),
           nb::sig("def add_column(self, kind: int, values: numpy.typing.NDArray[typing.Any], "
                   "mask: numpy.typing.NDArray[numpy.uint8] | None = None) -> None"))
      .def_static("from_matrix", &TableObject::from_matrix, nb::arg("matrix"),
                  nb::sig("def from_matrix(matrix: numpy.typing.NDArray[typing.Any]) -> Table"))
      .def_static("from_sparse", &TableObject::from_sparse, nb::arg("n_rows"),
                  nb::arg("begins").noconvert(), nb::arg("rows").noconvert(),
                  nb::arg("values").noconvert(),
                  "Return the columns of a CSC matrix: zero where no value is stored.")
      .def("add_from", &TableObject::add_from, nb::arg("table"), nb::arg("feature"),
           nb::sig("def add_from(self, table: Table, feature: int) -> None"),
           "Add a column of another table, without a copy.")
      .def("levels", &levels_of, nb::arg("feature"), "A copy of the level numbers of a category.")
      .def("row_keys", &keys_of, nb::arg("keys"), nb::arg("level_keys"), nb::arg("n_threads") = 1,
           "A number for each row that depends on its cells and on its number in keys.")
      .def_prop_ro("n_rows", [](const TableObject& table) { return table.view().n_rows; })
      .def_prop_ro("n_features", [](const TableObject& table) { return table.view().n_features(); })
      .def_prop_ro("has_sparse",
                   [](const TableObject& table) {
                     const auto& columns = table.view().columns;
                     return std::any_of(columns.begin(), columns.end(),
                                        [](const ColumnView& each) { return each.is_sparse(); });
                   })
      .def_prop_ro("kinds", [](const TableObject& table) {
        std::vector<int> kinds;
        for (const FeatureKind kind : table.view().kinds) kinds.push_back(static_cast<int>(kind));
        return kinds;
      });
}

}  // namespace committee
