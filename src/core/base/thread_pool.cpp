// How a call runs:
//
//   caller    puts its Job on the pool's list, wakes workers, claims tasks itself, then waits
//   worker    takes a job from the list, claims tasks until none is left, looks for the next job
//
// A task belongs to the thread that draws its number from Job::next_task. Only a claimed task may
// look at the caller's function and monitor: these live on the caller's stack, and the caller stays
// until every claimed task has ended. A worker that comes late draws a number beyond the end and
// goes.
#include "base/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace committee {
namespace {

// In the memory that a thread is born with. Otherwise a thread asks for it when it first looks, and
// glibc ends the process where there is none left.
#if defined(__GNUC__) && !defined(_WIN32)
[[gnu::tls_model("initial-exec")]]
#endif
thread_local bool is_inside_task = false;

class InsideTask {
 public:
  InsideTask() : was_inside_(is_inside_task) { is_inside_task = true; }
  ~InsideTask() { is_inside_task = was_inside_; }
  InsideTask(const InsideTask&) = delete;
  InsideTask& operator=(const InsideTask&) = delete;

 private:
  bool was_inside_;
};

// A core that sleeps takes tens of microseconds to wake, as long as many tasks take: a thread that
// waits looks out for so long before it falls asleep.
constexpr std::chrono::microseconds kAwake{50};

template <typename Condition>
void spin_until(const Condition& is_true) {
  const auto until = std::chrono::steady_clock::now() + kAwake;
  while (!is_true()) {
    for (int i = 0; i < 32 && !is_true(); ++i) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    if (std::chrono::steady_clock::now() >= until) return;
  }
}

class Job {
 public:
  Job(std::size_t n_tasks, std::size_t max_helpers, const std::function<void(std::size_t)>& task,
      Monitor* monitor, bool has_two_ends)
      : max_helpers_(max_helpers),
        n_tasks_(n_tasks),
        task_(task),
        monitor_(monitor),
        has_two_ends_(has_two_ends) {}

  // Claims and runs tasks until none is left.
  void work(bool is_caller) {
    const InsideTask inside;
    for (;;) {
      const std::size_t number = next_task_.fetch_add(1, std::memory_order_relaxed);
      if (number >= n_tasks_) return;
      run(has_two_ends_ ? take_end(is_caller) : number, is_caller);
      finish(1, is_caller);
    }
  }

  // Returns when every claimed task has ended; then throws what a task threw, or Interrupted.
  void wait() {
    spin_until([this] { return is_done(); });
    std::unique_lock lock(mutex_);
    while (!is_done()) {
      if (monitor_ == nullptr) {
        all_done_.wait(lock);
        continue;
      }
      all_done_.wait_for(lock, std::chrono::milliseconds(20));
      lock.unlock();  // the poll may run Python code
      monitor_->listen();
      if (monitor_->is_stopped()) drop_unclaimed(true);
      lock.lock();
    }
    // Taken out of the job, so that a late worker never destroys it.
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    if (monitor_ != nullptr && monitor_->is_stopped()) throw Interrupted();
  }

  // Both are called with the pool's mutex held.
  bool wants_helper() const {
    return n_helpers_ < max_helpers_ && next_task_.load(std::memory_order_relaxed) < n_tasks_;
  }
  void add_helper() { ++n_helpers_; }

 private:
  // The next task from the front or from the back. Who has drawn a number may take one: there are
  // as many tasks as numbers.
  std::size_t take_end(bool is_caller) {
    if (is_caller) return n_from_front_++;
    return n_tasks_ - 1 - n_from_back_.fetch_add(1, std::memory_order_relaxed);
  }

  void run(std::size_t index, bool is_caller) {
    try {
      if (monitor_ != nullptr) monitor_->check();
      task_(index);
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        if (!error_ || index < error_index_) {
          error_ = std::current_exception();
          error_index_ = index;
        }
      }
      drop_unclaimed(is_caller);
    }
  }

  // Dropped tasks count as finished.
  void drop_unclaimed(bool is_caller) {
    const std::size_t next = next_task_.exchange(n_tasks_, std::memory_order_relaxed);
    if (next < n_tasks_) finish(n_tasks_ - next, is_caller);
  }

  void finish(std::size_t n, bool is_caller) {
    const std::size_t before = n_finished_.fetch_add(n, std::memory_order_acq_rel);
    if (before + n < n_tasks_ || is_caller) return;
    // The empty critical section keeps the caller from missing the call between its look at
    // n_finished_ and its falling asleep.
    {
      const std::lock_guard lock(mutex_);
    }
    all_done_.notify_one();
  }

  bool is_done() const { return n_finished_.load(std::memory_order_acquire) == n_tasks_; }

  const std::size_t max_helpers_;
  std::size_t n_helpers_ = 0;  // guarded by the pool's mutex
  const std::size_t n_tasks_;
  const std::function<void(std::size_t)>& task_;
  Monitor* const monitor_;
  const bool has_two_ends_;
  std::size_t n_from_front_ = 0;  // the caller's own
  std::atomic<std::size_t> n_from_back_{0};
  std::atomic<std::size_t> next_task_{0};
  std::atomic<std::size_t> n_finished_{0};
  std::mutex mutex_;
  std::condition_variable all_done_;
  std::exception_ptr error_;  // guarded by mutex_
  std::size_t error_index_ = 0;
};

int process_id() {
#ifdef _WIN32
  return _getpid();
#else
  return static_cast<int>(getpid());
#endif
}

// Never destroyed: its threads are detached and may still sleep here when the process ends.
class Pool {
 public:
  // The pool of this process. After a fork the parent's object is left alone, whatever state its
  // mutex was in, and the child starts with a new one.
  static Pool& instance() {
    Pool* pool = current_.load(std::memory_order_acquire);
    const int pid = process_id();
    if (pool != nullptr && pool->pid_ == pid) return *pool;
    auto fresh = std::make_unique<Pool>(pid);
    if (current_.compare_exchange_strong(pool, fresh.get(), std::memory_order_acq_rel)) {
      return *fresh.release();
    }
    return *pool;  // another thread was first
  }

  explicit Pool(int pid) : pid_(pid) {}

  void add(const std::shared_ptr<Job>& job, std::size_t n_helpers) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(job);
      n_added_.fetch_add(1, std::memory_order_release);
      grow(n_helpers);
    }
    for (std::size_t i = 0; i < n_helpers; ++i) job_added_.notify_one();
  }

  void remove(const Job* job) {
    const std::lock_guard lock(mutex_);
    std::erase_if(jobs_, [job](const auto& other) { return other.get() == job; });
  }

 private:
  void grow(std::size_t n_workers) {
    try {
      while (n_workers_ < n_workers) {
        std::thread([this, room = std::make_unique<char[]>(kRoomToBegin)]() mutable {
          room.reset();
          throw_once();
          serve();
        }).detach();
        ++n_workers_;
      }
    } catch (const std::exception&) {
      // The system gives no more threads: those that exist, or the caller alone, do the work.
    }
  }

  // The first exception of a thread takes memory of its own, and the process ends where there is
  // none left. A job may throw because there is none left: so the first one comes before any job.
  static void throw_once() {
    try {
      throw 0;
    } catch (int) {
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    bool has_just_worked = false;
    for (;;) {
      const auto found =
          std::find_if(jobs_.begin(), jobs_.end(), [](const auto& j) { return j->wants_helper(); });
      if (found == jobs_.end() && has_just_worked) {
        has_just_worked = false;
        const std::size_t seen = n_added_.load(std::memory_order_relaxed);
        lock.unlock();
        spin_until([&] { return n_added_.load(std::memory_order_acquire) != seen; });
        lock.lock();
        continue;
      }
      if (found == jobs_.end()) {
        job_added_.wait(lock);
        continue;
      }
      has_just_worked = true;
      std::shared_ptr<Job> job = *found;
      job->add_helper();
      lock.unlock();
      job->work(false);
      job.reset();
      lock.lock();
    }
  }

  static constexpr std::size_t kRoomToBegin = 1 << 16;
  static constinit std::atomic<Pool*> current_;

  const int pid_;
  std::mutex mutex_;
  std::condition_variable job_added_;
  std::vector<std::shared_ptr<Job>> jobs_;  // a job leaves when its caller has run out of tasks
  std::atomic<std::size_t> n_added_{0};
  std::size_t n_workers_ = 0;
};

constinit std::atomic<Pool*> Pool::current_{nullptr};

void run_alone(std::size_t n_tasks, const std::function<void(std::size_t)>& task,
               Monitor* monitor) {
  for (std::size_t i = 0; i < n_tasks; ++i) {
    if (monitor != nullptr) monitor->check();
    task(i);
  }
  if (monitor != nullptr && monitor->is_stopped()) throw Interrupted();
}

// More would take a stack each and be of no help.
constexpr std::size_t kMostThreads = 1024;

void share_out(std::size_t n_tasks, std::size_t n_threads,
               const std::function<void(std::size_t)>& task, Monitor* monitor, bool has_two_ends) {
  if (n_tasks <= 1) return run_alone(n_tasks, task, monitor);
  if (n_threads <= 1 || is_inside_task) {
    const InsideTask inside;
    return run_alone(n_tasks, task, monitor);
  }
  const std::size_t n_helpers = std::min({n_threads, n_tasks, kMostThreads}) - 1;
  const auto job = std::make_shared<Job>(n_tasks, n_helpers, task, monitor, has_two_ends);
  Pool& pool = Pool::instance();
  pool.add(job, n_helpers);
  job->work(true);
  pool.remove(job.get());
  job->wait();
}

}  // namespace

void parallel_for(std::size_t n_tasks, std::size_t n_threads,
                  const std::function<void(std::size_t)>& task, Monitor* monitor) {
  share_out(n_tasks, n_threads, task, monitor, false);
}

void parallel_parts(std::size_t n_tasks, std::size_t n_threads,
                    const std::function<void(std::size_t)>& task, Monitor* monitor) {
  share_out(n_tasks, n_threads, task, monitor, true);
}

std::size_t chunk_count(std::size_t n_items, std::size_t min_chunk, std::size_t n_threads) {
  constexpr std::size_t kChunksPerThread = 4;
  if (n_threads <= 1) return 1;
  const std::size_t most = n_items / std::max<std::size_t>(min_chunk, 1);
  return std::clamp<std::size_t>(most, 1, std::min(n_threads, kMostThreads) * kChunksPerThread);
}

Range chunk_range(std::size_t n_items, std::size_t n_chunks, std::size_t index) {
  // The first n_items % n_chunks chunks are longer by one.
  const std::size_t length = n_items / n_chunks;
  const std::size_t n_longer = n_items % n_chunks;
  const std::size_t begin = index * length + std::min(index, n_longer);
  return {begin, begin + length + (index < n_longer ? 1 : 0)};
}

}  // namespace committee
