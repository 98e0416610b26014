// Arrays that start at a cache line: records of a power of two bytes then never lie in two of them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace committee {

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* pointer, std::size_t n) { ::operator delete(pointer, n * sizeof(T), kLine); }
  // Nothing is written before its time: large arrays are filled by all threads at once.
  template <typename U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(static_cast<Values&&>(values)...);
  }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace committee
