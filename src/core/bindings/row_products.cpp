#include "row_products.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <span>
#include <string>

#include "arrays.hpp"
#include "base/pair_order.hpp"
#include "base/row_matches.hpp"
#include "base/row_products.hpp"
#include "gil.hpp"

namespace committee {
namespace {

RowSum kind_of(const std::string& name) {
  if (name == "product") return RowSum::kProduct;
  if (name == "squared_difference") return RowSum::kSquaredDifference;
  if (name == "absolute_difference") return RowSum::kAbsoluteDifference;
  throw nb::value_error("kind must be product, squared_difference or absolute_difference");
}

nb::ndarray<nb::numpy, double> row_sums(const Matrix<double>& left, const Matrix<double>& right,
                                        const std::string& kind, bool upper_only,
                                        std::size_t n_threads) {
  if (left.shape(1) != right.shape(1)) throw nb::value_error("the rows differ in length");
  const RowSum sum = kind_of(kind);
  auto out = empty_array<double>({left.shape(0), right.shape(0)});
  {
    const WithoutGil free;
    sum_row_pairs(sum, {left.data(), left.shape(0)}, {right.data(), right.shape(0)}, left.shape(1),
                  upper_only, n_threads, out.data());
  }
  return out;
}

nb::ndarray<nb::numpy, std::uint32_t> row_matches(const Matrix<std::uint8_t>& left,
                                                  const Matrix<std::uint8_t>& right,
                                                  std::size_t n_threads) {
  if (left.shape(1) != right.shape(1)) throw nb::value_error("the rows differ in length");
  auto out = empty_array<std::uint32_t>({left.shape(0), right.shape(0)});
  {
    const WithoutGil free;
    count_row_matches({left.data(), left.shape(0)}, {right.data(), right.shape(0)}, left.shape(1),
                      n_threads, out.data());
  }
  return out;
}

nb::ndarray<nb::numpy, double> pairs_in_order(const Matrix<double>& values,
                                              const Vector<double>& second,
                                              const Vector<double>& first, std::size_t n_threads) {
  const std::size_t n_rows = values.shape(1);
  if (second.shape(0) != n_rows || first.shape(0) != n_rows) {
    throw nb::value_error("second and first must have one entry a row");
  }
  if (n_rows > 0xFFFFFFFFU) throw nb::value_error("values has too many rows");
  check_finite(std::span(values.data(), values.size()), "values");
  auto out = empty_array<double>({values.shape(0)});
  {
    const WithoutGil free;
    count_pairs_in_order(values.data(), {second.data(), n_rows}, {first.data(), n_rows}, n_threads,
                         {out.data(), values.shape(0)});
  }
  return out;
}

}  // namespace

void register_row_products(nb::module_& m) {
  m.def("row_sums", &row_sums, nb::arg("left"), nb::arg("right"), nb::kw_only(),
        nb::arg("kind") = "product", nb::arg("upper_only") = false, nb::arg("n_threads") = 1,
        "Return sums over the columns for each pair of rows, in an order that nothing changes.");
  m.def("row_matches", &row_matches, nb::arg("left"), nb::arg("right"), nb::arg("n_threads") = 1,
        "The number of equal codes of each pair of rows.");
  m.def("pairs_in_order", &pairs_in_order, nb::arg("values"), nb::arg("second"), nb::arg("first"),
        nb::arg("n_threads") = 1,
        "The weight of pairs of rows of two classes that are in order; ties count half.");
}

}  // namespace committee
