#include "gil.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace committee {
namespace {

namespace nb = nanobind;

std::atomic<bool> is_closed{false};
std::atomic<int> n_passing{0};
std::thread::id closer;  // written once, before is_closed

bool must_stay_out() { return is_closed.load() && std::this_thread::get_id() != closer; }

// Runs with the GIL, on the thread that shuts the interpreter down.
void close_gate() {
  closer = std::this_thread::get_id();
  is_closed.store(true);
  PyThreadState* thread = PyEval_SaveThread();
  // Bounded, for a progress callback may take its time.
  for (int i = 0; i < 1000 && n_passing.load() > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  PyEval_RestoreThread(thread);
}

}  // namespace

GilGate::GilGate() {
  n_passing.fetch_add(1);
  if (!must_stay_out()) return;
  n_passing.fetch_sub(1);
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

GilGate::~GilGate() { n_passing.fetch_sub(1); }

void register_gil_gate() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&close_gate));
}

}  // namespace committee
