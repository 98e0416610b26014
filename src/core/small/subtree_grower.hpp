// What grows subtrees of few rows in one go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "score/block.hpp"
#include "score/byte_cut.hpp"
#include "small/piece.hpp"
#include "split/grow_options.hpp"

namespace committee {

// An open node of a block of records, of at most kSmallNodeRows rows.
struct SubtreeRoot {
  const Block* block = nullptr;
  std::size_t begin = 0;  // its rows in the block
  std::size_t end = 0;
  std::size_t index = 0;  // in its piece
  std::uint32_t depth = 0;
  std::uint64_t key = 0;
};

// A node of the subtree that needs statistics on a finer grid: it is left open.
struct CoarseNode {
  std::vector<std::uint32_t> rows;  // of the block
  std::size_t index = 0;
  std::uint32_t depth = 0;
  std::uint64_t key = 0;
};

// What the subtrees of a tree share.
struct SubtreeRules {
  SubtreeRules(const FitData& fit_data, const GrowOptions& grow_options)
      : data(fit_data), options(grow_options) {
    for (std::uint32_t feature = 0; feature < data.dataset->n_features(); ++feature) {
      const CodeColumn& codes = data.dataset->feature(feature).column;
      is_category.push_back(data.dataset->feature(feature).kind == FeatureKind::kCategory ? 1 : 0);
      if (codes.has_missing && is_category.back() == 0) may_miss.push_back(feature);
      has_codes.push_back(codes.n_codes() >= 2 ? 1 : 0);
    }
    min_weight = std::max(options.min_weight_leaf * (1 - kWeightSlack),
                          static_cast<double>(options.min_rows_leaf));
    least_weight = std::max({static_cast<double>(options.min_rows_split),
                             2.0 * static_cast<double>(options.min_rows_leaf),
                             2.0 * options.min_weight_leaf * (1 - kWeightSlack)});
  }

  const FitData& data;
  const GrowOptions& options;
  double min_weight = 1.0;              // of a side
  double least_weight = 2.0;            // of a node that is split
  std::vector<std::uint32_t> may_miss;  // of those that are cut by thresholds
  std::vector<std::uint8_t> has_codes;  // of each feature: at least two
  std::vector<std::uint8_t> is_category;
};

inline bool has_categories(const BinnedDataset& dataset) {
  for (std::size_t i = 0; i < dataset.n_features(); ++i) {
    if (dataset.feature(i).kind == FeatureKind::kCategory) return true;
  }
  return false;
}

class SubtreeGrower {
 public:
  virtual ~SubtreeGrower() = default;
  // Grows the subtree into `piece` and writes the entries of its rows, leaf by leaf, to `order`.
  // False, and nothing done, where the general search has to.
  virtual bool grow(const SubtreeRoot& root, Piece& piece, std::span<std::uint32_t> order,
                    std::vector<CoarseNode>& coarse) = 0;
};

}  // namespace committee
