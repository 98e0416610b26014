// Sums of doubles that do not depend on order: fixed point, 128 bits wide.
//
// A number below 2^6 is taken as a multiple of 2^-110. Those above 2^-57 lose nothing, smaller ones
// what lies below 2^-110, and 2^10 times the largest number still fits. Sums are exact, whatever
// the order and whoever adds.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace committee {

__extension__ using Wide = __int128;

constexpr int kWideBits = 110;
constexpr double kWideLimit = 64.0;  // numbers are smaller than that

// Of a number in [0, kWideLimit).
inline Wide to_wide(double number) {
  constexpr int kMantissa = 52;
  constexpr int kBias = 1023;
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto exponent = static_cast<int>(bits >> kMantissa);
  if (exponent == 0) return 0;  // zero, or far below the grid
  const std::uint64_t digits =
      (bits & ((std::uint64_t{1} << kMantissa) - 1)) | (std::uint64_t{1} << kMantissa);
  const int shift = exponent - kBias - kMantissa + kWideBits;
  if (shift >= 0) return static_cast<Wide>(digits) << shift;
  return shift > -64 ? static_cast<Wide>(digits >> -shift) : 0;
}

inline double from_wide(Wide sum) { return std::ldexp(static_cast<double>(sum), -kWideBits); }

}  // namespace committee
