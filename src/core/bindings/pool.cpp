// The thread pool as Python sees it: small jobs that let the tests look at its promises.
#include "pool.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "gil.hpp"
#include "monitor.hpp"

namespace committee {
namespace {

// What the tests call with both ways to hand out tasks.
using Share = decltype(&parallel_for);
Share share_of(bool parts) { return parts ? &parallel_parts : &parallel_for; }

// The sum of the task numbers; each task also turns a wheel `work_per_task` times.
std::uint64_t pool_sum(std::size_t n_tasks, std::size_t n_threads, std::size_t work_per_task,
                       bool parts) {
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::uint64_t> sink{0};
  const auto turn = [&](std::size_t task) {
    std::uint64_t wheel = task;
    for (std::size_t i = 0; i < work_per_task; ++i) wheel = scatter(wheel);
    sink.fetch_xor(wheel, std::memory_order_relaxed);
    sum.fetch_add(task, std::memory_order_relaxed);
  };
  share_of(parts)(n_tasks, n_threads, turn, nullptr);
  return sum.load();
}

// Tasks from `first_bad` on fail; returns never, or the number of tasks when all are good.
std::size_t pool_raise(std::size_t n_tasks, std::size_t n_threads, std::size_t first_bad,
                       bool parts) {
  const auto fail = [&](std::size_t task) {
    if (task >= first_bad) throw std::runtime_error("task " + std::to_string(task) + " failed");
  };
  share_of(parts)(n_tasks, n_threads, fail, nullptr);
  return n_tasks;
}

// Calls from inside tasks: the number of inner tasks that did not run on their caller's thread.
std::size_t pool_nested(std::size_t n_outer, std::size_t n_inner, std::size_t n_threads,
                        bool parts) {
  std::atomic<std::size_t> n_elsewhere{0};
  std::atomic<std::size_t> n_done{0};
  const auto call_again = [&](std::size_t) {
    const auto caller = std::this_thread::get_id();
    const auto count = [&](std::size_t) {
      n_done.fetch_add(1);
      if (std::this_thread::get_id() != caller) n_elsewhere.fetch_add(1);
    };
    share_of(parts)(n_inner, n_threads, count, nullptr);
  };
  share_of(parts)(n_outer, n_threads, call_again, nullptr);
  if (n_done.load() != n_outer * n_inner) throw std::runtime_error("inner tasks were lost");
  return n_elsewhere.load();
}

// Tasks that sleep; Ctrl-C or an exception of `progress` ends the job early.
// Returns the number of different threads that worked.
std::size_t pool_sleep(std::size_t n_tasks, std::size_t n_threads, std::size_t milliseconds,
                       nb::handle progress, bool parts) {
  std::mutex mutex;
  std::set<std::thread::id> workers;
  run_monitored(progress, [&](Monitor& monitor) {
    const auto sleep = [&](std::size_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      monitor.advance(1);
      const std::lock_guard lock(mutex);
      workers.insert(std::this_thread::get_id());
    };
    share_of(parts)(n_tasks, n_threads, sleep, &monitor);
  });
  return workers.size();
}

}  // namespace

void register_pool(nb::module_& m) {
  m.def("pool_sum", &pool_sum, nb::arg("n_tasks"), nb::arg("n_threads"), nb::arg("work_per_task"),
        nb::arg("parts") = false, nb::call_guard<WithoutGil>());
  m.def("pool_raise", &pool_raise, nb::arg("n_tasks"), nb::arg("n_threads"), nb::arg("first_bad"),
        nb::arg("parts") = false, nb::call_guard<WithoutGil>());
  m.def("pool_nested", &pool_nested, nb::arg("n_outer"), nb::arg("n_inner"), nb::arg("n_threads"),
        nb::arg("parts") = false, nb::call_guard<WithoutGil>());
  m.def("pool_sleep", &pool_sleep, nb::arg("n_tasks"), nb::arg("n_threads"),
        nb::arg("milliseconds"), nb::arg("progress").none() = nb::none(), nb::arg("parts") = false,
        nb::sig("def pool_sleep(n_tasks: int, n_threads: int, milliseconds: int, "
                "progress: collections.abc.Callable[[int], object] | None = None, "
                "parts: bool = False) -> int"));
  m.def(
      "chunks",
      [](std::size_t n_items, std::size_t min_chunk, std::size_t n_threads) {
        nb::list ranges;
        const std::size_t n_chunks = chunk_count(n_items, min_chunk, n_threads);
        for (std::size_t i = 0; i < n_chunks; ++i) {
          const Range range = chunk_range(n_items, n_chunks, i);
          ranges.append(nb::make_tuple(range.begin, range.end));
        }
        return ranges;
      },
      nb::arg("n_items"), nb::arg("min_chunk"), nb::arg("n_threads"));
}

}  // namespace committee
