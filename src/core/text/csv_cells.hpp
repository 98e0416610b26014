// The cells of a text with delimiters, as places in the text.
//
// Rows end at \n, \r\n or \r. A cell that begins with a quote ends at the next single one; quotes
// are doubled inside of it, and delimiters and line ends are plain characters there. A quote
// anywhere else is a character. These are the rules of Python's csv module; other than there, a
// quote that is never closed is a fault, because it would swallow the rest of a file.
//
// The text is cut at line ends outside of quotes into blocks, which are read side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/monitor.hpp"

namespace committee {

// Neighbouring rows. Places are counted from `begin`, to fit into 32 bits.
struct RowBlock {
  std::size_t begin = 0;
  std::size_t first_row = 0;
  std::vector<std::uint32_t> starts;  // of each row
  std::vector<std::uint32_t> ends;    // of each cell, row by row
};

// What is wrong with the first row that does not fit.
struct CsvFault {
  std::size_t place = 0;  // where the row begins
  std::size_t width = 0;  // its number of cells; 0 if a quote is never closed
};

class CsvCells {
 public:
  // Reads from `begin` on; `text` has to stay where it is. Empty lines are skipped. The number of
  // columns is that of the first row after the header, or of the header if there is none.
  CsvCells(std::string_view text, std::size_t begin, char delimiter, bool has_header,
           std::size_t n_threads, Monitor* monitor);

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_columns() const { return n_columns_; }
  const std::vector<std::string>& header() const { return header_; }
  const std::vector<RowBlock>& blocks() const { return blocks_; }
  const std::optional<CsvFault>& fault() const { return fault_; }

  // The number of the line that holds a place, the first one is 1.
  std::size_t line_at(std::size_t place) const;
  std::size_t line_of_row(std::size_t row) const;

  // A cell of a block as it is written, with its quotes.
  std::string_view raw(const RowBlock& block, std::size_t row, std::size_t column) const {
    const std::size_t at = row * n_columns_ + column;
    const std::uint32_t first = column == 0 ? block.starts[row] : block.ends[at - 1] + 1;
    return text_.substr(block.begin + first, block.ends[at] - first);
  }
  std::string_view raw(std::size_t row, std::size_t column) const;

 private:
  std::string_view text_;
  char delimiter_;
  std::size_t n_rows_ = 0;
  std::size_t n_columns_ = 0;
  std::vector<std::string> header_;
  std::vector<RowBlock> blocks_;
  std::optional<CsvFault> fault_;

  const RowBlock& block_of(std::size_t row) const;
};

// What a cell says: without its quotes. `scratch` holds it where quotes are doubled.
std::string_view unquoted(std::string_view raw, std::string& scratch);

// Without spaces, tabs, line ends and no-break spaces around it.
std::string_view trimmed(std::string_view text);

}  // namespace committee
