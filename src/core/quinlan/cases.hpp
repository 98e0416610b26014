// The rows of a node where a row may be in several nodes at once.
//
// A *case* is a row with the weight of that part of it which is in the node. At a split on a
// feature that a row misses, the row goes down every branch, with the share of its weight that the
// rows with a known value have there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/binned_dataset.hpp"
#include "data/target.hpp"
#include "tree/tree.hpp"

namespace committee {

struct Cases {
  std::vector<std::uint32_t> rows;
  std::vector<double> weights;

  std::size_t size() const { return rows.size(); }
  void push_back(std::uint32_t row, double weight) {
    rows.push_back(row);
    weights.push_back(weight);
  }
};

// The weight of the user's that counts as one case: whole weights are repetitions and stay as they
// are, others are brought to a mean of one. Weights are divided by it, for of the smallest doubles
// it has no inverse.
inline double case_unit(const Entries& entries) {
  if (entries.weights_are_repetitions) return 1.0;
  double n_counted = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    n_counted += entries.repetitions_of(i);
    total += entries.weights[i];
  }
  return total / n_counted;
}

// All cases have a positive weight: one that is too small beside the others for a double is absent.
inline Cases make_cases(const Entries& entries, double unit) {
  Cases cases;
  cases.rows.reserve(entries.size());
  cases.weights.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double weight = entries.weights[i] / unit;
    if (weight > 0.0) cases.push_back(entries.rows[i], weight);
  }
  return cases;
}

// Sends cases to `n_children` children, keeping their order. `child_of` gives the child of a code
// that is not the missing one; `missing_code` is beyond all codes if no row misses the feature.
template <typename ChildOf>
std::vector<Cases> distribute(const Cases& cases, const CodeColumn& column, std::size_t n_children,
                              ChildOf&& child_of) {
  std::vector<Cases> children(n_children);
  std::vector<double> shares(n_children, 0.0);
  std::vector<std::size_t> sizes(n_children, 0);
  std::vector<std::uint32_t> child(cases.size());
  std::size_t n_missing = 0;
  double known = 0.0;
  const std::uint32_t missing = column.missing_code();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::uint32_t code = column.at(cases.rows[i]);
    if (column.has_missing && code == missing) {
      child[i] = kNoChild;
      ++n_missing;
      continue;
    }
    child[i] = child_of(code);
    ++sizes[child[i]];
    shares[child[i]] += cases.weights[i];
    known += cases.weights[i];
  }
  for (std::size_t c = 0; c < n_children; ++c) {
    shares[c] /= known;
    children[c].rows.reserve(sizes[c] + n_missing);
    children[c].weights.reserve(sizes[c] + n_missing);
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (child[i] != kNoChild) {
      children[child[i]].push_back(cases.rows[i], cases.weights[i]);
      continue;
    }
    for (std::size_t c = 0; c < n_children; ++c) {
      const double weight = cases.weights[i] * shares[c];
      if (weight > 0.0) children[c].push_back(cases.rows[i], weight);  // as in make_cases
    }
  }
  return children;
}

}  // namespace committee
