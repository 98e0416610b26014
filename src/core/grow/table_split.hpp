// A split in terms of the table: the search speaks of codes of a block, a node of a tree of values
// and levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "score/block.hpp"
#include "split/split.hpp"
#include "tree/tree.hpp"

namespace committee {

// The rows of the node that is split.
struct SplitRows {
  const FitData& data;
  const Block& block;
  std::span<const std::uint32_t> rows;  // of the block

  std::size_t table_row(std::uint32_t block_row) const {
    return data.entries.rows[block.entries[block_row]];
  }
};

// Writes the split into a node; what a category needs is added to `all_category_data`.
void write_split(const SplitRows& node, const Split& split, Node& out,
                 std::vector<std::uint32_t>& all_category_data);

}  // namespace committee
