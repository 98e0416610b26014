// The Python class Table: a TableView together with the arrays it looks at.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "arrays.hpp"
#include "buffer.hpp"
#include "data/column.hpp"

namespace committee {

class TableObject {
 public:
  explicit TableObject(std::int64_t n_rows);
  TableObject(TableObject&&) = default;
  TableObject(const TableObject&) = delete;

  // Kind and values as column.hpp describes them; the mask is an array of bytes or None.
  void add_column(int kind, nb::handle values, nb::handle mask);

  // All columns of a matrix as real features.
  static TableObject from_matrix(nb::handle matrix);

  // Columns of a matrix of which only some values are stored: those of the rows[begins[i]] up to
  // rows[begins[i + 1]] in column i, ascending. All others are zero.
  static TableObject from_sparse(std::int64_t n_rows, const Vector<std::int64_t>& begins,
                                 const Vector<std::int32_t>& rows, const Vector<double>& values);

  // A column of another table, which is kept alive.
  void add_from(nb::handle_t<TableObject> table, std::size_t feature);

  const TableView& view() const { return view_; }

 private:
  const std::uint8_t* add_mask(nb::handle mask, const std::string& column);

  TableView view_;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<std::uint8_t>> mask_copies_;  // of masks that are not contiguous
  std::vector<Vector<std::int32_t>> stored_rows_;       // of sparse columns
  std::vector<Vector<double>> stored_values_;
  std::vector<nb::object> origins_;  // tables whose arrays this one looks at as well
};

void register_table(nb::module_& m);

}  // namespace committee
