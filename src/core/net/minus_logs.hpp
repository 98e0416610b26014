// Log losses of probabilities, the same on every machine.
#pragma once

#include <span>

namespace committee {

// out[i] = -log(shares[i]) for shares in [0, 1], at most some 690.
void minus_logs(std::span<const double> shares, std::span<double> out);

}  // namespace committee
