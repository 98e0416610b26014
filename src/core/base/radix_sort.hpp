// Sorting by integer keys, and the order-preserving map from numbers to such keys.
//
// Least-significant-digit radix sort with 11-bit digits. Digits that are the same in all keys are
// skipped, so small integers and floats stored as doubles need only a few passes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace committee {

// a < b exactly when sort_key(a) < sort_key(b); both zeros share a key. NaN has no key.
inline std::uint64_t sort_key(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0.0 becomes 0.0
  return (bits >> 63) != 0 ? ~bits : bits | (1ULL << 63);
}

inline std::uint32_t sort_key(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  return (bits >> 31) != 0 ? ~bits : bits | (1U << 31);
}

inline std::uint64_t sort_key(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ (1ULL << 63);
}

inline double real_of_key(std::uint64_t key) {
  return std::bit_cast<double>((key >> 63) != 0 ? key ^ (1ULL << 63) : ~key);
}

inline double real_of_key(std::uint32_t key) {
  return static_cast<double>(std::bit_cast<float>((key >> 31) != 0 ? key ^ (1U << 31) : ~key));
}

inline std::int64_t integer_of_key(std::uint64_t key) {
  return static_cast<std::int64_t>(key ^ (1ULL << 63));
}

// A key with the row it came from.
template <typename Key>
struct KeyedRow {
  Key key;
  std::uint32_t row;
};

template <typename Key>
Key key_of(const KeyedRow<Key>& item) {
  return item.key;
}

// Sorts `items` by key, keeping the order of equal keys. `scratch` is resized as needed.
template <typename Item>
void radix_sort(std::vector<Item>& items, std::vector<Item>& scratch) {
  using Key = decltype(key_of(Item{}));
  constexpr int kDigitBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kDigitBits;
  constexpr int kDigits = (static_cast<int>(sizeof(Key)) * 8 + kDigitBits - 1) / kDigitBits;

  if (items.size() < 1024) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return key_of(a) < key_of(b); });
    return;
  }
  std::vector<std::array<std::uint32_t, kBuckets>> counts(kDigits);
  for (const Item& item : items) {
    Key key = key_of(item);
    for (int digit = 0; digit < kDigits; ++digit) {
      ++counts[static_cast<std::size_t>(digit)][static_cast<std::size_t>(key) & (kBuckets - 1)];
      key = static_cast<Key>(key >> kDigitBits);
    }
  }
  scratch.resize(items.size());
  for (int digit = 0; digit < kDigits; ++digit) {
    auto& count = counts[static_cast<std::size_t>(digit)];
    if (std::find(count.begin(), count.end(), items.size()) != count.end()) continue;
    std::uint32_t offset = 0;
    for (std::uint32_t& n : count) offset += std::exchange(n, offset);
    for (const Item& item : items) {
      const auto bucket =
          static_cast<std::size_t>(key_of(item) >> (digit * kDigitBits)) & (kBuckets - 1);
      scratch[count[bucket]++] = item;
    }
    items.swap(scratch);
  }
}

}  // namespace committee
