// The Python class Table: a TableView together with the arrays it looks at.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

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

  // A column of another table, which is kept alive.
  void add_from(nb::handle_t<TableObject> table, std::size_t feature);

  const TableView& view() const { return view_; }

 private:
  const std::uint8_t* add_mask(nb::handle mask, const std::string& column);

  TableView view_;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<std::uint8_t>> mask_copies_;  // of masks that are not contiguous
  std::vector<nb::object> origins_;  // tables whose arrays this one looks at as well
};

void register_table(nb::module_& m);

}  // namespace committee
