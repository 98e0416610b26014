// The line from a long computation back to its caller: stop requests and progress.
//
// Workers call `check` between pieces of work. It throws Interrupted as soon as a caller wants to
// stop. Only the thread that made the monitor talks to the caller (Python needs its own thread to
// look at signals), and at most every 20 ms.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace committee {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

class Monitor {
 public:
  // `poll` gets the units of work done so far and returns true to stop; it may be empty.
  using Poll = std::function<bool(std::uint64_t)>;

  explicit Monitor(Poll poll = {}) : poll_(std::move(poll)), owner_(std::this_thread::get_id()) {}
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void advance(std::uint64_t units) { done_.fetch_add(units, std::memory_order_relaxed); }
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }

  void check() {
    listen();
    if (is_stopped()) throw Interrupted();
  }

  // Whether the caller wants to go on, without throwing; used while waiting for workers.
  void listen() {
    if (!poll_ || std::this_thread::get_id() != owner_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_poll_ < std::chrono::milliseconds(20)) return;
    last_poll_ = now;
    if (poll_(done_.load(std::memory_order_relaxed))) stop();
  }

 private:
  Poll poll_;
  std::thread::id owner_;
  std::chrono::steady_clock::time_point last_poll_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace committee
