// The rows of the open nodes of a boosted tree.
//
// An entry is a row with its packed derivatives, so that the histogram pass over a node reads
// derivatives in order and only records at random. The entries of a node lie side by side; a split
// copies them to the other of two buffers, left child first, keeping their order:
//
//   node      [ 3 8 1 9 4 7 ]     in one buffer
//   children  [ 3 1 4 | 8 9 7 ]   the same places of the other
//
// The root of a tree that uses every row needs no entries: its rows are 0, 1, 2, ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"

namespace committee {

struct RowEntry {
  std::int64_t packed;
  std::uint32_t row;
  std::uint32_t count;  // how often it counts as a row
};

// Entries begin ... end - 1 of a buffer.
struct NodeRange {
  enum class Place : std::uint8_t { kTable, kFirst, kSecond };  // kTable: all rows, no entries
  std::size_t begin = 0;
  std::size_t end = 0;
  Place place = Place::kTable;

  std::size_t size() const { return end - begin; }
};

using SideOfCode = std::array<std::uint8_t, 256>;  // 1: left

class NodeRows {
 public:
  // The root of a tree. `used` has a 1 for each row that counts; empty: all do. `counts` may be
  // empty: one each. What is given must outlive the tree.
  NodeRange start(std::span<const std::int64_t> packed, std::span<const std::uint32_t> counts,
                  std::span<const std::uint8_t> used);

  // Sends each row to the side of its code; returns the number of entries on the left. The
  // children are the first and the last part of the same range in the buffer `after`.
  std::size_t divide(const NodeRange& node, const std::uint8_t* codes, const SideOfCode& sides,
                     std::size_t n_threads);
  static NodeRange::Place after(NodeRange::Place place) {
    return place == NodeRange::Place::kFirst ? NodeRange::Place::kSecond : NodeRange::Place::kFirst;
  }

  // Empty for a node without entries.
  std::span<const RowEntry> entries(const NodeRange& node) const {
    if (node.place == NodeRange::Place::kTable) return {};
    return std::span(buffer(node.place)).subspan(node.begin, node.size());
  }

  // Calls what(row, count) for each row, in order.
  template <typename What>
  void for_each(const NodeRange& node, const What& what) const {
    if (node.place == NodeRange::Place::kTable) {
      for (std::size_t row = node.begin; row < node.end; ++row) {
        what(row, counts_.empty() ? 1U : counts_[row]);
      }
    }
    for (const RowEntry& entry : entries(node)) what(std::size_t{entry.row}, entry.count);
  }

 private:
  using Buffer = AlignedVector<RowEntry>;
  const Buffer& buffer(NodeRange::Place place) const {
    return buffers_[place == NodeRange::Place::kFirst ? 0 : 1];
  }

  template <typename Source>
  std::size_t divide_from(const Source& source, const NodeRange& node, const std::uint8_t* codes,
                          const SideOfCode& sides, std::size_t n_threads);

  std::span<const std::int64_t> packed_;
  std::span<const std::uint32_t> counts_;
  std::array<Buffer, 2> buffers_;
  AlignedVector<std::uint8_t> goes_left_;  // of each place of a node that is divided
};

}  // namespace committee
