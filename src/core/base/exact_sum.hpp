// Sums of doubles that do not depend on order: fixed point, 128 bits wide.
//
// A number below 2^6 is taken as a multiple of 2^-110. Those above 2^-57 lose nothing, smaller ones
// what lies below 2^-110, and 2^10 times the largest number still fits. Sums are exact, in any
// order and on any number of threads.
#pragma once

#include <cmath>
#include <cstdint>

namespace committee {

__extension__ using Wide = __int128;

constexpr int kWideBits = 110;
constexpr double kWideLimit = 64.0;  // numbers are smaller than that
constexpr std::int64_t kHighOfLimit = std::int64_t{64} << (kWideBits - 64);  // upper half of it

// Of a number in [0, kWideLimit). Two halves, each a whole number that a double holds exactly.
inline Wide to_wide(double number) {
  constexpr int kHalf = kWideBits / 2;
  constexpr double kScale = 36028797018963968.0;  // 2^55
  const double scaled = number * kScale;
  const auto high = static_cast<std::int64_t>(scaled);
  const auto low = static_cast<std::int64_t>((scaled - static_cast<double>(high)) * kScale);
  return (static_cast<Wide>(high) << kHalf) + low;
}

inline double from_wide(Wide sum) { return std::ldexp(static_cast<double>(sum), -kWideBits); }

}  // namespace committee
