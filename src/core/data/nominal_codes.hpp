// Every feature as levels, for trees that know nothing else: intervals of numbers, and a level of
// its own for missing values.
#pragma once

#include <cstdint>
#include <span>

#include "data/column.hpp"

namespace committee {

// The level of each row: that of a category, or the number of cuts (ascending) below the value, of
// `reals` for a real feature and of `integers` for an integer one. Missing values get
// `missing_level`; levels unseen in training stay negative.
struct Cuts {
  std::span<const double> reals;
  std::span<const std::int64_t> integers;
};
void nominal_codes(const TableView& table, std::size_t feature, const Cuts& cuts,
                   std::int32_t missing_level, std::span<std::int32_t> out);

}  // namespace committee
