#include "quinlan/raised_errors.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace committee {
namespace {

class RaisedErrors {
 public:
  RaisedErrors(const QuinlanNodes& nodes, const PessimisticError& error, Monitor& monitor)
      : nodes_(nodes), error_(error), monitor_(monitor) {}

  // Errors to expect of a subtree that gets these cases, or that they add to those it has.
  double expect(std::uint32_t root, Cases cases, bool adds) const {
    struct Part {
      std::uint32_t node;
      Cases cases;
    };
    double errors = 0.0;
    std::vector<Part> stack;
    stack.push_back({root, std::move(cases)});
    while (!stack.empty()) {
      const Part part = std::move(stack.back());
      stack.pop_back();
      monitor_.check();
      if (part.node == kNoChild) {  // a level that the node above has no branch for
        errors += expect_leaf(part.cases, {});
        continue;
      }
      const BuildNode& node = nodes_[part.node];
      if (!node.has_split) {
        const auto before = adds ? nodes_.class_weights(part.node) : std::span<const double>{};
        errors += expect_leaf(part.cases, before) - (adds ? node.estimate : 0.0);
        continue;
      }
      std::vector<Cases> branches = nodes_.branches_of(node, part.cases);
      for (std::size_t i = branches.size(); i-- > 0;) {
        if (branches[i].size() == 0) continue;
        const std::uint32_t child = i < node.children.size() ? node.children[i] : kNoChild;
        stack.push_back({child, std::move(branches[i])});
      }
    }
    return errors;
  }

 private:
  // Errors to expect of a leaf of these cases, with those of `before` (may be empty).
  double expect_leaf(const Cases& cases, std::span<const double> before) const {
    std::vector<double> counts(nodes_.n_classes(), 0.0);
    std::copy(before.begin(), before.end(), counts.begin());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      counts[nodes_.class_of(cases.rows[i])] += cases.weights[i];
    }
    const double weight = std::accumulate(counts.begin(), counts.end(), 0.0);
    return error_.expect(weight, weight - *std::max_element(counts.begin(), counts.end()));
  }

  const QuinlanNodes& nodes_;
  const PessimisticError& error_;
  Monitor& monitor_;
};

}  // namespace

double expect_raised(const QuinlanNodes& nodes, std::uint32_t index, std::uint32_t child,
                     const Cases& cases, bool has_missing, const PessimisticError& error,
                     Monitor& monitor) {
  const RaisedErrors raised(nodes, error, monitor);
  if (has_missing) return raised.expect(child, cases, false);
  const BuildNode& node = nodes[index];
  std::vector<Cases> branches = nodes.branches_of(node, cases);
  Cases others;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (node.children[i] == child) continue;
    others.rows.insert(others.rows.end(), branches[i].rows.begin(), branches[i].rows.end());
    others.weights.insert(others.weights.end(), branches[i].weights.begin(),
                          branches[i].weights.end());
  }
  return nodes[child].estimate + raised.expect(child, std::move(others), true);
}

}  // namespace committee
