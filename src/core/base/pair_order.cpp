#include "base/pair_order.hpp"

#include <cstdint>
#include <vector>

#include "base/radix_sort.hpp"
#include "base/scratch_pool.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

using Keyed = KeyedRow<std::uint64_t>;

struct Memory {
  std::vector<Keyed> items;
  std::vector<Keyed> scratch;
};

double pairs_of(const double* values, std::span<const double> second, std::span<const double> first,
                Memory& memory) {
  memory.items.resize(second.size());
  for (std::size_t row = 0; row < second.size(); ++row) {
    memory.items[row] = {sort_key(values[row]), static_cast<std::uint32_t>(row)};
  }
  radix_sort(memory.items, memory.scratch);
  double pairs = 0.0;
  double first_below = 0.0;
  for (std::size_t i = 0; i < memory.items.size();) {
    const std::uint64_t key = memory.items[i].key;
    double tied_second = 0.0;
    double tied_first = 0.0;
    for (; i < memory.items.size() && memory.items[i].key == key; ++i) {
      tied_second += second[memory.items[i].row];
      tied_first += first[memory.items[i].row];
    }
    pairs += tied_second * (first_below + tied_first / 2);
    first_below += tied_first;
  }
  return pairs;
}

}  // namespace

void count_pairs_in_order(const double* values, std::span<const double> second,
                          std::span<const double> first, std::size_t n_threads,
                          std::span<double> out) {
  ScratchPool<Memory> pool;
  parallel_for(out.size(), n_threads, [&](std::size_t i) {
    pool.lend([&](Memory& memory) {
      out[i] = pairs_of(values + i * second.size(), second, first, memory);
    });
  });
}

}  // namespace committee
