#include "forest/forest_arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "buffer.hpp"
#include "forest.hpp"

namespace committee {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::uint8_t kUnknownKind = 3;

template <typename To, typename From>
nb::object converted(const std::vector<From>& values) {
  std::vector<To> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(),
                 [](From value) { return static_cast<To>(value); });
  return nb::cast(to_array(std::move(result)));
}

// As the narrowest unsigned integers that hold the values.
template <typename T>
nb::object narrowed(const std::vector<T>& values) {
  const T largest = values.empty() ? T{0} : *std::max_element(values.begin(), values.end());
  if (largest <= 0xFFU) return converted<std::uint8_t>(values);
  if (largest <= 0xFFFFU) return converted<std::uint16_t>(values);
  if (largest <= 0xFFFFFFFFU) return converted<std::uint32_t>(values);
  return converted<std::uint64_t>(values);
}

// The same for doubles that are whole.
nb::object narrowed_reals(const std::vector<double>& values) {
  const bool is_whole = std::all_of(values.begin(), values.end(), [](double value) {
    return !std::signbit(value) && value <= 4294967295.0 && value == std::floor(value);
  });
  if (!is_whole) return converted<double>(values);
  std::vector<std::uint32_t> whole(values.begin(), values.end());
  return narrowed(whole);
}

nb::dict arrays_of(const Forest& self) {
  const ForestArrays arrays = to_arrays(self);
  const ForestInfo& info = arrays.info;
  std::vector<std::uint8_t> kinds;
  for (std::size_t i = 0; i < info.n_features; ++i) {
    const bool is_known = i < info.kinds.size() && info.kinds[i].has_value();
    kinds.push_back(is_known ? static_cast<std::uint8_t>(*info.kinds[i]) : kUnknownKind);
  }
  nb::dict result;
  result["header"] = to_array(std::vector<std::int64_t>{
      kFormat, static_cast<std::int64_t>(info.criterion), static_cast<std::int64_t>(arrays.form),
      std::int64_t{info.n_values}});
  result["kinds"] = to_array(std::move(kinds));
  result["n_classes"] = narrowed(info.n_classes);
  result["node_counts"] = narrowed(arrays.node_counts);
  result["splits"] = narrowed(arrays.splits);
  result["thresholds"] = converted<std::uint64_t>(arrays.thresholds);
  result["category_data"] = narrowed(arrays.category_data);
  result["class_counts"] = narrowed(arrays.class_counts);
  result["value_counts"] = narrowed(arrays.value_counts);
  result["value_rows"] = narrowed(arrays.value_rows);
  result["values"] = narrowed_reals(arrays.values);
  result["weights"] = narrowed_reals(arrays.weights);
  result["n_rows"] = narrowed(arrays.n_rows);
  result["impurity"] = narrowed_reals(arrays.impurity);
  result["inner_impurity"] = narrowed_reals(arrays.inner_impurity);
  return result;
}

template <typename From, typename To>
std::vector<To> widened(const Buffer& buffer) {
  const std::vector<From> values = buffer.copy<From>();
  return std::vector<To>(values.begin(), values.end());
}

// For arrays that every stored forest has; of others see forest_arrays.hpp.
Buffer find_array(const nb::dict& arrays, const char* name) {
  if (!arrays.contains(name)) {
    throw nb::value_error(("arrays has no entry " + std::string(name)).c_str());
  }
  return Buffer(arrays[name], name, 1);
}

[[noreturn]] void refuse_type(const char* name, const char* accepted, const Buffer& buffer) {
  throw nb::value_error(
      (std::string(name) + " must be " + accepted + "; got " + buffer.type_name()).c_str());
}

template <typename T>
std::vector<T> read_unsigned(const nb::dict& arrays, const char* name) {
  const Buffer buffer = find_array(arrays, name);
  if (buffer.kind() == 'u') {
    if (buffer.item_size() == 1) return widened<std::uint8_t, T>(buffer);
    if (buffer.item_size() == 2) return widened<std::uint16_t, T>(buffer);
    if (buffer.item_size() == 4) return widened<std::uint32_t, T>(buffer);
    if (sizeof(T) == 8) return widened<std::uint64_t, T>(buffer);
  }
  refuse_type(name, "unsigned integers", buffer);
}

std::vector<double> read_reals(const nb::dict& arrays, const char* name) {
  const Buffer buffer = find_array(arrays, name);
  if (buffer.kind() == 'f' && buffer.item_size() == 8) return buffer.copy<double>();
  if (buffer.kind() == 'u' && buffer.item_size() == 1) return widened<std::uint8_t, double>(buffer);
  if (buffer.kind() == 'u' && buffer.item_size() == 2) {
    return widened<std::uint16_t, double>(buffer);
  }
  if (buffer.kind() == 'u' && buffer.item_size() == 4) {
    return widened<std::uint32_t, double>(buffer);
  }
  refuse_type(name, "float64 or unsigned integers", buffer);
}

ForestInfo read_info(const nb::dict& arrays, StoredForm& form) {
  const Buffer buffer = find_array(arrays, "header");
  if (buffer.kind() != 'i' || buffer.item_size() != 8 || buffer.length(0) != 4) {
    throw nb::value_error("header must be 4 numbers of type int64");
  }
  const std::vector<std::int64_t> header = buffer.copy<std::int64_t>();
  if (header[0] != kFormat) throw nb::value_error("the arrays are of an unknown format");
  const auto in_range = [](std::int64_t value, std::int64_t last) {
    return value >= 0 && value <= last;
  };
  if (!in_range(header[1], static_cast<std::int64_t>(kLastCriterion)) ||
      !in_range(header[2], static_cast<std::int64_t>(StoredForm::kNodes)) ||
      !in_range(header[3], std::numeric_limits<std::int32_t>::max())) {
    throw nb::value_error("a number of the header is out of range");
  }
  form = static_cast<StoredForm>(header[2]);
  ForestInfo info;
  info.criterion = static_cast<Criterion>(header[1]);
  info.n_values = static_cast<std::uint32_t>(header[3]);
  info.n_classes = read_unsigned<std::uint32_t>(arrays, "n_classes");
  info.is_classification = !info.n_classes.empty();
  for (const std::uint32_t kind : read_unsigned<std::uint32_t>(arrays, "kinds")) {
    if (kind > kUnknownKind) throw nb::value_error("kinds must hold numbers from 0 to 3");
    info.kinds.push_back(kind == kUnknownKind ? std::optional<FeatureKind>()
                                              : std::optional(static_cast<FeatureKind>(kind)));
  }
  if (info.kinds.size() > Node::kMaxFeatures) throw nb::value_error("there are too many features");
  info.n_features = static_cast<std::uint32_t>(info.kinds.size());
  return info;
}

Forest forest_from(const nb::dict& arrays) {
  ForestArrays read;
  read.info = read_info(arrays, read.form);
  read.node_counts = read_unsigned<std::uint32_t>(arrays, "node_counts");
  read.splits = read_unsigned<std::uint32_t>(arrays, "splits");
  read.thresholds = read_unsigned<std::uint64_t>(arrays, "thresholds");
  read.category_data = read_unsigned<std::uint32_t>(arrays, "category_data");
  read.class_counts = read_unsigned<std::uint32_t>(arrays, "class_counts");
  read.value_counts = read_unsigned<std::uint32_t>(arrays, "value_counts");
  read.value_rows = read_unsigned<std::uint32_t>(arrays, "value_rows");
  read.values = read_reals(arrays, "values");
  read.weights = read_reals(arrays, "weights");
  read.n_rows = read_unsigned<std::uint64_t>(arrays, "n_rows");
  read.impurity = read_reals(arrays, "impurity");
  read.inner_impurity = read_reals(arrays, "inner_impurity");
  return from_arrays(read);
}

// How pickle, copy and skops make the forest again.
nb::tuple reduce(const Forest& self) {
  return nb::make_tuple(nb::type<Forest>(), nb::make_tuple(arrays_of(self)));
}

}  // namespace

void register_forest_arrays(nb::class_<Forest>& forest) {
  forest
      .def(nb::new_(&forest_from), nb::arg("arrays"),
           "A forest from such arrays; ValueError unless they are sound.")
      .def("__reduce__", &reduce)
      .def("arrays", &arrays_of,
           nb::sig("def arrays(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
           "The forest as flat arrays, see src/core/forest/forest_arrays.hpp.");
}

}  // namespace committee
