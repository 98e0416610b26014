// Random numbers that are a pure function of (key, counter).
//
// Each consumer (tree, node) derives a key of its own, so tree i does not depend on how many
// numbers tree j drew, nor on the order in which threads reach their nodes. The generator is
// SplitMix64 over a keyed counter.
#pragma once

#include <cstdint>

namespace committee {

// The finaliser of SplitMix64: a bijection that scatters neighbouring inputs.
constexpr std::uint64_t scatter(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// The key of child number `index` of `key`: tree i of a seed, child k of a node.
constexpr std::uint64_t derive_key(std::uint64_t key, std::uint64_t index) {
  return scatter(scatter(key) ^ (index * 0xD1342543DE82EF95ULL + 1));
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t key) : key_(key) {}

  constexpr void skip() { ++counter_; }  // a number that is not needed
  constexpr std::uint64_t next() { return scatter(key_ + 0x9E3779B97F4A7C15ULL * counter_++); }

  // Uniform in [0, bound), without bias (Lemire's multiply-and-reject).
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = (next() >> 32) * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t floor = (0U - bound) % bound;
      while (static_cast<std::uint32_t>(product) < floor) product = (next() >> 32) * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // Uniform in [0, 1) with 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace committee
