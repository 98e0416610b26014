#include "base/ranking.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/radix_sort.hpp"

namespace committee {

double weight_in_order(std::span<const double> values, std::span<const double> first,
                       std::span<const double> second) {
  std::vector<KeyedRow<std::uint64_t>> rows(values.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = {sort_key(values[i]), static_cast<std::uint32_t>(i)};
  }
  std::vector<KeyedRow<std::uint64_t>> scratch;
  radix_sort(rows, scratch);
  double below = 0.0;  // weight of the first kind so far
  double total = 0.0;
  for (std::size_t begin = 0; begin < rows.size();) {
    double own_first = 0.0;
    double own_second = 0.0;
    std::size_t end = begin;
    for (; end < rows.size() && rows[end].key == rows[begin].key; ++end) {
      own_first += first[rows[end].row];
      own_second += second[rows[end].row];
    }
    total += own_second * (below + own_first / 2);
    below += own_first;
    begin = end;
  }
  return total;
}

}  // namespace committee
