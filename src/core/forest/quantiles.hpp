// Quantiles of the targets that a row's leaves have seen (Meinshausen 2006).
//
// A training row gets the weight of its share in the leaf that the new row reaches, averaged over
// the trees; the quantile is the smallest target whose training rows, with those of smaller
// targets, have at least that share of the weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "data/sampling.hpp"
#include "forest/forest.hpp"

namespace committee {

// The training rows in each leaf: those of leaf k of tree t are rows[offsets[i]] ...
// rows[offsets[i + 1] - 1] with i = k + number of leaves of the trees before t.
struct LeafMembers {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> counts;  // how often each was drawn; empty: once
};

// `plan` may be null: every row is in every tree. Rows of weight zero (empty: none) are left out.
LeafMembers leaf_members(const Forest& forest, const TableView& table, const SamplingPlan* plan,
                         std::uint64_t row_seed, std::span<const double> weights,
                         std::size_t n_threads, Monitor& monitor);

struct MembersView {
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint32_t> rows;
  std::span<const std::uint32_t> counts;
};

// Throws std::invalid_argument unless these are members of the leaves of the forest, with rows
// below n_training.
void check_members(const Forest& forest, const MembersView& members, std::size_t n_training);

// n_rows x n_quantiles; quantiles are in [0, 1]. `targets` and `weights` (empty: all one) have one
// entry a training row.
void predict_quantiles(const Forest& forest, const TableView& table, const MembersView& members,
                       std::span<const double> targets, std::span<const double> weights,
                       std::span<const double> quantiles, std::span<double> out,
                       std::size_t n_threads, Monitor& monitor);

}  // namespace committee
