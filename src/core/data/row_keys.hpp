// A number for each row that depends on its cells alone: not on where it stands, on other rows, or
// on the type of a column. Equal rows have equal keys, and different rows different ones as good as
// always.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/column.hpp"

namespace committee {

// Goes on from the numbers in `keys`, one a row: a seed, or the keys of further columns.
// `level_keys` has a number for each level of each category, and is empty for other features.
void add_row_keys(const TableView& table, std::span<const std::vector<std::uint64_t>> level_keys,
                  std::size_t n_threads, std::span<std::uint64_t> keys);

}  // namespace committee
