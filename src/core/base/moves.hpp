// Puts what is known of rows in another order, array by array.
//
//   items          a b c d e f
//   Division       1 0 1 1 0 0   rows that go left come first: a c d b e f
//   Permutation    5 0 2 1 4 3   f a c b e d
//
// Arrays hold items of any size; an item of a size that the compiler knows goes through registers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace committee {

// Two sides, each in the order of before: 1 for the rows that go left, from row `begin` on.
struct Division {
  std::size_t begin = 0;
  std::span<const std::uint8_t> goes_left;
};

// Any order: the positions of the rows from row `begin` on, counted from there.
struct Permutation {
  std::size_t begin = 0;
  std::span<const std::uint32_t> order;
};

// Copies an item to both places: one of them is overwritten by the next item. A branch would be
// mispredicted half of the time.
template <std::size_t kSize>
void copy_twice(const std::byte* item, std::size_t size, std::byte* left, std::byte* right) {
  if constexpr (kSize == 0) {
    std::memcpy(right, item, size);
    std::memmove(left, item, size);
  } else {
    std::array<std::byte, kSize> copy;
    std::memcpy(copy.data(), item, kSize);
    std::memcpy(left, copy.data(), kSize);
    std::memcpy(right, copy.data(), kSize);
  }
}

// Divides `n_items` items of `kSize` bytes, or of `size` bytes where kSize is 0; goes_left(i, item)
// says 1 or 0. Returns the number on the left.
template <std::size_t kSize, typename GoesLeft>
std::size_t divide_bytes(std::byte* first, std::size_t size, std::size_t n_items,
                         std::vector<std::byte>& scratch, GoesLeft&& goes_left) {
  const std::size_t step = kSize == 0 ? size : kSize;
  if (scratch.size() < n_items * step) scratch.resize(n_items * step);
  std::byte* left = first;
  std::byte* right = scratch.data();
  for (std::size_t i = 0; i < n_items; ++i) {
    const std::byte* const item = first + i * step;
    const std::size_t is_left = goes_left(i, item);
    copy_twice<kSize>(item, step, left, right);
    left += is_left * step;
    right += (1 - is_left) * step;
  }
  std::memcpy(left, scratch.data(), static_cast<std::size_t>(right - scratch.data()));
  return static_cast<std::size_t>(left - first) / step;
}

// Single numbers, many at a time where the processor can.
void divide_numbers(std::uint32_t* items, const std::uint8_t* goes_left, std::size_t n_items,
                    std::vector<std::byte>& scratch);
void divide_numbers(std::uint64_t* items, const std::uint8_t* goes_left, std::size_t n_items,
                    std::vector<std::byte>& scratch);

template <std::size_t kSize>
void move_bytes(std::byte* items, std::size_t size, const Division& moves,
                std::vector<std::byte>& scratch) {
  const std::uint8_t* const goes_left = moves.goes_left.data();
  divide_bytes<kSize>(items + moves.begin * size, size, moves.goes_left.size(), scratch,
                      [=](std::size_t i, const std::byte*) { return std::size_t{goes_left[i]}; });
}

template <std::size_t kSize>
void move_bytes(std::byte* items, std::size_t size, const Permutation& moves,
                std::vector<std::byte>& scratch) {
  const std::size_t step = kSize == 0 ? size : kSize;
  if (scratch.size() < moves.order.size() * step) scratch.resize(moves.order.size() * step);
  std::byte* const first = items + moves.begin * step;
  std::byte* out = scratch.data();
  for (const std::uint32_t item : moves.order) {
    std::memcpy(out, first + item * step, step);
    out += step;
  }
  std::memcpy(first, scratch.data(), moves.order.size() * step);
}

template <typename T>
constexpr bool is_plain_number =
    std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>;

// Items are `width` numbers; an empty array stays empty.
template <typename T, typename Moves>
void move_items(std::vector<T>& items, std::size_t width, const Moves& moves,
                std::vector<std::byte>& scratch) {
  if (items.empty()) return;
  if constexpr (std::is_same_v<Moves, Division> && is_plain_number<T>) {
    if (width == 1) {
      return divide_numbers(items.data() + moves.begin, moves.goes_left.data(),
                            moves.goes_left.size(), scratch);
    }
  }
  auto* bytes = reinterpret_cast<std::byte*>(items.data());
  switch (width) {
    case 1:
      return move_bytes<sizeof(T)>(bytes, sizeof(T), moves, scratch);
    case 2:
      return move_bytes<2 * sizeof(T)>(bytes, 2 * sizeof(T), moves, scratch);
    default:
      return move_bytes<0>(bytes, width * sizeof(T), moves, scratch);
  }
}

}  // namespace committee
