// The codes of a sparse column: those of the rows where a value is stored, and one for the rest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace committee {

struct SparseCodes {
  std::span<const std::int32_t> rows;  // of the table, ascending
  std::vector<std::uint8_t> codes;     // one for each of them
  std::uint8_t rest = 0;

  std::uint8_t at(std::size_t row) const {
    const auto is_before = [](std::int32_t a, std::size_t b) {
      return static_cast<std::size_t>(a) < b;
    };
    const auto found = std::lower_bound(rows.begin(), rows.end(), row, is_before);
    if (found == rows.end() || static_cast<std::size_t>(*found) != row) return rest;
    return codes[static_cast<std::size_t>(found - rows.begin())];
  }

  // Writes the code of every row.
  void spread(std::span<std::uint8_t> out) const {
    std::fill(out.begin(), out.end(), rest);
    for (std::size_t i = 0; i < rows.size(); ++i) out[static_cast<std::size_t>(rows[i])] = codes[i];
  }
};

}  // namespace committee
