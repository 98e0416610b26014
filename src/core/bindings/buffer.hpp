// Arrays that Python lends: the buffer protocol, with strides in bytes and the type checked.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "data/column.hpp"

namespace committee {

namespace nb = nanobind;

// Keeps an array alive and in place until destroyed (with the GIL held).
class Buffer {
 public:
  // `what` names the array in messages: TypeError unless it is an array of `n_dimensions`.
  Buffer(nb::handle array, const std::string& what, int n_dimensions);

  // 'f' floating point, 'i' signed, 'u' unsigned integer, 'b' boolean; 0 for anything else.
  char kind() const;
  std::size_t item_size() const { return static_cast<std::size_t>(view_->itemsize); }
  std::size_t length(int dimension) const {
    return static_cast<std::size_t>(view_->shape[dimension]);
  }
  std::ptrdiff_t stride(int dimension) const { return view_->strides[dimension]; }
  const std::byte* data() const { return static_cast<const std::byte*>(view_->buf); }
  // For messages; asking takes longer than all the rest.
  std::string type_name() const;

  // The type of the values; TypeError when the core does not read it.
  ValueType value_type(const std::string& what) const;

  // A copy of all values in row-major order; the caller has checked kind and size.
  template <typename T>
  std::vector<T> copy() const {
    const std::size_t n_columns = view_->ndim == 2 ? length(1) : 1;
    const std::ptrdiff_t column_stride = view_->ndim == 2 ? stride(1) : 0;
    std::vector<T> values(length(0) * n_columns);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = static_cast<std::ptrdiff_t>(i / n_columns);
      const auto column = static_cast<std::ptrdiff_t>(i % n_columns);
      std::memcpy(&values[i], data() + row * stride(0) + column * column_stride, sizeof(T));
    }
    return values;
  }

 private:
  struct Release {
    void operator()(Py_buffer* view) const {
      PyBuffer_Release(view);
      delete view;
    }
  };
  // On the heap, for a view may point into itself and must not move.
  std::unique_ptr<Py_buffer, Release> view_;
};

}  // namespace committee
