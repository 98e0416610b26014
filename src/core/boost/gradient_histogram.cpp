#include "boost/gradient_histogram.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/simd.hpp"
#include "base/thread_pool.hpp"
#include "boost/sparse_bundles.hpp"

namespace committee {
namespace {

constexpr std::size_t kGroup = 32;     // bytes that one pass adds
constexpr std::size_t kPrefetch = 12;  // rows ahead

// ---- bytes ----

// Features with at most so many codes share bytes.
constexpr std::uint32_t kFewCodes = 16;

// Gives each feature that varies a place in the records, those of few codes together.
std::vector<RecordPlace> place_features(std::span<const CodeColumn> columns, std::size_t& n_bytes) {
  constexpr std::uint32_t kByteCodes = 256;
  std::vector<RecordPlace> places(columns.size());
  std::vector<std::uint32_t> few;
  n_bytes = 0;
  for (std::uint32_t feature = 0; feature < columns.size(); ++feature) {
    const std::uint32_t n_codes = columns[feature].n_codes();
    if (n_codes < 2 || columns[feature].width != 1 || columns[feature].sparse != nullptr) continue;
    places[feature].n_codes = n_codes;
    if (n_codes <= kFewCodes) {
      few.push_back(feature);
    } else {
      places[feature].byte = static_cast<std::uint32_t>(n_bytes++);
      places[feature].n_joint = n_codes;
    }
  }
  std::stable_sort(few.begin(), few.end(), [&](std::uint32_t a, std::uint32_t b) {
    return places[a].n_codes < places[b].n_codes;
  });
  for (std::size_t first = 0; first < few.size();) {
    std::uint32_t n_joint = 1;
    std::size_t last = first;
    for (; last < few.size() && n_joint * places[few[last]].n_codes <= kByteCodes; ++last) {
      places[few[last]].byte = static_cast<std::uint32_t>(n_bytes);
      places[few[last]].divisor = n_joint;
      n_joint *= places[few[last]].n_codes;
    }
    for (; first < last; ++first) places[few[first]].n_joint = n_joint;
    ++n_bytes;
  }
  return places;
}

// The bytes of records, column by column: codes as they are, or digits put together.
class RecordBytes {
 public:
  RecordBytes(std::span<const CodeColumn> columns, const std::vector<RecordPlace>& places,
              std::size_t n_bytes, std::size_t n_rows)
      : bytes(n_bytes, nullptr) {
    for (std::size_t feature = 0; feature < places.size(); ++feature) {
      const RecordPlace& place = places[feature];
      if (place.n_codes == 0 || place.first != 0) continue;
      const auto* const codes = static_cast<const std::uint8_t*>(columns[feature].codes);
      if (place.is_alone()) {
        bytes[place.byte] = codes;
        continue;
      }
      std::vector<std::uint8_t>& joint = joint_of(place.byte, n_rows);
      const auto divisor = static_cast<std::uint8_t>(place.divisor);
      for (std::size_t row = 0; row < n_rows; ++row) {
        joint[row] = static_cast<std::uint8_t>(joint[row] + codes[row] * divisor);
      }
    }
  }

  std::vector<const std::uint8_t*> bytes;

 private:
  std::vector<std::uint8_t>& joint_of(std::size_t byte, std::size_t n_rows) {
    for (std::vector<std::uint8_t>& joint : joint_) {
      if (joint.data() == bytes[byte]) return joint;
    }
    joint_.emplace_back(n_rows, std::uint8_t{0});
    bytes[byte] = joint_.back().data();
    return joint_.back();
  }

  std::vector<std::vector<std::uint8_t>> joint_;
};

// ---- adding ----

// Eight bytes are read at once, for reading and writing memory is what this costs. Written out for
// each byte: compilers do not unroll so long a loop.
constexpr std::size_t kWord = 8;

template <std::size_t kFirst, std::size_t... kBytes>
COMMITTEE_INLINE void add_word(std::uint64_t word, std::int64_t value, std::int64_t* tables,
                               std::index_sequence<kBytes...>) {
  ((tables[(kFirst + kBytes) * kGradientCells + (word >> (8 * kBytes) & 0xFF)] += value), ...);
}

template <std::size_t kBytes, std::size_t kFirst = 0>
COMMITTEE_INLINE void add_record(const std::uint8_t* record, std::int64_t value,
                                 std::int64_t* tables) {
  constexpr std::size_t kHere = std::min(kWord, kBytes - kFirst);
  std::uint64_t word;
  std::memcpy(&word, record + kFirst, sizeof(word));
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  add_word<kFirst>(word, value, tables, std::make_index_sequence<kHere>());
  if constexpr (kFirst + kWord < kBytes) {
    add_record<kBytes, kFirst + kWord>(record, value, tables);
  }
}

// What is added: entries, or rows of the table where there are none.
struct Addends {
  const std::int64_t* packed = nullptr;
  const RowEntry* entries = nullptr;
  Range range;
};

template <std::size_t kBytes>
void add_group(const RecordMatrix& records, const Addends& from, std::int64_t* tables) {
  const std::uint8_t* const codes = records.codes.data();
  const std::size_t stride = records.stride;
  std::size_t i = from.range.begin;
  const std::size_t end = from.range.end;
  if (from.entries == nullptr) {
    for (; i < end; ++i) add_record<kBytes>(codes + i * stride, from.packed[i], tables);
    return;
  }
  const RowEntry* const entries = from.entries;
  const std::size_t n_ahead = end > i + kPrefetch ? end - kPrefetch : i;
  for (; i < n_ahead; ++i) {
    __builtin_prefetch(codes + entries[i + kPrefetch].row * stride);
    add_record<kBytes>(codes + entries[i].row * stride, entries[i].packed, tables);
  }
  for (; i < end; ++i) {
    add_record<kBytes>(codes + entries[i].row * stride, entries[i].packed, tables);
  }
}

using AddGroup = void (*)(const RecordMatrix&, const Addends&, std::int64_t*);

template <std::size_t... kWidths>
constexpr std::array<AddGroup, sizeof...(kWidths)> group_functions(
    std::index_sequence<kWidths...>) {
  return {&add_group<kWidths + 1>...};
}

void add_rows(const RecordGroups& records, std::size_t group, const Addends& from, Monitor& monitor,
              std::int64_t* tables) {
  // A group of so many rows takes some milliseconds, and a table may have many groups.
  constexpr std::size_t kUncheckedRows = std::size_t{1} << 18;
  static constexpr auto kFunctions = group_functions(std::make_index_sequence<kGroup>());
  const std::size_t first = group * records.width;
  const std::size_t width = std::min(records.width, records.n_bytes - first);
  Addends piece = from;
  for (std::size_t begin = from.range.begin; begin < from.range.end; begin = piece.range.end) {
    monitor.check();
    piece.range = {begin, std::min(begin + kUncheckedRows, from.range.end)};
    kFunctions[width - 1](records.groups[group], piece, tables + first * kGradientCells);
  }
}

}  // namespace

RecordGroups make_record_groups(std::span<const CodeColumn> columns, std::size_t n_rows,
                                std::size_t n_threads) {
  RecordGroups records;
  records.places = place_features(columns, records.n_bytes);
  const SparseBundles bundles(columns, n_rows);
  for (const BundledFeature& one : bundles.features()) {
    RecordPlace& place = records.places[one.feature];
    place.byte = static_cast<std::uint32_t>(records.n_bytes) + one.bundle;
    place.n_codes = columns[one.feature].n_codes();
    place.first = one.first;
    place.rest = columns[one.feature].sparse->rest;
  }
  RecordBytes source(columns, records.places, records.n_bytes, n_rows);
  for (const std::vector<std::uint8_t>& bytes : bundles.bytes()) {
    source.bytes.push_back(bytes.data());
  }
  records.n_bytes = source.bytes.size();
  if (records.n_bytes == 0) return records;
  const std::size_t n_groups = (records.n_bytes + kGroup - 1) / kGroup;
  records.width = (records.n_bytes + n_groups - 1) / n_groups;
  // A power of two: no record is in two cache lines. Whole words.
  const std::size_t stride = std::bit_ceil(std::max(records.width, kWord));
  for (std::size_t first = 0; first < records.n_bytes; first += records.width) {
    const std::size_t width = std::min(records.width, records.n_bytes - first);
    const std::span<const std::uint8_t* const> group(source.bytes.data() + first, width);
    records.groups.push_back(make_records(group, n_rows, stride, n_threads));
  }
  return records;
}

void build_histogram(const RecordGroups& records, std::span<const std::int64_t> packed,
                     std::span<const RowEntry> entries, const HistogramRun& run,
                     GradientHistogram& histogram, std::vector<GradientHistogram>& spare) {
  // Below so many additions a second thread, and a second table to add up, cost more than they
  // bring.
  constexpr std::size_t kMinAdditions = std::size_t{1} << 15;
  const std::size_t size = std::max<std::size_t>(records.n_bytes, 1) * kGradientCells;
  const std::size_t n_rows = entries.empty() ? packed.size() : entries.size();
  const std::size_t n_groups = records.groups.size();
  const std::size_t n_useful =
      std::clamp<std::size_t>(n_rows * records.n_bytes / kMinAdditions, 1, run.n_threads);
  // Groups have tables of their own; rows are shared out where there are too few groups.
  const std::size_t n_chunks = n_groups % n_useful == 0 ? 1 : n_useful;
  const auto table_of = [&](std::size_t chunk) -> GradientHistogram& {
    return chunk == 0 ? histogram : spare[chunk - 1];
  };
  if (spare.size() < n_chunks - 1) spare.resize(n_chunks - 1);
  for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) table_of(chunk).assign(size, 0);
  if (n_groups == 0) {
    for (const RowEntry& entry : entries) histogram[0] += entry.packed;
    if (entries.empty()) {
      for (const std::int64_t value : packed) histogram[0] += value;
    }
    return;
  }
  const auto add = [&](std::size_t task) {
    const std::size_t chunk = task / n_groups;
    const Addends from{packed.data(), entries.empty() ? nullptr : entries.data(),
                       chunk_range(n_rows, n_chunks, chunk)};
    add_rows(records, task % n_groups, from, run.monitor, table_of(chunk).data());
  };
  parallel_parts(n_groups * n_chunks, n_useful, add, &run.monitor);
  for (std::size_t chunk = 1; chunk < n_chunks; ++chunk) {
    const GradientHistogram& more = spare[chunk - 1];
    for (std::size_t i = 0; i < size; ++i) histogram[i] += more[i];
  }
}

void subtract_histogram(GradientHistogram& parent, const GradientHistogram& child) {
  const std::size_t size = parent.size();
  for (std::size_t i = 0; i < size; ++i) parent[i] -= child[i];
}

std::int64_t sum_of_rows(const GradientHistogram& histogram) {
  const auto begin = histogram.begin();
  return std::accumulate(begin, begin + std::ptrdiff_t{kGradientCells}, std::int64_t{0});
}

const std::int64_t* feature_cells(const RecordGroups& records, const GradientHistogram& histogram,
                                  std::size_t feature, std::int64_t total, std::int64_t* scratch) {
  const RecordPlace& place = records.places[feature];
  const std::int64_t* const cells = histogram.data() + place.byte * kGradientCells;
  if (place.is_alone()) return cells;
  if (place.first != 0) {
    const std::int64_t* own = cells + place.first;
    for (std::uint32_t code = 0; code < place.n_codes; ++code) {
      if (code == place.rest) continue;
      scratch[code] = *own++;
      total -= scratch[code];
    }
    scratch[place.rest] = total;
    return scratch;
  }
  std::fill_n(scratch, place.n_codes, std::int64_t{0});
  const std::uint32_t period = place.divisor * place.n_codes;
  for (std::uint32_t base = 0; base < place.n_joint; base += period) {
    const std::int64_t* digit = cells + base;
    for (std::uint32_t code = 0; code < place.n_codes; ++code, digit += place.divisor) {
      for (std::uint32_t i = 0; i < place.divisor; ++i) scratch[code] += digit[i];
    }
  }
  return scratch;
}

}  // namespace committee
