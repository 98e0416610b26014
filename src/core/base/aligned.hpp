// Large arrays that start at a cache line: records of a power of two bytes then never lie in two of
// them. Very large ones ask for huge pages, because rows are read at random, and the addresses of
// so many small pages do not fit the processor's tables.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace committee {

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;

  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  static std::align_val_t alignment(std::size_t n) {
    return std::align_val_t{n * sizeof(T) >= kHugePage ? kHugePage : kLine};
  }
  T* allocate(std::size_t n) {
    void* const memory = ::operator new(n * sizeof(T), alignment(n));
#ifdef __linux__
    // Only a hint: without it the memory is as good, but slower.
    if (n * sizeof(T) >= kHugePage) madvise(memory, n * sizeof(T), MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* pointer, std::size_t n) { ::operator delete(pointer, alignment(n)); }
  // Memory stays uninitialised, so that the threads which fill a large array touch it first.
  template <typename U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
  }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace committee
