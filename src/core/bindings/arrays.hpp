// NumPy arrays made by the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace committee {

namespace nb = nanobind;

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

// An array to be filled by the core, its values not set.
template <typename T>
nb::ndarray<nb::numpy, T> empty_array(std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (const std::size_t n : shape) size *= n;
  auto owned = std::make_unique_for_overwrite<T[]>(size);
  T* data = owned.get();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  owned.release();
  return nb::ndarray<nb::numpy, T>(data, shape, owner);
}

}  // namespace committee
