// A column of cells as values: numbers, dates, or codes of the texts that occur.
//
// Each function goes on until a cell is something else, so that a wrong guess about a column costs
// little. Marks are texts that stand for a missing value, in lower case; cells are compared with
// them in lower case and without spaces around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/monitor.hpp"
#include "text/csv_cells.hpp"
#include "text/date_text.hpp"
#include "text/number_text.hpp"

namespace committee {

constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);

struct CellReading {
  const CsvCells& cells;
  std::size_t column = 0;
  std::span<const std::string> marks;
  std::size_t n_threads = 1;
  Monitor* monitor = nullptr;
};

// How the numbers of a column are written.
struct NumberSummary {
  std::size_t first_other = kNoRow;  // the first row known to hold something else
  std::size_t n_missing = 0;
  bool is_whole = true;            // all numbers are whole
  bool is_beyond_doubles = false;  // some whole number has 2^53 or more
  bool has_leading_zero = false;
  bool has_decimal_mark = false;
};

// Fills in numbers of several columns, NaN where they are missing. A block is read column by
// column, while it is in the cache.
std::vector<NumberSummary> read_numbers(const CellReading& reading,
                                        std::span<const std::size_t> columns, NumberFormat format,
                                        std::span<double* const> values);

// Fills in whole numbers and a byte a row, 1 for missing; returns the first row of something else.
std::size_t read_integers(const CellReading& reading, NumberFormat format,
                          std::span<std::int64_t> values, std::span<std::uint8_t> missing);

// The same for dates in microseconds.
std::size_t read_dates(const CellReading& reading, DateOrder order, std::span<std::int64_t> values,
                       std::span<std::uint8_t> missing);

// Fills in codes of the texts that occur, in the order in which they first do. With `is_trimmed`,
// spaces around do not count.
std::vector<std::string> read_levels(const CellReading& reading, bool is_trimmed,
                                     std::span<std::int32_t> codes);

}  // namespace committee
