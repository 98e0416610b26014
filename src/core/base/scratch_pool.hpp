// Working memory that is lent to one piece of work after another, instead of being allocated for
// each.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace committee {

template <typename Scratch>
class ScratchPool {
 public:
  // Calls use(scratch) with a scratch that no other call has; its content is what the last user
  // left.
  template <typename Use>
  void lend(Use&& use) {
    std::unique_ptr<Scratch> scratch = take();
    use(*scratch);
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(scratch));
  }

 private:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(spare_.back());
    spare_.pop_back();
    return scratch;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> spare_;
};

}  // namespace committee
