#include "rows.hpp"

#include <algorithm>

namespace committee {
namespace {

template <typename Code, typename GoesLeft>
std::size_t partition_in_two(const Code* codes, std::span<std::uint32_t> rows,
                             std::vector<std::uint32_t>& scratch, GoesLeft&& goes_left) {
  if (scratch.size() < rows.size()) scratch.resize(rows.size());
  std::uint32_t* const right = scratch.data();
  std::size_t n_left = 0;
  std::size_t n_right = 0;
  for (const std::uint32_t row : rows) {
    // Both writes happen, one counts: a branch would be mispredicted half of the time. The
    // write to the left never overtakes the read position.
    const bool is_left = goes_left(codes[row]);
    rows[n_left] = row;
    right[n_right] = row;
    n_left += is_left ? 1 : 0;
    n_right += is_left ? 0 : 1;
  }
  std::copy_n(right, n_right, rows.begin() + static_cast<std::ptrdiff_t>(n_left));
  return n_left;
}

template <typename Code>
std::vector<std::size_t> partition_in_many(const Code* codes, const Split& split,
                                           std::span<std::uint32_t> rows,
                                           std::vector<std::uint32_t>& scratch) {
  std::vector<std::size_t> begins(split.n_children + 1, 0);
  for (const std::uint32_t row : rows) ++begins[split.child_of_code[codes[row]] + 1];
  for (std::size_t child = 0; child < split.n_children; ++child) begins[child + 1] += begins[child];
  scratch.assign(rows.begin(), rows.end());
  std::vector<std::size_t> next = begins;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[next[split.child_of_code[codes[scratch[i]]]]++] = scratch[i];
  }
  return begins;
}

}  // namespace

std::vector<std::size_t> partition_rows(const CodeColumn& column, const Split& split,
                                        std::span<std::uint32_t> rows,
                                        std::vector<std::uint32_t>& scratch) {
  return visit_codes(column, [&](const auto* codes) -> std::vector<std::size_t> {
    if (split.kind == SplitKind::kFanOut) {
      return partition_in_many(codes, split, rows, scratch);
    }
    std::size_t n_left = 0;
    if (split.kind == SplitKind::kSubset) {
      n_left = partition_in_two(codes, rows, scratch,
                                [&](std::uint32_t code) { return split.child_of_code[code] == 0; });
    } else {
      const std::uint32_t last_left = split.last_left;
      const std::uint32_t missing = column.has_missing ? column.missing_code() : kNoCode;
      const bool missing_goes_left = split.default_child == 0;
      n_left = partition_in_two(codes, rows, scratch, [=](std::uint32_t code) {
        return code == missing ? missing_goes_left : code <= last_left;
      });
    }
    return {0, n_left, rows.size()};
  });
}

}  // namespace committee
