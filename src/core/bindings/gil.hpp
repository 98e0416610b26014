// Giving up the GIL and taking it back, also while the interpreter shuts down.
//
// CPython before 3.14 ends a daemon thread that takes the GIL after shutdown has begun by
// unwinding its stack, which aborts the process when the stack holds C++ frames. So the GIL is
// taken through a gate: once the interpreter says that it is going (atexit), the gate closes, the
// threads on their way through are waited for, and later ones sleep until the process is gone.
#pragma once

#include <nanobind/nanobind.h>

namespace committee {

// Holds the gate open for this thread; may never return when the interpreter is going.
class GilGate {
 public:
  GilGate();
  ~GilGate();
  GilGate(const GilGate&) = delete;
  GilGate& operator=(const GilGate&) = delete;
};

// Without the GIL for the life of this object.
class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    const GilGate gate;
    PyEval_RestoreThread(thread_);
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* thread_;
};

// With the GIL for the life of this object.
class WithGil {
 public:
  WithGil() : state_(PyGILState_Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  GilGate gate_;  // first: passed before the GIL is taken, left after it is given back
  PyGILState_STATE state_;
};

// Closes the gate when the interpreter ends.
void register_gil_gate();

}  // namespace committee
