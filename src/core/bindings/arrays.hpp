// NumPy arrays that the core reads and makes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace committee {

namespace nb = nanobind;

// ---- in ----

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The values of an array with one entry a row; nothing for None.
template <typename T>
std::span<const T> span_of(const std::optional<Vector<T>>& array, std::size_t n_rows,
                           const char* name) {
  if (!array) return {};
  if (array->shape(0) != n_rows) {
    throw nb::value_error((std::string(name) + " must have one entry a row").c_str());
  }
  return {array->data(), array->shape(0)};
}

template <typename T>
void check_finite(std::span<const T> values, const char* name) {
  const auto is_finite = [](T value) { return std::isfinite(value); };
  if (std::all_of(values.begin(), values.end(), is_finite)) return;
  throw nb::value_error((std::string(name) + " must be finite").c_str());
}

// Weights, one a row or nothing: what draws, sorts and grids rely on.
template <typename T>
std::span<const T> weights_of(const std::optional<Vector<T>>& array, std::size_t n_rows,
                              const char* name = "weights") {
  const auto weights = span_of(array, n_rows, name);
  const auto is_weight = [](T weight) { return weight >= 0 && std::isfinite(weight); };
  if (std::all_of(weights.begin(), weights.end(), is_weight)) return weights;
  throw nb::value_error((std::string(name) + " must be finite and not negative").c_str());
}

// ---- out ----

// Hands over a vector: the array owns it from here on.
template <typename T>
nb::ndarray<nb::numpy, T> to_array(std::vector<T> values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owned->data();
  const std::size_t size = owned->size();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  owned.release();
  return nb::ndarray<nb::numpy, T>(data, {size}, owner);
}

// An array to be filled by the core, its values not set. MemoryError where the number of entries
// is beyond every memory: tables without columns have as many rows as they say.
template <typename T>
nb::ndarray<nb::numpy, T> empty_array(std::initializer_list<std::size_t> shape) {
  constexpr std::size_t kMost = std::size_t{1} << 48;
  std::size_t size = 1;
  for (const std::size_t n : shape) {
    if (n > 0 && size > kMost / n) throw std::bad_alloc();
    size *= n;
  }
  auto owned = std::make_unique_for_overwrite<T[]>(size);
  T* data = owned.get();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  owned.release();
  return nb::ndarray<nb::numpy, T>(data, shape, owner);
}

}  // namespace committee
