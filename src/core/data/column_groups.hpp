// Columns of a table in groups that are read together.
//
// Neighbouring columns of a row-major matrix share their cache lines: a group of them is copied in
// one pass over its rows. Other columns are groups of their own and are read where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/column.hpp"

namespace committee {

// The first feature of each group, and the end.
std::vector<std::size_t> group_neighbours(const TableView& table);

// Views on the columns of a group; `copy` is what they point to, unless there is one column only.
std::vector<ColumnView> gather_columns(std::span<const ColumnView> columns, std::size_t n_rows,
                                       std::vector<std::uint64_t>& copy);

}  // namespace committee
