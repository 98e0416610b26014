// Four doubles at a time: reading and writing them, exponentials and logarithms, accurate to a few
// units in the last place.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace committee {

// Spelled out: left to themselves, compilers find branches in these loops. Passed by reference: how
// vectors are passed depends on the processor.
constexpr std::size_t kLanes = 4;
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));
using Longs = std::int64_t __attribute__((vector_size(kLanes * sizeof(std::int64_t))));

// e^x for x <= 0, within two units in the last place; e^-708 below -708: x = k ln 2 + r, and the
// series of e^r in Horner's form.
COMMITTEE_INLINE void exp_of_negative(const Doubles& x, Doubles& out) {
  constexpr double kLog2e = 1.4426950408889634;
  constexpr double kLn2High = 0.6931471803691238;  // with room for products with k
  constexpr double kLn2Low = 1.9082149292705877e-10;
  constexpr double kMagic = 6755399441055744.0;  // adding it rounds to a whole number
  constexpr std::array<double, 13> kSeries{1.0 / 479001600.0,
                                           1.0 / 39916800.0,
                                           1.0 / 3628800.0,
                                           1.0 / 362880.0,
                                           1.0 / 40320.0,
                                           1.0 / 5040.0,
                                           1.0 / 720.0,
                                           1.0 / 120.0,
                                           1.0 / 24.0,
                                           1.0 / 6.0,
                                           0.5,
                                           1.0,
                                           1.0};
  const Doubles least = Doubles{} - 708.0;
  const Doubles bounded = x < least ? least : x;
  const Doubles shifted = bounded * kLog2e + kMagic;
  const Doubles k = shifted - kMagic;
  const Doubles r = (bounded - k * kLn2High) - k * kLn2Low;
  Doubles p = Doubles{} + 1.0 / 6227020800.0;
  for (const double coefficient : kSeries) p = p * r + coefficient;
  // The low bits of `shifted` are k: they become the exponent.
  out = reinterpret_cast<Doubles>(reinterpret_cast<Longs>(p) +
                                  (reinterpret_cast<Longs>(shifted) << 52));
}

COMMITTEE_INLINE void read_lanes(const double* from, std::size_t n, Doubles& lanes) {
  if (n == kLanes) {
    std::memcpy(&lanes, from, sizeof(lanes));
  } else {
    lanes = Doubles{};
    std::memcpy(&lanes, from, n * sizeof(double));
  }
}

COMMITTEE_INLINE void read_flags(const std::uint8_t* from, std::size_t n, Longs& lanes) {
  using Bytes = std::uint8_t __attribute__((vector_size(kLanes)));
  Bytes bytes{};
  std::memcpy(&bytes, from, n == kLanes ? kLanes : n);
  lanes = __builtin_convertvector(bytes, Longs);
}

COMMITTEE_INLINE void write_lanes(const Doubles& lanes, std::size_t n, double* to) {
  if (n == kLanes) {
    std::memcpy(to, &lanes, sizeof(lanes));
  } else {
    std::memcpy(to, &lanes, n * sizeof(double));
  }
}

// log(1 + u) for 0 <= u <= 1, as 2 artanh(u / (2 + u)) by its series.
COMMITTEE_INLINE void log_of_one_plus(const Doubles& u, Doubles& out) {
  constexpr int kTerms = 17;  // the argument is at most 1/3
  const Doubles z = u / (2.0 + u);
  const Doubles square = z * z;
  Doubles p = Doubles{} + 1.0 / (2 * kTerms + 1);
  for (int k = kTerms - 1; k >= 0; --k) p = p * square + 1.0 / (2 * k + 1);
  out = 2.0 * z * p;
}

// log(p) for 1 <= p.
COMMITTEE_INLINE void log_of_product(const Doubles& p, Doubles& out) {
  constexpr std::int64_t kMantissa = (std::int64_t{1} << 52) - 1;
  const Longs bits = reinterpret_cast<Longs>(p);
  const Longs exponent = (bits >> 52) - 1023;
  const Doubles mantissa =
      reinterpret_cast<Doubles>((bits & kMantissa) | (std::int64_t{1023} << 52));
  log_of_one_plus(mantissa - 1.0, out);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out[lane] += static_cast<double>(exponent[lane]) * 0.6931471805599453;
  }
}

// Below, 1 + u has too few digits of u for the logarithm of a product of such factors.
constexpr double kSmallFactor = 1.0 / 1024;

}  // namespace committee
