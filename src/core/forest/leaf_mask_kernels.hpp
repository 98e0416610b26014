// The loops of leaf_masks.hpp over the rows of a block; plain, AVX2 and AVX-512, same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace committee {

// Rows of a block; few enough that their columns stay in the cache. Kernels may write so many
// results, whatever the number of rows.
constexpr std::size_t kMaskedRows = 256;
constexpr std::size_t kLeavesPerByte = 8;
constexpr std::uint32_t kRanksPerColumn = 254;  // codes 0 to 254, and one for missing values

// Ranks to codes: rank `first` becomes 0, and what is out of reach the nearest code. Missing values
// get the largest code; or all codes are one larger and theirs is zero.
void write_codes(const std::uint16_t* ranks, std::uint32_t first, bool missing_is_low,
                 std::uint8_t* codes);

// The condition of a node: whether the code of a row is at most `most`. If it is not, only the
// leaves of `mask` remain, of the eight that this is about.
struct LeafQuestion {
  std::uint32_t column;  // where the codes of the rows start
  std::uint8_t most;
  std::uint8_t mask;
};

// The questions about eight leaves.
struct LeafByte {
  std::uint32_t begin;
  std::uint32_t end;
};

// The leaf of each row in a tree, counted from left to right.
void find_leaves(const LeafQuestion* questions, std::span<const LeafByte> bytes,
                 const std::uint8_t* columns, std::size_t n_rows, std::uint8_t* leaves);

// sums[i] += values[leaves[i]] for the rows of a block. `values` has room for kLeafTable numbers,
// of which those from n_leaves on are not used.
constexpr std::size_t kLeafTable = 32;
void add_leaf_values(const double* values, std::size_t n_leaves, const std::uint8_t* leaves,
                     std::size_t n_rows, double* sums);

}  // namespace committee
