// Every feature as levels, for trees that know nothing else: intervals of numbers, and a level of
// its own for missing values.
#pragma once

#include <cstdint>
#include <span>

#include "column.hpp"

namespace committee {

// The level of each row: that of a category, or the number of `edges` (ascending) below the value.
// Missing values get `missing_level`; levels unseen in training stay negative.
void nominal_codes(const TableView& table, std::size_t feature, std::span<const double> edges,
                   std::int32_t missing_level, std::span<std::int32_t> out);

}  // namespace committee
