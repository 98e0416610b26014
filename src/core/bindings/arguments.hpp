// Arguments of Python that nanobind does not check by itself.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace committee {

namespace nb = nanobind;

// The core's part of an object. Its type is right; TypeError when `__init__` has never run.
template <typename T>
T& made(nb::handle_t<T> object) {
  if (!nb::inst_ready(object)) throw nb::type_error("an object was never made");
  return *nb::inst_ptr<T>(object);
}

// TypeError for None, which nanobind lets into lists of objects.
template <typename T>
void check_made(const std::vector<const T*>& objects, const char* name) {
  for (const T* object : objects) {
    if (object == nullptr) throw nb::type_error((std::string(name) + " must not be None").c_str());
  }
}

// A setting that Python gives by name, as the type of `field`.
template <typename T>
void read_setting(const std::string& name, nb::handle value, T& field) {
  bool is_sound = nb::try_cast<T>(value, field);
  if constexpr (std::is_floating_point_v<T>) is_sound = is_sound && !std::isnan(field);
  if (is_sound) return;
  throw nb::value_error(
      ("the setting " + name + " cannot be " + nb::cast<std::string>(nb::repr(value))).c_str());
}

template <typename T>
T setting_of(const std::string& name, nb::handle value) {
  T field{};
  read_setting(name, value, field);
  return field;
}

inline std::string setting_name(nb::handle key) {
  std::string name;
  if (nb::try_cast<std::string>(key, name)) return name;
  throw nb::value_error("names of settings must be text");
}

}  // namespace committee
