#include "row_products.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
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

}  // namespace

void register_row_products(nb::module_& m) {
  m.def("row_sums", &row_sums, nb::arg("left"), nb::arg("right"), nb::kw_only(),
        nb::arg("kind") = "product", nb::arg("upper_only") = false, nb::arg("n_threads") = 1,
        "Return sums over the columns for each pair of rows, in an order that nothing changes.");
}

}  // namespace committee
