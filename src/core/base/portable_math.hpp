// Logarithms that are the same on every processor.
//
// C libraries have versions with and without fused multiply-add, which differ in last bits, and
// take the one that suits the processor. Here are sums, products and quotients in a fixed order,
// with errors of about two units in the last place. Of vectors see vector_math.hpp.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace committee {

// log(i / 64) from i = 46 on.
inline constexpr std::size_t kFirstLog = 46;
inline constexpr std::array<double, 46> kLogs{-0.33024168687057687,
                                              -0.3087354816496133,
                                              -0.2876820724517809,
                                              -0.26706278524904525,
                                              -0.24686007793152578,
                                              -0.22705745063534608,
                                              -0.2076393647782445,
                                              -0.18859116980755003,
                                              -0.16989903679539747,
                                              -0.15154989812720093,
                                              -0.13353139262452263,
                                              -0.1158318155251217,
                                              -0.09844007281325252,
                                              -0.0813456394539524,
                                              -0.06453852113757118,
                                              -0.048009219186360606,
                                              -0.0317486983145803,
                                              -0.015748356968139168,
                                              0.0,
                                              0.015504186535965254,
                                              0.030771658666753687,
                                              0.0458095360312942,
                                              0.06062462181643484,
                                              0.07522342123758753,
                                              0.08961215868968714,
                                              0.10379679368164356,
                                              0.11778303565638346,
                                              0.13157635778871926,
                                              0.1451820098444979,
                                              0.15860503017663857,
                                              0.17185025692665923,
                                              0.184922338494012,
                                              0.19782574332991987,
                                              0.21056476910734964,
                                              0.22314355131420976,
                                              0.2355660713127669,
                                              0.24783616390458127,
                                              0.25995752443692605,
                                              0.27193371548364176,
                                              0.2837681731306446,
                                              0.2954642128938359,
                                              0.3070250352949119,
                                              0.3184537311185346,
                                              0.329753286372468,
                                              0.3409265869705932,
                                              0.3519764231571782};

// x = 2^exponent m with m between 0.71 and 1.42, and log(m).
struct LogParts {
  double exponent = 0.0;
  double log = 0.0;
};

// Of a positive and finite number. With c = i / 64 close to m, log(m) = log(c) + 2 artanh(z) for
// z = (m - c) / (m + c), and |z| is below 1/180: four terms of the series are enough.
inline LogParts log_parts(double x) {
  constexpr std::uint64_t kExponentBits = std::uint64_t{0xFFF} << 52;
  constexpr std::uint64_t kLeast = std::bit_cast<std::uint64_t>(45.5 / 64.0);
  LogParts parts;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    parts.exponent = -54.0;
  }
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t above = bits - kLeast;
  parts.exponent += static_cast<double>(static_cast<std::int64_t>(above) >> 52);
  const double m = std::bit_cast<double>(bits - (above & kExponentBits));
  const auto i = static_cast<std::size_t>(m * 64.0 + 0.5);
  const double c = static_cast<double>(i) * 0x1p-6;
  const double z = (m - c) / (m + c);
  const double s = z * z;
  const double rest = s * (1.0 / 3.0 + s * (1.0 / 5.0 + s * (1.0 / 7.0)));
  parts.log = kLogs[i - kFirstLog] + (2.0 * z + 2.0 * z * rest);
  return parts;
}

inline bool has_log_parts(double x) { return x > 0.0 && x <= std::numeric_limits<double>::max(); }

inline double log_of(double x) {
  if (!has_log_parts(x)) return std::log(x);       // infinite, or not a number
  constexpr double kLn2High = 0.6931471803691238;  // with room for products with exponents
  constexpr double kLn2Low = 1.9082149292705877e-10;
  const LogParts parts = log_parts(x);
  return parts.exponent * kLn2High + (parts.exponent * kLn2Low + parts.log);
}

// Exact for powers of two.
inline double log2_of(double x) {
  if (!has_log_parts(x)) return std::log2(x);
  const LogParts parts = log_parts(x);
  return parts.exponent + parts.log * 1.4426950408889634;
}

// log(1 + x) for x > -1, with the digits of small x that 1 + x loses.
inline double log1p_of(double x) {
  const double sum = 1.0 + x;
  if (!has_log_parts(sum)) return std::log1p(x);
  return log_of(sum) + (x - (sum - 1.0)) / sum;
}

}  // namespace committee
