// Small trees for many rows at a time, without walking: masks of leaves.
//
// The leaves of a tree are numbered from left to right, a bit each. A node whose question a row
// answers with "to the right" rules out the leaves on its left; when every node of the tree has
// been asked, the lowest bit left is the leaf of the row (QuickScorer: Lucchese et al. 2015). No
// node waits for another, so that a vector compares many rows at once: all rows of a block see
// all nodes, in less time than each row would need for the few on its way.
//
// Questions are comparisons of bytes. A *column* holds a byte for each row of the block, made once
// for all trees: the rank of a value among the thresholds of its feature (threshold_ranks.hpp), or
// of 254 of them where there are more; for a subset of levels the side that a level takes. Missing
// values are above all ranks in one column and below all in another, as nodes want them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/thread_pool.hpp"
#include "data/column.hpp"
#include "forest/forest.hpp"
#include "forest/leaf_mask_kernels.hpp"
#include "forest/threshold_ranks.hpp"

namespace committee {

class LeafMasks {
 public:
  static constexpr std::size_t kBlock = kMaskedRows;
  static constexpr std::size_t kMaxLeaves = 64;

  // Nothing where a tree has more leaves or a node has more than two children, and where making
  // the columns would take longer than walking down the trees.
  static std::shared_ptr<const LeafMasks> make(const Forest& forest);

  // Working memory of one thread.
  struct Block {
    std::vector<std::uint8_t> columns;
    std::vector<std::uint16_t> ranks;
  };

  // Makes the columns of some rows, at most kBlock.
  void read(const TableView& table, Range rows, Block& block) const;

  // The leaf of each row of the block, counted from left to right; out has room for kBlock.
  void find_leaves(std::size_t tree, const Block& block, std::size_t n_rows,
                   std::uint8_t* out) const;

  // The nodes that the leaves of a tree are, from left to right.
  std::span<const std::uint32_t> leaf_nodes(std::size_t tree) const;

 private:
  struct Reals {
    ThresholdRanks<float> singles;
    ThresholdRanks<double> doubles;
  };
  struct Levels {
    std::uint32_t n_levels;  // larger ones take the default child everywhere
  };
  struct Column {
    bool missing_is_low = false;
    std::uint32_t first = 0;           // rank of which the code is 0
    std::vector<std::uint8_t> levels;  // of a category: the code of each level, and of all others
  };
  struct Feature {
    std::uint32_t number = 0;
    std::variant<Reals, ThresholdRanks<std::int64_t>, Levels> ranks;
    std::vector<std::uint32_t> columns;
  };
  struct SmallTree {
    std::uint32_t first_byte;
    std::uint32_t n_bytes;
    std::uint32_t first_leaf;
    std::uint32_t n_leaves;
  };
  class Builder;

  void rank_feature(const Feature& feature, const TableView& table, Range rows, Block& block) const;

  std::vector<Feature> features_;
  std::vector<Column> columns_;
  std::vector<LeafQuestion> questions_;
  std::vector<LeafByte> bytes_;
  std::vector<SmallTree> trees_;
  std::vector<std::uint32_t> leaf_nodes_;
};

}  // namespace committee
