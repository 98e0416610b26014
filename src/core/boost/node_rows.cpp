#include "boost/node_rows.hpp"

#include <cstring>
#include <numeric>

#include "base/thread_pool.hpp"

namespace committee {
namespace {

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

// A pointer is chosen, for a branch would be mispredicted half of the time. Writing to both sides
// would be as fast on one thread, but chunks that send few rows to a side would take the same cache
// line from each other.
template <typename Source>
void move_chunk(const Source source, Range chunk, const std::uint8_t* goes_left, RowEntry* left,
                RowEntry* right) {
  for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
    const std::size_t side = goes_left[i];
    RowEntry* const place = side != 0 ? left : right;
    const RowEntry entry = source.entry(i);
    std::memcpy(place, &entry, sizeof(entry));
    left += side;
    right += 1 - side;
  }
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
  constexpr std::size_t kMinRows = 4096;
  const std::size_t n_chunks = chunk_count(node.size(), kMinRows, n_threads);
  std::vector<std::size_t> n_left(n_chunks);
  parallel_parts(n_chunks, n_threads, [&](std::size_t chunk) {
    n_left[chunk] = mark_chunk(source, chunk_range(node.size(), n_chunks, chunk), codes,
                               sides.data(), goes_left_.data());
  });
  const std::size_t all_left = std::accumulate(n_left.begin(), n_left.end(), std::size_t{0});
  RowEntry* const target = buffers_[after(node.place) == NodeRange::Place::kFirst ? 0 : 1].data();
  parallel_parts(n_chunks, n_threads, [&](std::size_t chunk) {
    const Range range = chunk_range(node.size(), n_chunks, chunk);
    const auto until = n_left.begin() + static_cast<std::ptrdiff_t>(chunk);
    const std::size_t before = std::accumulate(n_left.begin(), until, std::size_t{0});
    RowEntry* const left = target + node.begin + before;
    RowEntry* const right = target + node.begin + all_left + (range.begin - before);
    move_chunk(source, range, goes_left_.data(), left, right);
  });
  return all_left;
}

}  // namespace committee
