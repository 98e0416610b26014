// How much worse a tree predicts the rows it left out when the values of some features are those
// of other rows (Breiman 2001).
//
// Permuting a feature changes the leaf of a row only through the nodes on its path that ask about
// this feature. So a row goes down once; at each node the value that it would be given instead is
// looked at as well, and a second walk starts where that value leaves the path. Nothing is walked
// for features whose stand-in goes the same way.
//
//   path of the row     A --- B --- C --- D --- leaf
//   splits on           f     g     f     h
//   permuted f          same        other way: walk from there, with f of the other row
//
// The left out rows of a tree are put on a circle in random order, and each group of features takes
// its values from a number of places ahead that is drawn for the group: every row gets the values
// of another row, and each row's are used once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "data/target.hpp"
#include "forest/forest.hpp"
#include "forest/out_of_bag.hpp"

namespace committee {

struct PermutationOptions {
  Loss loss = Loss::kError;
  // Features with the same number are permuted together; n_groups means never.
  std::span<const std::uint32_t> group_of_feature;
  std::uint32_t n_groups = 0;
  std::uint64_t seed = 0;
  std::size_t n_threads = 1;
};

struct PermutationLosses {
  std::vector<TreeLoss> trees;    // as they are
  std::vector<double> increases;  // n_trees x n_groups: of the mean loss, by permuting
};

PermutationLosses permute_features(const Forest& forest, const TableView& table,
                                   const Target& target, const LeftOut& left_out,
                                   const PermutationOptions& options, Monitor& monitor);

}  // namespace committee
