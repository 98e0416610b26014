// Long computations that Python can interrupt and watch.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <utility>

#include "base/monitor.hpp"
#include "gil.hpp"

namespace committee {

namespace nb = nanobind;

// Calls body(monitor) without the GIL and returns what it returns. Every 20 ms or so, on this
// thread, signals are looked at and `progress` (None or a callable) gets the units done so far.
// What a signal handler or `progress` raises stops the computation and is raised here.
template <typename Body>
auto run_monitored(nb::handle progress, Body&& body) {
  std::exception_ptr raised;  // outlives the monitor; destroyed with the GIL held
  const auto poll = [&raised, progress](std::uint64_t done) {
    const WithGil with_gil;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress.is_none()) progress(done);
      return false;
    } catch (const nb::python_error&) {
      raised = std::current_exception();
      return true;
    }
  };
  const auto run = [&] {
    const WithoutGil without_gil;
    Monitor monitor(poll);
    return std::forward<Body>(body)(monitor);
  };
  try {
    if constexpr (std::is_void_v<decltype(run())>) {
      run();
      if (raised) std::rethrow_exception(raised);
    } else {
      auto result = run();
      if (raised) std::rethrow_exception(raised);
      return result;
    }
  } catch (const Interrupted&) {
    if (raised) std::rethrow_exception(raised);
    throw;
  }
}

}  // namespace committee
