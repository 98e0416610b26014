// Pairs of rows in the order of their values: what the area under a ROC curve counts.
#pragma once

#include <cstddef>
#include <span>

namespace committee {

// The weight of all pairs of a row of the first and a row of the second class in which the second
// has the higher value; pairs that tie count half. One sum for each row of `values`, a matrix of
// out.size() rows without NaN. Weights are those of rows in either class.
void count_pairs_in_order(const double* values, std::span<const double> second,
                          std::span<const double> first, std::size_t n_threads,
                          std::span<double> out);

}  // namespace committee
