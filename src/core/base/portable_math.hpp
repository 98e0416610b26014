// Logarithms that are the same on every processor.
//
// C libraries have versions with and without fused multiply-add, which differ in last bits, and
// take the one that suits the processor. Here are sums and products in a fixed order, with errors
// of about two units in the last place. Of vectors see vector_math.hpp.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace committee {

// The numbers m from 0.6875 to 1.375 are cut into 128 spans by their leading bits. Each has a
// number c in its middle; next to one it is one itself, so that logarithms close to zero keep their
// digits.
struct LogTable {
  static constexpr std::size_t kSize = 128;
  static constexpr int kSpanBits = 52 - 7;
  static constexpr std::uint64_t kLeast = std::bit_cast<std::uint64_t>(0.6875);
  // log(c) of each.
  static constexpr std::array<double, kSize> kLogs{-0.37185656810621104,
                                                   -0.366206835564092,
                                                   -0.36058884325986873,
                                                   -0.3550022365512289,
                                                   -0.3494466667066269,
                                                   -0.343921790774657,
                                                   -0.3384272714570163,
                                                   -0.33296277698493754,
                                                   -0.3275279809989806,
                                                   -0.32212256243207266,
                                                   -0.31674620539569226,
                                                   -0.31139859906909695,
                                                   -0.30607943759149703,
                                                   -0.30078841995708144,
                                                   -0.2955252499128068,
                                                   -0.2902896358588618,
                                                   -0.28508129075172356,
                                                   -0.27989993200972596,
                                                   -0.27474528142106147,
                                                   -0.269617065054142,
                                                   -0.26451501317024656,
                                                   -0.2594388601383859,
                                                   -0.2543883443523174,
                                                   -0.24936320814964433,
                                                   -0.2443631977329386,
                                                   -0.23938806309282482,
                                                   -0.23443755793296864,
                                                   -0.2295114395969128,
                                                   -0.22460946899670603,
                                                   -0.21973141054327316,
                                                   -0.21487703207847503,
                                                   -0.21004610480880948,
                                                   -0.20523840324070633,
                                                   -0.20045370511737004,
                                                   -0.19569179135712636,
                                                   -0.1909524459932298,
                                                   -0.18623545611509096,
                                                   -0.18154061181088324,
                                                   -0.1768677061114908,
                                                   -0.17221653493576,
                                                   -0.16758689703701793,
                                                   -0.1629785939508237,
                                                   -0.15839142994391764,
                                                   -0.15382521196433643,
                                                   -0.1492797495926618,
                                                   -0.14475485499437216,
                                                   -0.14025034287326757,
                                                   -0.13576603042593896,
                                                   -0.1313017372972535,
                                                   -0.12685728553682943,
                                                   -0.12243249955647377,
                                                   -0.11802720608855737,
                                                   -0.11364123414530308,
                                                   -0.10927441497896263,
                                                   -0.10492658204285926,
                                                   -0.10059757095327371,
                                                   -0.09628721945215148,
                                                   -0.09199536737061047,
                                                   -0.08772185659322843,
                                                   -0.08346653102309004,
                                                   -0.07922923654757481,
                                                   -0.07500982100486657,
                                                   -0.07080813415116657,
                                                   -0.06662402762859256,
                                                   -0.06245735493374661,
                                                   -0.058307971386935095,
                                                   -0.054175734102024586,
                                                   -0.050060501956918,
                                                   -0.045962135564635756,
                                                   -0.04188049724498721,
                                                   -0.03781545099681768,
                                                   -0.033766862470817484,
                                                   -0.029734598942879057,
                                                   -0.02571852928798912,
                                                   -0.021718523954642986,
                                                   -0.01773445493976858,
                                                   -0.013766195764147959,
                                                   -0.009813621448324622,
                                                   -0.005876608488985042,
                                                   0.0,
                                                   0.0,
                                                   0.011650617219975274,
                                                   0.019342962843130935,
                                                   0.026976587698202076,
                                                   0.034552381506659735,
                                                   0.04207121392068706,
                                                   0.04953393512227663,
                                                   0.056941376400138424,
                                                   0.06429435070539725,
                                                   0.07159365318700882,
                                                   0.07884006170777602,
                                                   0.08603433734180316,
                                                   0.0931772248541833,
                                                   0.10026945316367515,
                                                   0.10731173578908805,
                                                   0.11430477128005863,
                                                   0.12124924363286968,
                                                   0.12814582269193003,
                                                   0.13499516453750482,
                                                   0.14179791186025734,
                                                   0.14855469432313714,
                                                   0.15526612891112396,
                                                   0.16193282026931324,
                                                   0.16855536102980667,
                                                   0.17513433212784915,
                                                   0.18167030310763468,
                                                   0.188163832418183,
                                                   0.19461546769967167,
                                                   0.20102574606059073,
                                                   0.2073951943460706,
                                                   0.21372432939771813,
                                                   0.2200136583052821,
                                                   0.22626367865045338,
                                                   0.23247487874309405,
                                                   0.238647737850175,
                                                   0.24478272641769092,
                                                   0.25088030628580943,
                                                   0.2569409308975004,
                                                   0.26296504550088134,
                                                   0.26895308734550394,
                                                   0.2749054858727992,
                                                   0.2808226629008878,
                                                   0.2867050328039543,
                                                   0.29255300268637746,
                                                   0.2983669725517973,
                                                   0.3041473354672967,
                                                   0.3098944777228647,
                                                   0.31560877898630335};

  struct Span {
    double c = 1.0;
    double inverse = 1.0;
    double log = 0.0;
  };
  static constexpr std::array<Span, kSize> make_spans() {
    constexpr std::uint64_t kOne = std::bit_cast<std::uint64_t>(1.0);
    std::array<Span, kSize> spans;
    for (std::size_t i = 0; i < kSize; ++i) {
      const std::uint64_t first = kLeast + (std::uint64_t{i} << kSpanBits);
      const std::uint64_t end = first + (std::uint64_t{1} << kSpanBits);
      if (first == kOne || end == kOne) continue;
      const auto c = std::bit_cast<double>(first + (end - first) / 2);
      spans[i] = {c, 1.0 / c, kLogs[i]};
    }
    return spans;
  }
};
inline constexpr std::array<LogTable::Span, LogTable::kSize> kLogSpans = LogTable::make_spans();

// x = 2^exponent m, and log(m).
struct LogParts {
  double exponent = 0.0;
  double log = 0.0;
};

// Of a number that is positive and finite. With r = m / c - 1, log(m) = log(c) + log(1 + r), and
// |r| is below 1/127: eight terms of the series are enough.
inline LogParts log_parts(double x) {
  constexpr std::uint64_t kExponentBits = std::uint64_t{0xFFF} << 52;
  double exponent = 0.0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    exponent = -54.0;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t above = bits - LogTable::kLeast;
  exponent += static_cast<double>(static_cast<std::int64_t>(above) >> 52);
  const auto m = std::bit_cast<double>(bits - (above & kExponentBits));
  const LogTable::Span& span = kLogSpans[(above >> LogTable::kSpanBits) % LogTable::kSize];
  const double r = (m - span.c) * span.inverse;
  const double square = r * r;
  const double low = (-1.0 / 2.0 + r * (1.0 / 3.0)) + square * (-1.0 / 4.0 + r * (1.0 / 5.0));
  const double high = -1.0 / 6.0 + r * (1.0 / 7.0) + square * (-1.0 / 8.0);
  return {exponent, span.log + (r + square * (low + square * square * high))};
}

// Neither infinite nor a logarithm of nothing.
inline bool has_log_parts(double x) { return x > 0.0 && x <= std::numeric_limits<double>::max(); }

inline double log_of(double x) {
  if (!has_log_parts(x)) return std::log(x);
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
