#include "score/block.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "base/scratch_pool.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

void make_row_statistics(const FitData& data, Block& block) {
  block.statistics = make_statistics(data.target, data.entries, block.entries, data.statistics);
}

void fill_rows(const FitData& data, Block& block) {
  block.has_categories =
      std::any_of(block.varying.begin(), block.varying.end(), [&](std::uint32_t feature) {
        return data.dataset->feature(feature).kind == FeatureKind::kCategory;
      });
  block.rows.resize(block.n_rows());
  std::iota(block.rows.begin(), block.rows.end(), 0U);
  block.n_counted = static_cast<std::int64_t>(block.n_rows());
  if (!data.entries.repetitions.empty()) {
    block.n_counted = 0;
    for (const std::uint32_t entry : block.entries) {
      block.n_counted += data.entries.repetitions[entry];
    }
  }
}

// Renumbers the codes of the given rows without gaps and writes them to `out`, which is large
// enough. `new_code` is scratch.
template <typename Code>
CodeColumn renumber(const CodeColumn& column, const Code* codes,
                    std::span<const std::uint32_t> rows, std::vector<std::uint32_t>& new_code,
                    std::byte* out) {
  new_code.assign(column.n_codes(), 0);
  for (const std::uint32_t row : rows) new_code[codes[row]] = 1;
  CodeColumn result;
  result.has_missing = column.has_missing && new_code[column.missing_code()] != 0;
  for (std::uint32_t code = 0; code < column.n_values; ++code) {
    const std::uint32_t is_present = new_code[code];
    new_code[code] = result.n_values;
    result.n_values += is_present;
  }
  if (column.has_missing) new_code[column.missing_code()] = result.n_values;
  if (result.n_codes() < 2) return result;

  result.width = code_width(result.n_codes());
  result.codes = out;
  const auto write = [&](auto* typed_out) {
    using Out = std::remove_pointer_t<decltype(typed_out)>;
    const std::uint32_t* const map = new_code.data();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      typed_out[i] = static_cast<Out>(map[codes[rows[i]]]);
    }
  };
  if (result.width == 1) {
    write(reinterpret_cast<std::uint8_t*>(out));
  } else if (result.width == 2) {
    write(reinterpret_cast<std::uint16_t*>(out));
  } else {
    write(reinterpret_cast<std::uint32_t*>(out));
  }
  return result;
}

// Copies the codes of `rows` of the varying columns, renumbered.
void copy_columns(Block& block, std::span<const CodeColumn> columns,
                  std::span<const std::uint32_t> varying, std::span<const std::uint32_t> rows,
                  std::size_t n_threads) {
  // Room for as many codes as there can be, aligned to the widest.
  std::vector<std::size_t> begins{0};
  for (const std::uint32_t feature : varying) {
    const std::size_t most_codes = std::min<std::size_t>(columns[feature].n_codes(), rows.size());
    begins.push_back((begins.back() + rows.size() * code_width(most_codes) + 3) / 4 * 4);
  }
  block.storage = std::make_unique_for_overwrite<std::byte[]>(begins.back());
  block.columns.resize(columns.size());
  ScratchPool<std::vector<std::uint32_t>> pool;
  const auto copy = [&](std::size_t i) {
    const CodeColumn& column = columns[varying[i]];
    pool.lend([&](std::vector<std::uint32_t>& new_code) {
      block.columns[varying[i]] = visit_codes(column, [&](const auto* codes) {
        return renumber(column, codes, rows, new_code, block.storage.get() + begins[i]);
      });
    });
  };
  constexpr std::size_t kParallelCells = std::size_t{1} << 17;
  const bool is_large = rows.size() * varying.size() >= kParallelCells;
  parallel_for(varying.size(), is_large ? n_threads : 1, copy);
  for (const std::uint32_t feature : varying) {
    if (block.columns[feature].n_codes() >= 2) block.varying.push_back(feature);
  }
}

// Lets the columns of a block look into its records.
void set_record_columns(Block& block, std::span<const CodeColumn> columns,
                        std::span<const std::uint32_t> varying) {
  block.columns.assign(columns.begin(), columns.end());
  block.varying.assign(varying.begin(), varying.end());
  for (std::size_t feature = 0; feature < columns.size(); ++feature) {
    block.columns[feature].width = 1;
    block.columns[feature].stride = static_cast<std::uint32_t>(block.record_stride);
    block.columns[feature].codes = block.records.get() + feature;
  }
}

// Copies the records of some rows.
void copy_records(Block& block, const std::uint8_t* source, std::size_t stride,
                  std::span<const std::uint32_t> rows) {
  block.record_stride = stride;
  block.records = std::make_unique_for_overwrite<std::uint8_t[]>(rows.size() * stride);
  std::uint8_t* out = block.records.get();
  for (const std::uint32_t row : rows) {
    std::memcpy(out, source + std::size_t{row} * stride, stride);
    out += stride;
  }
}

}  // namespace

bool fits_records(const BinnedDataset& dataset) {
  for (std::size_t feature = 0; feature < dataset.n_features(); ++feature) {
    if (dataset.feature(feature).column.width != 1) return false;
  }
  return true;
}

RecordMatrix make_records(const BinnedDataset& dataset, std::size_t n_threads) {
  std::vector<const std::uint8_t*> columns;
  for (std::size_t feature = 0; feature < dataset.n_features(); ++feature) {
    columns.push_back(static_cast<const std::uint8_t*>(dataset.feature(feature).column.codes));
  }
  return make_records(columns, dataset.n_rows(), (columns.size() + 15) / 16 * 16, n_threads);
}

RecordMatrix make_records(std::span<const std::uint8_t* const> columns, std::size_t n_rows,
                          std::size_t stride, std::size_t n_threads) {
  RecordMatrix matrix;
  matrix.stride = stride;
  matrix.codes.resize(n_rows * stride);
  constexpr std::size_t kMinRows = 4096;
  const std::size_t n_chunks = chunk_count(n_rows, kMinRows, n_threads);
  parallel_parts(n_chunks, n_threads, [&](std::size_t chunk) {
    const Range all = chunk_range(n_rows, n_chunks, chunk);
    constexpr std::size_t kTile = 1024;  // its records stay in the cache while columns are added
    for (std::size_t begin = all.begin; begin < all.end; begin += kTile) {
      const std::size_t end = std::min(begin + kTile, all.end);
      std::fill(matrix.codes.data() + begin * stride, matrix.codes.data() + end * stride,
                std::uint8_t{0});
      for (std::size_t i = 0; i < columns.size(); ++i) {
        std::uint8_t* out = matrix.codes.data() + begin * stride + i;
        for (std::size_t row = begin; row < end; ++row, out += stride) *out = columns[i][row];
      }
    }
  });
  return matrix;
}

std::shared_ptr<Block> make_root_block(const FitData& data) {
  auto block = std::make_shared<Block>();
  block->entries.resize(data.entries.size());
  std::iota(block->entries.begin(), block->entries.end(), 0U);
  std::vector<CodeColumn> columns;
  std::vector<std::uint32_t> varying;
  for (std::size_t feature = 0; feature < data.dataset->n_features(); ++feature) {
    columns.push_back(data.dataset->feature(feature).column);
    if (columns.back().n_codes() >= 2) varying.push_back(static_cast<std::uint32_t>(feature));
  }
  const bool has_all_rows = data.entries.size() == data.dataset->n_rows();
  if (data.records != nullptr) {
    copy_records(*block, data.records->codes.data(), data.records->stride, data.entries.rows);
    set_record_columns(*block, columns, varying);
  } else if (has_all_rows) {
    block->columns = std::move(columns);
    block->varying = std::move(varying);
  } else {
    copy_columns(*block, columns, varying, data.entries.rows, 1);
  }
  make_row_statistics(data, *block);
  fill_rows(data, *block);
  return block;
}

std::shared_ptr<Block> make_block(const FitData& data, const Block& parent,
                                  std::span<const std::uint32_t> parent_rows,
                                  std::size_t n_threads) {
  auto block = std::make_shared<Block>();
  block->entries.reserve(parent_rows.size());
  for (const std::uint32_t row : parent_rows) block->entries.push_back(parent.entries[row]);
  if (parent.has_records()) {
    copy_records(*block, parent.records.get(), parent.record_stride, parent_rows);
    set_record_columns(*block, parent.columns, parent.varying);
  } else {
    copy_columns(*block, parent.columns, parent.varying, parent_rows, n_threads);
  }
  if (!take_statistics(parent.statistics, parent_rows, block->statistics)) {
    make_row_statistics(data, *block);
  }
  fill_rows(data, *block);
  return block;
}

}  // namespace committee
