#include "text/cell_columns.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/thread_pool.hpp"

namespace committee {
namespace {

bool is_mark(std::string_view text, std::span<const std::string> marks) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::any_of(marks.begin(), marks.end(), [&](const std::string& mark) {
    return std::equal(text.begin(), text.end(), mark.begin(), mark.end(),
                      [&](char left, char right) { return lower(left) == right; });
  });
}

// Calls read(row, text of the cell) for the rows of each block, blocks side by side, until it
// returns false. Returns the first row for which it did among those looked at.
template <typename Read>
std::size_t for_each_cell(const CellReading& reading, const Read& read) {
  const std::vector<RowBlock>& blocks = reading.cells.blocks();
  std::vector<std::size_t> stops(blocks.size(), kNoRow);
  parallel_for(
      blocks.size(), reading.n_threads,
      [&](std::size_t index) {
        const RowBlock& block = blocks[index];
        std::string scratch;
        for (std::size_t row = 0; row < block.starts.size(); ++row) {
          const std::string_view raw = reading.cells.raw(block, row, reading.column);
          if (!read(index, block.first_row + row, unquoted(raw, scratch))) {
            stops[index] = block.first_row + row;
            return;
          }
        }
      },
      reading.monitor);
  const auto first = std::min_element(stops.begin(), stops.end());
  return first == stops.end() ? kNoRow : *first;
}

// Reads cells by read(text, value), which returns whether it knows the text; others may be missing.
template <typename Value, typename Read>
std::size_t read_values(const CellReading& reading, Value nothing, std::span<Value> values,
                        std::span<std::uint8_t> missing, const Read& read) {
  return for_each_cell(reading, [&](std::size_t, std::size_t row, std::string_view cell) {
    const std::string_view text = trimmed(cell);
    missing[row] = 0;
    if (read(text, values[row])) return true;
    values[row] = nothing;
    missing[row] = 1;
    return is_mark(text, reading.marks);
  });
}

// Texts and their codes, in the order in which they are added.
class LevelTable {
 public:
  std::int32_t code_of(std::string_view text, bool is_kept) {
    if (text == last_text_ && !names_.empty()) return last_code_;
    auto found = code_of_.find(text);
    if (found == code_of_.end()) {
      const std::string_view kept = is_kept ? text : std::string_view(stored_.emplace_back(text));
      found = code_of_.emplace(kept, static_cast<std::int32_t>(names_.size())).first;
      names_.push_back(kept);
    }
    last_text_ = found->first;
    last_code_ = found->second;
    return last_code_;
  }

  const std::vector<std::string_view>& names() const { return names_; }

 private:
  std::unordered_map<std::string_view, std::int32_t> code_of_;
  std::vector<std::string_view> names_;
  std::deque<std::string> stored_;  // texts that are not in the file as they are
  std::string_view last_text_;
  std::int32_t last_code_ = 0;
};

// Reads a column of a block, up to the first cell of something else.
void read_block(const CellReading& reading, const RowBlock& block, NumberFormat format,
                double* values, NumberSummary& sum) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: the next integer rounds to it
  std::string cell_scratch;
  std::string number_scratch;
  for (std::size_t row = 0; row < block.starts.size(); ++row) {
    const std::string_view raw = reading.cells.raw(block, row, reading.column);
    const std::string_view text = trimmed(unquoted(raw, cell_scratch));
    WrittenNumber number;
    if (read_number(text, format, number_scratch, number)) {
      values[block.first_row + row] = number.value;
      sum.is_whole &= number.is_whole;
      sum.is_beyond_doubles |= number.is_whole && std::abs(number.value) >= kExact;
      sum.has_leading_zero |= number.has_leading_zero;
      sum.has_decimal_mark |= number.has_decimal_mark;
    } else if (is_mark(text, reading.marks)) {
      values[block.first_row + row] = std::numeric_limits<double>::quiet_NaN();
      ++sum.n_missing;
    } else {
      sum.first_other = block.first_row + row;
      return;
    }
  }
}

}  // namespace

std::vector<NumberSummary> read_numbers(const CellReading& reading,
                                        std::span<const std::size_t> columns, NumberFormat format,
                                        std::span<double* const> values) {
  const std::vector<RowBlock>& blocks = reading.cells.blocks();
  const std::size_t n_columns = columns.size();
  std::vector<NumberSummary> parts(blocks.size() * n_columns);
  parallel_for(
      blocks.size(), reading.n_threads,
      [&](std::size_t block) {
        CellReading own = reading;
        for (std::size_t place = 0; place < n_columns; ++place) {
          own.column = columns[place];
          read_block(own, blocks[block], format, values[place], parts[block * n_columns + place]);
        }
      },
      reading.monitor);
  std::vector<NumberSummary> sums(n_columns);
  for (std::size_t at = 0; at < parts.size(); ++at) {
    NumberSummary& sum = sums[at % n_columns];
    const NumberSummary& part = parts[at];
    sum.first_other = std::min(sum.first_other, part.first_other);
    sum.n_missing += part.n_missing;
    sum.is_whole &= part.is_whole;
    sum.is_beyond_doubles |= part.is_beyond_doubles;
    sum.has_leading_zero |= part.has_leading_zero;
    sum.has_decimal_mark |= part.has_decimal_mark;
  }
  return sums;
}

std::size_t read_integers(const CellReading& reading, NumberFormat format,
                          std::span<std::int64_t> values, std::span<std::uint8_t> missing) {
  return read_values<std::int64_t>(reading, 0, values, missing,
                                   [format](std::string_view text, std::int64_t& value) {
                                     std::string scratch;
                                     return read_integer(text, format, scratch, value);
                                   });
}

std::size_t read_dates(const CellReading& reading, DateOrder order, std::span<std::int64_t> values,
                       std::span<std::uint8_t> missing) {
  return read_values<std::int64_t>(reading, 0, values, missing,
                                   [order](std::string_view text, std::int64_t& value) {
                                     return read_date(text, order, value);
                                   });
}

std::vector<std::string> read_levels(const CellReading& reading, bool is_trimmed,
                                     std::span<std::int32_t> codes) {
  const std::vector<RowBlock>& blocks = reading.cells.blocks();
  std::vector<LevelTable> tables(blocks.size());
  for_each_cell(reading, [&](std::size_t block, std::size_t row, std::string_view cell) {
    const std::string_view raw =
        reading.cells.raw(blocks[block], row - blocks[block].first_row, reading.column);
    // A cell with doubled quotes was written anew, elsewhere.
    const std::less_equal<const char*> before;
    const bool is_in_text = before(raw.data(), cell.data()) &&
                            before(cell.data() + cell.size(), raw.data() + raw.size());
    codes[row] = tables[block].code_of(is_trimmed ? trimmed(cell) : cell, is_in_text);
    return true;
  });
  LevelTable all;
  std::vector<std::vector<std::int32_t>> new_codes(blocks.size());
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (const std::string_view name : tables[block].names()) {
      new_codes[block].push_back(all.code_of(name, true));
    }
  }
  parallel_for(
      blocks.size(), reading.n_threads,
      [&](std::size_t block) {
        const std::size_t first = blocks[block].first_row;
        for (std::size_t row = first; row < first + blocks[block].starts.size(); ++row) {
          codes[row] = new_codes[block][static_cast<std::size_t>(codes[row])];
        }
      },
      reading.monitor);
  return {all.names().begin(), all.names().end()};
}

}  // namespace committee
