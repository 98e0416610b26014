#include "ranking.hpp"

#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "arrays.hpp"
#include "base/ranking.hpp"
#include "gil.hpp"

namespace committee {
namespace {

double in_order(const Vector<double>& values, const Vector<double>& first,
                const Vector<double>& second) {
  const std::size_t n_rows = values.shape(0);
  if (first.shape(0) != n_rows || second.shape(0) != n_rows) {
    throw nb::value_error("values and weights differ in length");
  }
  if (n_rows > std::numeric_limits<std::uint32_t>::max()) throw nb::value_error("too many rows");
  const WithoutGil free;
  for (std::size_t i = 0; i < n_rows; ++i) {
    if (std::isnan(values.data()[i])) return std::numeric_limits<double>::quiet_NaN();
  }
  return weight_in_order({values.data(), n_rows}, {first.data(), n_rows}, {second.data(), n_rows});
}

}  // namespace

void register_ranking(nb::module_& m) {
  m.def("weight_in_order", &in_order, nb::arg("values").noconvert(), nb::arg("first").noconvert(),
        nb::arg("second").noconvert(),
        "Return the weight of the pairs of two kinds of rows that are in the order of the values; "
        "ties count half. NaN if a value is.");
}

}  // namespace committee
