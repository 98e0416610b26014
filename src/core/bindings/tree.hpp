// The Python class Tree: a core Tree that checks the tables it is given.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "tree/tree.hpp"

namespace committee {

class TreeObject {
 public:
  // The tree must be sound: grown by the core, or validated.
  explicit TreeObject(Tree tree)
      : tree_(std::move(tree)), needed_kinds_(split_feature_kinds(tree_)) {}

  const Tree& tree() const { return tree_; }

  // The kind that each feature has to have; none for a feature that no node splits by.
  const std::vector<std::optional<FeatureKind>>& needed_kinds() const { return needed_kinds_; }

  // ValueError unless the tree can read the table.
  void check_table(const TableView& table) const;

 private:
  Tree tree_;
  std::vector<std::optional<FeatureKind>> needed_kinds_;
};

void register_tree(nanobind::module_& m);

}  // namespace committee
