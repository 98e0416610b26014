// The codes that occur in a node of few rows, or of few codes: a scan jumps from one to the next.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "score/byte_cut.hpp"
#include "split/node_search.hpp"

namespace committee {

class CodeSet {
 public:
  static bool can_hold(std::size_t n_codes, std::size_t n_rows) {
    return n_codes <= 64 || (n_codes <= kByteCodes && n_rows < 128);
  }
  CodeSet() = default;
  explicit CodeSet(std::uint64_t word) : words_{word, 0, 0, 0}, is_known_(true) {}
  // Collects the codes marked by a byte of 1, and clears the marks.
  explicit CodeSet(std::array<std::uint8_t, kByteCodes>& marks) : is_known_(true) {
    for (std::size_t i = 0; i < kByteCodes; i += 8) {
      std::uint64_t bytes = 0;  // each 0 or 1; the product moves byte k to bit k of the top byte
      for (std::size_t k = 0; k < 8; ++k) bytes |= std::uint64_t{marks[i + k]} << (8 * k);
      words_[i / 64] |= ((bytes * 0x0102040810204080ULL) >> 56) << (i % 64);
    }
    marks.fill(0);
  }

  bool is_known() const { return is_known_; }
  // Calls visit(code) for the codes below `end`, ascending.
  template <typename Visit>
  void for_each(std::uint32_t end, Visit&& visit) const {
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        const auto code = word * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
        if (code >= end) return;
        visit(code);
      }
    }
  }

 private:
  std::array<std::uint64_t, 4> words_{};
  bool is_known_ = false;
};

// Calls visit(code) for the codes below `end` that occur, ascending.
template <typename Score, typename Visit>
inline void for_each_present(const FeatureSearch<Score>& search, const CodeSet& codes,
                             std::uint32_t end, Visit&& visit) {
  if (codes.is_known()) return codes.for_each(end, visit);
  for (std::uint32_t code = 0; code < end; ++code) {
    if (!search.node.adder.is_empty(search.cell(code))) visit(code);
  }
}

template <typename Score>
inline void list_present(const FeatureSearch<Score>& search, const CodeSet& codes) {
  search.scratch.present.clear();
  for_each_present(search, codes, search.column.n_codes(),
                   [&](std::uint32_t code) { search.scratch.present.push_back(code); });
}

}  // namespace committee
