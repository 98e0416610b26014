#include "buffer.hpp"

#include <nanobind/stl/string.h>

#include <bit>

namespace committee {
namespace {

// The dtype of a NumPy array, or the name of the class of anything else.
std::string name_of_type(nb::handle array) {
  nb::object type = nb::getattr(array, "dtype", nb::none());
  if (type.is_none()) type = nb::getattr(array.type(), "__name__", nb::none());
  return nb::cast<std::string>(nb::str(type));
}

}  // namespace

Buffer::Buffer(nb::handle array, const std::string& what, int n_dimensions) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(array.ptr(), view.get(), PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    nb::python_error ignored;  // takes the error off the interpreter
    throw nb::type_error(
        (what + " must be an array of numbers; got " + name_of_type(array)).c_str());
  }
  view_.reset(view.release());
  if (view_->ndim != n_dimensions) {
    throw nb::value_error((what + " must have " + std::to_string(n_dimensions) +
                           " dimension(s); got " + std::to_string(view_->ndim))
                              .c_str());
  }
}

std::string Buffer::type_name() const { return name_of_type(view_->obj); }

char Buffer::kind() const {
  const char* format = view_->format != nullptr ? view_->format : "B";
  const char foreign_order = std::endian::native == std::endian::little ? '>' : '<';
  if (*format == foreign_order || (*format == '!' && foreign_order == '>')) return 0;
  if (std::strchr("<>=@!", *format) != nullptr && *format != 0) ++format;
  if (*format == 0 || format[1] != 0) return 0;
  if (std::strchr("fd", *format) != nullptr) return 'f';
  if (std::strchr("bhilq", *format) != nullptr) return 'i';
  if (std::strchr("BHILQ", *format) != nullptr) return 'u';
  return *format == '?' ? 'b' : 0;
}

ValueType Buffer::value_type(const std::string& what) const {
  const char type = kind();
  const std::size_t size = item_size();
  if (type == 'f') return size == 8 ? ValueType::kFloat64 : ValueType::kFloat32;
  if (type == 'i' && size == 8) return ValueType::kInt64;
  if (type == 'i' && size == 4) return ValueType::kInt32;
  if ((type == 'u' || type == 'b') && size == 1) return ValueType::kUint8;
  throw nb::type_error((what +
                        " must be float64, float32, int64, int32, uint8 or bool in the "
                        "byte order of this machine; got " +
                        type_name())
                           .c_str());
}

}  // namespace committee
