// A forest as flat arrays, the form in which it is stored: all trees one after the other, and
// nothing that follows from the rest.
//
//   splits         one a node: 0 for a leaf, else 1 + 4 feature + 2 is_fan_out + is_missing_left
//   thresholds     8 bytes for each split of a real or an integer, in the order of nodes
//   category_data  of each split of a category (tree.hpp), in the order of a depth-first walk
//
// Children need no numbers: nodes are numbered depth-first with siblings side by side. What is
// known of leaves has one of three forms:
//
//   kCounts    weights of classes, where they are whole numbers and rows count as their weight
//   kLeaves    values (each different one of a tree once), weight, rows and impurity of leaves
//   kNodes     the same of all nodes
//
// Every stored forest has the arrays below. One that is added later is absent in older files: its
// vector is then empty, which has to mean what forests were before. In bindings/forest_arrays.cpp
// it is read only if `arrays.contains(name)`, and written only where it is not empty; Python lists
// it in LATER_FOREST_ARRAYS (files/tree_arrays.py). The number of the format in `header` stays.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/forest.hpp"

namespace committee {

enum class StoredForm : std::uint8_t { kCounts = 0, kLeaves = 1, kNodes = 2 };

struct ForestArrays {
  ForestInfo info;
  StoredForm form = StoredForm::kCounts;
  std::vector<std::uint32_t> node_counts;  // of each tree
  std::vector<std::uint32_t> splits;
  std::vector<std::uint64_t> thresholds;
  std::vector<std::uint32_t> category_data;
  std::vector<std::uint32_t> class_counts;  // kCounts: n_leaves x n_values
  std::vector<std::uint32_t> value_counts;  // kLeaves: rows of `values` of each tree
  std::vector<std::uint32_t> value_rows;    // kLeaves: of each leaf among its tree's
  std::vector<double> values;
  std::vector<double> weights;
  std::vector<std::uint64_t> n_rows;   // empty: the weights
  std::vector<double> impurity;        // empty: all zero, or it follows from the values
  std::vector<double> inner_impurity;  // kLeaves, regression: of the nodes that are no leaves
};

ForestArrays to_arrays(const Forest& forest);

// Throws std::invalid_argument unless the arrays are those of a forest that can be walked safely.
// Takes time linear in their sizes, whatever they hold.
Forest from_arrays(const ForestArrays& arrays);

}  // namespace committee
