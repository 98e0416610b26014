#include "text/csv_cells.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "base/thread_pool.hpp"

namespace committee {
namespace {

constexpr std::size_t kBlockSize = 1 << 19;  // bytes, about
constexpr std::size_t kNone = std::string_view::npos;

// Walks through a text from cell to cell.
class Walker {
 public:
  Walker(std::string_view text, char delimiter) : text_(text), delimiter_(delimiter) {
    for (const char c : {delimiter, '\n', '\r'}) ends_cell_[static_cast<unsigned char>(c)] = true;
  }

  // Where the cell that begins at `place` ends; kNone if its quote is never closed.
  std::size_t cell_end(std::size_t place) const {
    if (place < text_.size() && text_[place] == '"') {
      place = quote_end(place);
      if (place == kNone) return kNone;
    }
    const std::size_t size = text_.size();
    while (place < size && !ends_cell_[static_cast<unsigned char>(text_[place])]) ++place;
    return place;
  }

  // The place after the closing quote of a cell.
  std::size_t quote_end(std::size_t opening) const {
    std::size_t place = opening + 1;
    while (true) {
      const std::size_t quote = text_.find('"', place);
      if (quote == kNone) return kNone;
      place = quote + 1;
      if (place >= text_.size() || text_[place] != '"') return place;
      ++place;  // a doubled one
    }
  }

  bool is_delimiter(std::size_t place) const {
    return place < text_.size() && text_[place] == delimiter_;
  }

  bool opens(std::size_t quote, std::size_t begin) const {
    return quote == begin || ends_cell_[static_cast<unsigned char>(text_[quote - 1])];
  }

  // The beginning of the next row, from where a row ends.
  std::size_t next_row(std::size_t end) const {
    if (end >= text_.size()) return text_.size();
    const bool is_pair = text_[end] == '\r' && end + 1 < text_.size() && text_[end + 1] == '\n';
    return end + (is_pair ? 2 : 1);
  }

  // Appends the ends of the cells of a row and returns the beginning of the next one, or kNone if a
  // quote is never closed. An empty line appends nothing.
  template <typename Append>
  std::size_t row(std::size_t begin, const Append& append) const {
    std::size_t end = cell_end(begin);
    if (end == kNone) return kNone;
    if (!is_delimiter(end) && is_blank(text_.substr(begin, end - begin))) return next_row(end);
    append(end);
    while (is_delimiter(end)) {
      end = cell_end(end + 1);
      if (end == kNone) return kNone;
      append(end);
    }
    return next_row(end);
  }

  // Cuts the text from `begin` on at line ends outside of quotes, about every kBlockSize bytes.
  std::vector<std::size_t> cuts(std::size_t begin) const {
    std::vector<std::size_t> found{begin};
    std::size_t place = begin;
    while (place < text_.size()) {  // outside of quotes
      const std::size_t quote = text_.find('"', place);
      const std::size_t end = std::min(quote, text_.size());
      while (true) {
        const std::size_t from = std::max(place, found.back() + kBlockSize);
        const std::size_t line = from < end ? text_.find('\n', from) : kNone;
        if (line >= end) break;
        found.push_back(line + 1);
      }
      if (quote == kNone) break;
      place = opens(quote, begin) ? quote_end(quote) : quote + 1;
    }
    if (found.back() < text_.size()) found.push_back(text_.size());
    return found;
  }

 private:
  static bool is_blank(std::string_view line) {
    return line.find_first_not_of(" \t") == std::string_view::npos;
  }

  std::string_view text_;
  char delimiter_;
  std::array<bool, 256> ends_cell_{};
};

// Reads the rows of a block; returns the first that does not fit.
std::optional<CsvFault> read_block(const Walker& walker, std::size_t end, std::size_t n_columns,
                                   RowBlock& block) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (end - block.begin >= kMost) throw std::length_error("a row is longer than 4 GB");
  std::size_t place = block.begin;
  while (place < end) {
    const std::size_t n_before = block.ends.size();
    const std::size_t next = walker.row(place, [&block](std::size_t cell_end) {
      block.ends.push_back(static_cast<std::uint32_t>(cell_end - block.begin));
    });
    if (next == kNone) return CsvFault{place, 0};
    const std::size_t width = block.ends.size() - n_before;
    if (width != 0) {
      if (width != n_columns) return CsvFault{place, width};
      block.starts.push_back(static_cast<std::uint32_t>(place - block.begin));
    }
    place = next;
  }
  return std::nullopt;
}

}  // namespace

CsvCells::CsvCells(std::string_view text, std::size_t begin, char delimiter, bool has_header,
                   std::size_t n_threads, Monitor* monitor)
    : text_(text), delimiter_(delimiter) {
  const Walker walker(text, delimiter);
  std::size_t place = std::min(begin, text.size());
  std::vector<std::size_t> ends;
  const auto read_row = [&] {  // the first that is not empty, from `place` on
    std::size_t next = place;
    ends.clear();
    while (ends.empty() && next != kNone && next < text_.size()) {
      place = next;
      next = walker.row(place, [&ends](std::size_t end) { ends.push_back(end); });
    }
    if (next == kNone) fault_ = CsvFault{place, 0};
    return next;
  };
  if (has_header) {
    const std::size_t next = read_row();
    if (fault_) return;
    std::string scratch;
    std::size_t cell = place;
    for (const std::size_t end : ends) {
      header_.emplace_back(trimmed(unquoted(text_.substr(cell, end - cell), scratch)));
      cell = end + 1;
    }
    place = next;
  }
  n_columns_ = header_.size();
  read_row();
  if (fault_ || ends.empty()) return;
  n_columns_ = ends.size();

  const std::vector<std::size_t> cuts = walker.cuts(place);
  blocks_.resize(cuts.size() - 1);
  std::vector<std::optional<CsvFault>> faults(blocks_.size());
  parallel_for(
      blocks_.size(), n_threads,
      [&](std::size_t index) {
        blocks_[index].begin = cuts[index];
        faults[index] = read_block(walker, cuts[index + 1], n_columns_, blocks_[index]);
      },
      monitor);
  for (std::size_t index = 0; index < blocks_.size() && !fault_; ++index) {
    blocks_[index].first_row = n_rows_;
    n_rows_ += blocks_[index].starts.size();
    fault_ = faults[index];
  }
}

std::size_t CsvCells::line_at(std::size_t place) const {
  std::size_t line = 1;
  for (std::size_t at = 0; at < place; ++at) {
    if (text_[at] == '\r') {
      ++line;
      if (at + 1 < place && text_[at + 1] == '\n') ++at;
    } else if (text_[at] == '\n') {
      ++line;
    }
  }
  return line;
}

const RowBlock& CsvCells::block_of(std::size_t row) const {
  const auto is_after = [](std::size_t number, const RowBlock& block) {
    return number < block.first_row;
  };
  return *std::prev(std::upper_bound(blocks_.begin(), blocks_.end(), row, is_after));
}

std::size_t CsvCells::line_of_row(std::size_t row) const {
  const RowBlock& block = block_of(row);
  return line_at(block.begin + block.starts[row - block.first_row]);
}

std::string_view CsvCells::raw(std::size_t row, std::size_t column) const {
  const RowBlock& block = block_of(row);
  return raw(block, row - block.first_row, column);
}

std::string_view unquoted(std::string_view raw, std::string& scratch) {
  if (raw.empty() || raw.front() != '"') return raw;
  const std::size_t first = raw.find('"', 1);
  if (first == raw.size() - 1) return raw.substr(1, first - 1);
  scratch.clear();
  bool is_quoted = true;
  for (std::size_t place = 1; place < raw.size(); ++place) {
    if (is_quoted && raw[place] == '"') {
      const bool is_doubled = place + 1 < raw.size() && raw[place + 1] == '"';
      if (!is_doubled) {
        is_quoted = false;
        continue;
      }
      ++place;
    }
    scratch.push_back(raw[place]);
  }
  return scratch;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kNoBreakSpace = "\xc2\xa0";
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty()) {
    if (is_space(text.front())) {
      text.remove_prefix(1);
    } else if (text.starts_with(kNoBreakSpace)) {
      text.remove_prefix(2);
    } else {
      break;
    }
  }
  while (!text.empty()) {
    if (is_space(text.back())) {
      text.remove_suffix(1);
    } else if (text.ends_with(kNoBreakSpace)) {
      text.remove_suffix(2);
    } else {
      break;
    }
  }
  return text;
}

}  // namespace committee
