#include "node_rows.hpp"

#include <numeric>

#include "thread_pool.hpp"

namespace committee {
namespace {

// Where a chunk of a node puts its entries.
struct Sides {
  RowEntry* left = nullptr;
  RowEntry* left_end = nullptr;
  RowEntry* right = nullptr;
  RowEntry* right_end = nullptr;
};

// What a node's places hold: entries, or rows of the table.
struct TableRows {
  const std::int64_t* packed;
  const std::uint32_t* counts;  // null: one each
  std::size_t row(std::size_t i) const { return i; }
  RowEntry entry(std::size_t i) const {
    return {packed[i], static_cast<std::uint32_t>(i), counts == nullptr ? 1U : counts[i]};
  }
};
struct Entries {
  const RowEntry* entries;
  std::size_t row(std::size_t i) const { return entries[i].row; }
  RowEntry entry(std::size_t i) const { return entries[i]; }
};

// Notes the side of each row of a chunk; returns how many are on the left.
template <typename Source>
std::size_t mark_chunk(const Source source, Range chunk, const std::uint8_t* codes,
                       const std::uint8_t* sides, std::uint8_t* __restrict goes_left) {
  std::size_t n_left = 0;
  for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
    const std::uint8_t side = sides[codes[source.row(i)]];
    goes_left[i] = side;
    n_left += side;
  }
  return n_left;
}

template <typename Source>
void move_chunk(const Source source, Range chunk, const std::uint8_t* goes_left, Sides to) {
  RowEntry* left = to.left;
  RowEntry* right = to.right;
  std::size_t i = chunk.begin;
  // Both writes happen, one counts: a branch would be mispredicted half of the time. Each side has
  // room for one more, so that nothing of another chunk is overwritten.
  while (left != to.left_end && right != to.right_end) {
    const std::size_t side = goes_left[i];
    const RowEntry entry = source.entry(i++);
    *left = entry;
    *right = entry;
    left += side;
    right += 1 - side;
  }
  RowEntry* rest = left != to.left_end ? left : right;
  for (; i < chunk.end; ++i) *rest++ = source.entry(i);
}

}  // namespace

NodeRange NodeRows::start(std::span<const std::int64_t> packed,
                          std::span<const std::uint32_t> counts,
                          std::span<const std::uint8_t> used) {
  packed_ = packed;
  counts_ = counts;
  goes_left_.resize(packed.size());
  for (Buffer& each : buffers_) each.resize(packed.size());
  if (used.empty()) return {0, packed.size(), NodeRange::Place::kTable};
  std::size_t n_used = 0;
  for (std::size_t row = 0; row < packed.size(); ++row) {
    const std::uint32_t count = counts.empty() ? 1U : counts[row];
    buffers_[0][n_used] = {packed[row], static_cast<std::uint32_t>(row), count};
    n_used += used[row];
  }
  return {0, n_used, NodeRange::Place::kFirst};
}

std::size_t NodeRows::divide(const NodeRange& node, const std::uint8_t* codes,
                             const SideOfCode& sides, std::size_t n_threads) {
  if (node.place == NodeRange::Place::kTable) {
    const std::uint32_t* const counts = counts_.empty() ? nullptr : counts_.data();
    return divide_from(TableRows{packed_.data(), counts}, node, codes, sides, n_threads);
  }
  return divide_from(Entries{entries(node).data()}, node, codes, sides, n_threads);
}

// First the sides of all rows, then everyone knows where to write.
template <typename Source>
std::size_t NodeRows::divide_from(const Source& source, const NodeRange& node,
                                  const std::uint8_t* codes, const SideOfCode& sides,
                                  std::size_t n_threads) {
  constexpr std::size_t kMinRows = 16384;
  const std::size_t n_chunks = chunk_count(node.size(), kMinRows, n_threads);
  std::vector<std::size_t> n_left(n_chunks);
  parallel_for(n_chunks, n_threads, [&](std::size_t chunk) {
    n_left[chunk] = mark_chunk(source, chunk_range(node.size(), n_chunks, chunk), codes,
                               sides.data(), goes_left_.data());
  });
  const std::size_t all_left = std::accumulate(n_left.begin(), n_left.end(), std::size_t{0});
  RowEntry* const target = buffers_[after(node.place) == NodeRange::Place::kFirst ? 0 : 1].data();
  parallel_for(n_chunks, n_threads, [&](std::size_t chunk) {
    const Range range = chunk_range(node.size(), n_chunks, chunk);
    const auto until = n_left.begin() + static_cast<std::ptrdiff_t>(chunk);
    const std::size_t before = std::accumulate(n_left.begin(), until, std::size_t{0});
    Sides to;
    to.left = target + node.begin + before;
    to.left_end = to.left + n_left[chunk];
    to.right = target + node.begin + all_left + (range.begin - before);
    to.right_end = to.right + (range.end - range.begin - n_left[chunk]);
    move_chunk(source, range, goes_left_.data(), to);
  });
  return all_left;
}

}  // namespace committee
