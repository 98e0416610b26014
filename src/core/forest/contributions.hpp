// Why a tree says what it says: the share of each feature in a prediction (TreeSHAP).
//
// If only some features of a row are known, a tree is expected to say this: at the split of a known
// feature the row goes its way, at other splits it goes all ways, in proportion to the weight of
// the training rows ("path-dependent" expectation; Lundberg et al. 2020). Shapley values share the
// difference between knowing all features and knowing none among the features.
//
// A leaf is reached through *edges*, each of which is a condition on one feature. For a feature f
// on the way to a leaf of value v let o_f be 1 if the row meets all conditions on f, else 0, and
// let z_f be the product of the shares of weight that take these edges. The leaf gives feature f
//
//     v (o_f - z_f) * integral over s from 0 to 1 of the product of (o_g s + z_g (1 - s)), g != f,
//
// because the integral of s^k (1 - s)^(d - 1 - k) is k! (d - 1 - k)! / d!, the weight of a set of k
// features out of d. The integrand is a polynomial of degree d - 1: d / 2 points of Gauss's rule
// give the integral exactly, with positive terms only, so that nothing cancels. At each point one
// walk serves all leaves: products are carried down and sums over leaves up (as in Linear TreeSHAP,
// Yu et al. 2022), which takes time linear in the number of nodes.
#pragma once

#include <cstddef>
#include <span>

#include "base/monitor.hpp"
#include "forest/forest.hpp"

namespace committee {

// n_rows x (n_features + 1) x n_values: what each feature adds to the weighted sum of the trees'
// values (of their votes, if `hard`), and last the expectation with no feature known. They add up
// to the prediction. Without tree_weights all are one. A row's numbers do not depend on the other
// rows or on n_threads.
void contributions(const Forest& forest, const TableView& table, bool hard,
                   std::span<const double> tree_weights, std::span<double> out,
                   std::size_t n_threads, Monitor& monitor);

// The same for a single tree.
void contributions(const Tree& tree, const TableView& table, std::span<double> out,
                   std::size_t n_threads, Monitor& monitor);

}  // namespace committee
