#include "csv.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "monitor.hpp"
#include "text/cell_columns.hpp"
#include "text/csv_cells.hpp"

namespace committee {
namespace {

using Marks = std::vector<std::string>;

nb::object row_or_none(std::size_t row) {
  if (row == kNoRow) return nb::none();
  return nb::int_(row);
}

nb::object as_text(std::string_view bytes) {
  PyObject* text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

nb::list as_texts(const std::vector<std::string>& all) {
  nb::list texts;
  for (const std::string& each : all) texts.append(as_text(each));
  return texts;
}

NumberFormat format_of(const std::string& decimal, const std::string& thousands) {
  if ((decimal != "." && decimal != ",") || thousands.size() > 1) {
    throw nb::value_error(R"(decimal must be "." or ","; thousands one character or "")");
  }
  return {decimal.front(), thousands.empty() ? '\0' : thousands.front()};
}

DateOrder order_of(const std::string& name) {
  if (name == "ymd") return DateOrder::kYear;
  if (name == "dmy") return DateOrder::kDay;
  if (name == "mdy") return DateOrder::kMonth;
  if (name == "clock") return DateOrder::kClock;
  throw nb::value_error("order must be ymd, dmy, mdy or clock");
}

// The cells of a bytes object; keeps the bytes alive.
class BoundCells {
  void check(std::size_t row, std::size_t column) const {
    if (row >= n_rows() || column >= n_columns()) throw nb::index_error("no such cell");
  }

  template <typename Read>
  auto run(std::size_t column, const Marks& marks, const Read& read) const {
    if (column >= n_columns()) throw nb::index_error("no such column");
    return run_monitored(nb::none(), [&](Monitor& monitor) {
      return read(CellReading{*cells_, column, marks, n_threads_, &monitor});
    });
  }

  template <typename Read>
  nb::tuple read_int64(std::size_t column, const Marks& marks, const Read& read) const {
    auto values = empty_array<std::int64_t>({n_rows()});
    auto missing = empty_array<std::uint8_t>({n_rows()});
    std::fill_n(values.data(), n_rows(), 0);  // no cell behind one of another type is read
    std::fill_n(missing.data(), n_rows(), std::uint8_t{0});
    const std::size_t other = run(column, marks, [&](const CellReading& reading) {
      return read(reading, std::span(values.data(), n_rows()), std::span(missing.data(), n_rows()));
    });
    return nb::make_tuple(values, missing, row_or_none(other));
  }

 public:
  BoundCells(nb::bytes text, const std::string& delimiter, std::size_t begin, bool has_header,
             std::size_t n_threads)
      : text_(std::move(text)), n_threads_(n_threads) {
    if (delimiter.size() != 1 || delimiter == "\"" || delimiter == "\n" || delimiter == "\r") {
      throw nb::value_error("delimiter must be one character of ASCII, no quote and no line end");
    }
    const std::string_view view(text_.c_str(), text_.size());
    cells_ = run_monitored(nb::none(), [&](Monitor& monitor) {
      return std::make_unique<CsvCells>(view, begin, delimiter.front(), has_header, n_threads,
                                        &monitor);
    });
  }

  std::size_t n_rows() const { return cells_->n_rows(); }
  std::size_t n_columns() const { return cells_->n_columns(); }
  nb::list header() const { return as_texts(cells_->header()); }

  nb::object fault() const {
    if (!cells_->fault()) return nb::none();
    return nb::make_tuple(cells_->line_at(cells_->fault()->place), cells_->fault()->width);
  }

  std::size_t line(std::size_t row) const {
    check(row, 0);
    return cells_->line_of_row(row);
  }

  nb::object cell(std::size_t row, std::size_t column) const {
    check(row, column);
    std::string scratch;
    return as_text(unquoted(cells_->raw(row, column), scratch));
  }

  // Values and a summary for each column; None in place of values where something else occurs.
  nb::list numbers(const std::vector<std::size_t>& columns, const Marks& marks,
                   const std::string& decimal, const std::string& thousands) const {
    const NumberFormat format = format_of(decimal, thousands);
    std::vector<nb::ndarray<nb::numpy, double>> arrays;
    std::vector<double*> values;
    for (const std::size_t column : columns) {
      if (column >= n_columns()) throw nb::index_error("no such column");
      arrays.push_back(empty_array<double>({n_rows()}));
      values.push_back(arrays.back().data());
    }
    const std::vector<NumberSummary> found = run(0, marks, [&](const CellReading& reading) {
      return read_numbers(reading, columns, format, values);
    });
    nb::list all;
    for (std::size_t place = 0; place < columns.size(); ++place) {
      const NumberSummary& sum = found[place];
      nb::dict summary;
      summary["first_other"] = row_or_none(sum.first_other);
      summary["n_missing"] = sum.n_missing;
      summary["is_whole"] = sum.is_whole;
      summary["is_beyond_doubles"] = sum.is_beyond_doubles;
      summary["has_leading_zero"] = sum.has_leading_zero;
      summary["has_decimal_mark"] = sum.has_decimal_mark;
      const nb::object kept =
          sum.first_other == kNoRow ? nb::cast(arrays[place]) : nb::object(nb::none());
      all.append(nb::make_tuple(kept, summary));
    }
    return all;
  }

  nb::tuple integers(std::size_t column, const Marks& marks, const std::string& decimal,
                     const std::string& thousands) const {
    const NumberFormat format = format_of(decimal, thousands);
    return read_int64(column, marks, [&](const CellReading& reading, auto values, auto missing) {
      return read_integers(reading, format, values, missing);
    });
  }

  nb::tuple dates(std::size_t column, const Marks& marks, const std::string& order) const {
    const DateOrder known = order_of(order);
    return read_int64(column, marks, [&](const CellReading& reading, auto values, auto missing) {
      return read_dates(reading, known, values, missing);
    });
  }

  nb::tuple levels(std::size_t column, bool trimmed) const {
    if (n_rows() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      throw nb::value_error("a table may have at most 2**31 - 1 rows");
    }
    auto codes = empty_array<std::int32_t>({n_rows()});
    const std::vector<std::string> names = run(column, {}, [&](const CellReading& reading) {
      return read_levels(reading, trimmed, {codes.data(), n_rows()});
    });
    return nb::make_tuple(codes, as_texts(names));
  }

 private:
  nb::bytes text_;
  std::size_t n_threads_;
  std::unique_ptr<CsvCells> cells_;
};

}  // namespace

void register_csv(nb::module_& m) {
  nb::class_<BoundCells>(m, "CsvCells", "The cells of a text with delimiters.")
      .def(nb::new_([](nb::bytes text, const std::string& delimiter, std::size_t begin,
                       bool has_header, std::size_t n_threads) {
             return std::make_unique<BoundCells>(std::move(text), delimiter, begin, has_header,
                                                 n_threads);
           }),
           nb::arg("text"), nb::arg("delimiter"), nb::kw_only(), nb::arg("begin") = 0,
           nb::arg("has_header") = true, nb::arg("n_threads") = 1)
      .def_prop_ro("n_rows", &BoundCells::n_rows)
      .def_prop_ro("n_columns", &BoundCells::n_columns)
      .def_prop_ro("header", &BoundCells::header)
      .def_prop_ro(
          "fault", &BoundCells::fault,
          "Line and number of cells of the first row of another width (0 where a quote is never "
          "closed), or None.")
      .def("line", &BoundCells::line, nb::arg("row"), "The line on which a row begins, from 1.")
      .def("cell", &BoundCells::cell, nb::arg("row"), nb::arg("column"),
           "The text of a cell, without quotes.")
      .def("numbers", &BoundCells::numbers, nb::arg("columns"), nb::arg("marks"),
           nb::arg("decimal") = ".", nb::arg("thousands") = "",
           "For each column its numbers, NaN where they are missing (None if a cell is no number), "
           "and what they look like. Marks are texts in lower case that stand for a missing value.")
      .def("integers", &BoundCells::integers, nb::arg("column"), nb::arg("marks"),
           nb::arg("decimal") = ".", nb::arg("thousands") = "",
           "The whole numbers of a column, a mask of missing ones, and the first row of another "
           "type.")
      .def("dates", &BoundCells::dates, nb::arg("column"), nb::arg("marks"), nb::arg("order"),
           "The same for dates, in microseconds; the order is ymd, dmy, mdy or clock.")
      .def("levels", &BoundCells::levels, nb::arg("column"), nb::arg("trimmed") = true,
           "Codes of the texts of a column, and the texts in the order in which they first occur.");
}

}  // namespace committee
