#include "net/minus_logs.hpp"

#include <algorithm>
#include <cstddef>

#include "base/simd.hpp"
#include "base/vector_math.hpp"

namespace committee {
namespace {

constexpr double kLeastShare = 1e-300;

COMMITTEE_INLINE void minus_logs_all_code(const double* shares, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    const std::size_t n_own = std::min(kLanes, n - i);
    Doubles share = Doubles{} + 1.0;
    for (std::size_t lane = 0; lane < n_own; ++lane) {
      share[lane] = shares[i + lane] > kLeastShare ? shares[i + lane] : kLeastShare;
    }
    Doubles logs;
    log_of_product(share < 1.0 ? 1.0 / share : Doubles{} + 1.0, logs);
    write_lanes(logs, n_own, out + i);
  }
}

COMMITTEE_TWICE(void, minus_logs_all, (const double* shares, std::size_t n, double* out),
                (shares, n, out))

}  // namespace

void minus_logs(std::span<const double> shares, std::span<double> out) {
  minus_logs_all(shares.data(), shares.size(), out.data());
}

}  // namespace committee
