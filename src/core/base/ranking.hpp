// How well numbers rank two kinds of rows: the pairs of one of each that are in the right order.
#pragma once

#include <span>

namespace committee {

// The sum over all pairs of rows of first[i] * second[j] where values[i] < values[j]; pairs that
// tie count half. Divided by the product of both sums it is the area under the ROC curve.
// No value may be NaN.
double weight_in_order(std::span<const double> values, std::span<const double> first,
                       std::span<const double> second);

}  // namespace committee
