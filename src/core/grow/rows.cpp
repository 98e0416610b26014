#include "grow/rows.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <type_traits>

namespace committee {
namespace {

// Keeps the order on both sides; returns the number of rows on the left.
template <typename GoesLeft>
std::size_t partition_in_two(std::span<std::uint32_t> rows, std::vector<std::uint32_t>& scratch,
                             GoesLeft&& goes_left) {
  if (scratch.size() < rows.size()) scratch.resize(rows.size());
  std::uint32_t* const right = scratch.data();
  std::size_t n_left = 0;
  std::size_t n_right = 0;
  for (const std::uint32_t row : rows) {
    // Both writes happen, one counts: a branch would be mispredicted half of the time. The
    // write to the left never overtakes the read position.
    const bool is_left = goes_left(row);
    rows[n_left] = row;
    right[n_right] = row;
    n_left += is_left ? 1 : 0;
    n_right += is_left ? 0 : 1;
  }
  std::copy_n(right, n_right, rows.begin() + static_cast<std::ptrdiff_t>(n_left));
  return n_left;
}

// 1 for the codes that go left.
std::array<std::uint8_t, 256> sides_of_codes(const CodeColumn& column, const Split& split) {
  std::array<std::uint8_t, 256> sides{};
  const bool is_subset = split.kind == SplitKind::kSubset;
  for (std::uint32_t code = 0; code < column.n_values; ++code) {
    sides[code] = (is_subset ? split.child_of_code[code] == 0 : code <= split.last_left) ? 1 : 0;
  }
  if (column.has_missing) sides[column.missing_code()] = split.default_child == 0 ? 1 : 0;
  return sides;
}

template <typename ChildOf>
void partition_in_many(std::span<std::uint32_t> rows, PartitionScratch& scratch,
                       ChildOf&& child_of) {
  std::vector<std::size_t>& begins = scratch.begins;
  for (const std::uint32_t row : rows) ++begins[child_of(row) + 1];
  for (std::size_t child = 0; child + 1 < begins.size(); ++child)
    begins[child + 1] += begins[child];
  scratch.rows.assign(rows.begin(), rows.end());
  std::vector<std::size_t> next = begins;
  for (const std::uint32_t row : scratch.rows) rows[next[child_of(row)]++] = row;
}

// `code_at` gives the code of a row.
template <typename CodeAt>
void partition(const CodeColumn& column, const Split& split, std::span<std::uint32_t> rows,
               PartitionScratch& scratch, CodeAt&& code_at) {
  scratch.begins.assign(split.n_children + 1, 0);
  if (split.kind == SplitKind::kFanOut) {
    return partition_in_many(rows, scratch,
                             [&](std::uint32_t row) { return split.child_of_code[code_at(row)]; });
  }
  std::size_t n_left = 0;
  const std::uint32_t last_left = split.last_left;
  if (split.kind == SplitKind::kSubset) {
    n_left = partition_in_two(rows, scratch.rows, [&](std::uint32_t row) {
      return split.child_of_code[code_at(row)] == 0;
    });
  } else if (!column.has_missing) {
    n_left = partition_in_two(rows, scratch.rows,
                              [=](std::uint32_t row) { return code_at(row) <= last_left; });
  } else {
    const std::uint32_t missing = column.missing_code();
    const bool missing_goes_left = split.default_child == 0;
    n_left = partition_in_two(rows, scratch.rows, [=](std::uint32_t row) {
      const std::uint32_t code = code_at(row);
      return code == missing ? missing_goes_left : code <= last_left;
    });
  }
  scratch.begins = {0, n_left, rows.size()};
}

// Calls visit(size) with the size of a record as the compiler knows it; 0: it does not.
template <typename Visit>
decltype(auto) visit_stride(std::size_t stride, Visit&& visit) {
  switch (stride) {
    case 16:
      return visit(std::integral_constant<std::size_t, 16>());
    case 32:
      return visit(std::integral_constant<std::size_t, 32>());
    case 48:
      return visit(std::integral_constant<std::size_t, 48>());
    case 64:
      return visit(std::integral_constant<std::size_t, 64>());
    default:
      return visit(std::integral_constant<std::size_t, 0>());
  }
}

// Where each record went is written down for what else is known of the rows. `goes_left` says 1 or
// 0 for a code.
template <typename GoesLeft>
void divide_records(Block& block, std::size_t begin, std::size_t end, std::size_t feature,
                    PartitionScratch& scratch, const GoesLeft& goes_left) {
  const std::size_t n_rows = end - begin;
  const std::size_t stride = block.record_stride;
  if (scratch.goes_left.size() < n_rows) scratch.goes_left.resize(n_rows);
  std::uint8_t* const sides = scratch.goes_left.data();
  auto* const first = reinterpret_cast<std::byte*>(block.records.get()) + begin * stride;
  const std::size_t n_left = visit_stride(stride, [&](auto size) {
    return divide_bytes<decltype(size)::value>(
        first, stride, n_rows, scratch.bytes, [&](std::size_t i, const std::byte* record) {
          const std::size_t is_left = goes_left(static_cast<std::uint8_t>(record[feature]));
          sides[i] = static_cast<std::uint8_t>(is_left);
          return is_left;
        });
  });
  scratch.begins = {0, n_left, n_rows};
  const Division division{begin, {sides, n_rows}};
  move_items(block.entries, 1, division, scratch.bytes);
  move_statistics(block.statistics, division, scratch.bytes);
}

void fan_out_records(Block& block, std::size_t begin, std::size_t end, const Split& split,
                     PartitionScratch& scratch) {
  const std::size_t n_rows = end - begin;
  if (scratch.order.size() < n_rows) scratch.order.resize(n_rows);
  const auto order = std::span(scratch.order).first(n_rows);
  const std::size_t stride = block.record_stride;
  const std::uint8_t* const codes = block.records.get() + begin * stride + split.feature;
  std::iota(order.begin(), order.end(), 0U);
  partition(block.columns[split.feature], split, order, scratch,
            [=](std::uint32_t row) { return std::uint32_t{codes[row * stride]}; });
  const Permutation moves{begin, order};
  move_bytes<0>(reinterpret_cast<std::byte*>(block.records.get()), stride, moves, scratch.bytes);
  move_items(block.entries, 1, moves, scratch.bytes);
  move_statistics(block.statistics, moves, scratch.bytes);
}

}  // namespace

void partition_rows(Block& block, std::size_t begin, std::size_t end, const Split& split,
                    PartitionScratch& scratch) {
  const CodeColumn& column = block.columns[split.feature];
  if (!block.has_records()) {
    const auto rows = std::span(block.rows).subspan(begin, end - begin);
    return visit_codes(column, [&](const auto* codes) {
      partition(column, split, rows, scratch,
                [=](std::uint32_t row) { return std::uint32_t{codes[row]}; });
    });
  }
  if (split.kind == SplitKind::kFanOut) {
    fan_out_records(block, begin, end, split, scratch);
  } else if (split.kind != SplitKind::kSubset && !column.has_missing) {
    const std::uint32_t last_left = split.last_left;
    divide_records(block, begin, end, split.feature, scratch,
                   [=](std::uint8_t code) { return std::size_t{code <= last_left ? 1U : 0U}; });
  } else {
    const auto sides = sides_of_codes(column, split);
    divide_records(block, begin, end, split.feature, scratch,
                   [&](std::uint8_t code) { return std::size_t{sides[code]}; });
  }
}

}  // namespace committee
