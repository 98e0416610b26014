// One pool of sleeping threads for the whole process.
//
// Work is a number of tasks; whoever is free claims the next one. The caller works too and never
// waits for a worker that has not claimed anything, so a core taken by another program slows a
// fit down but cannot stall it. A call from inside a task runs on the calling thread alone, unless
// that task is the only one of its call (a forest of one tree still uses all threads).
// After a fork the child builds a pool of its own: the parent's threads do not exist there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/monitor.hpp"

namespace committee {

// Runs task(0) ... task(n_tasks - 1) on at most `n_threads` threads (and 1,024) including the
// caller's, and returns when all have ended. The first exception of a task (lowest task number
// among those that ran) is thrown here after the others have ended; tasks not yet claimed are
// dropped then.
// While waiting, the caller listens to `monitor` (may be null); when that is stopped, tasks not yet
// claimed are dropped and Interrupted is thrown.
void parallel_for(std::size_t n_tasks, std::size_t n_threads,
                  const std::function<void(std::size_t)>& task, Monitor* monitor = nullptr);

// The same for tasks that are neighbouring parts of arrays: the caller takes them from the front,
// the others from the back. From call to call a part stays with whoever has it in the cache.
void parallel_parts(std::size_t n_tasks, std::size_t n_threads,
                    const std::function<void(std::size_t)>& task, Monitor* monitor = nullptr);

// The number of chunks to cut `n_items` into so that each has at least `min_chunk` of them and
// no thread idles long: a few per thread, one in all for a single thread, never zero.
std::size_t chunk_count(std::size_t n_items, std::size_t min_chunk, std::size_t n_threads);

// Chunk `index` of `n_chunks` equal ones of [0, n_items).
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};
Range chunk_range(std::size_t n_items, std::size_t n_chunks, std::size_t index);

// Calls task(first row, number of rows) for parts of kRows rows, side by side.
template <std::size_t kRows, typename Task>
void for_each_part(std::size_t n_rows, std::size_t n_threads, const Task& task) {
  const std::size_t n_parts = (n_rows + kRows - 1) / kRows;
  parallel_parts(n_parts, n_threads, [&](std::size_t part) {
    const std::size_t begin = part * kRows;
    task(begin, std::min(kRows, n_rows - begin));
  });
}

// The sum of what the task returns. As parts have a fixed size, it does not depend on threads.
template <std::size_t kRows, typename Task>
double sum_of_parts(std::size_t n_rows, std::size_t n_threads, const Task& task) {
  std::vector<double> sums((n_rows + kRows - 1) / kRows);
  parallel_parts(sums.size(), n_threads, [&](std::size_t part) {
    const std::size_t begin = part * kRows;
    sums[part] = task(begin, std::min(kRows, n_rows - begin));
  });
  double sum = 0.0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace committee
