#include "data/binning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

namespace committee {
namespace {

struct WeightedKey {
  std::uint64_t key;
  std::uint64_t weight;
};

// Cuts ascending distinct keys into at most `max_bins` runs of about equal weight; returns the
// index of the last key of each run. What is left is shared anew among the bins that are left,
// so one heavy value takes one bin and not the room of its neighbours.
std::vector<std::size_t> cut_into_bins(std::span<const WeightedKey> keys, std::uint32_t max_bins) {
  std::vector<std::size_t> last_of_bin;
  if (keys.size() <= max_bins) {
    for (std::size_t i = 0; i < keys.size(); ++i) last_of_bin.push_back(i);
    return last_of_bin;
  }
  std::uint64_t remaining = 0;
  for (const WeightedKey& item : keys) remaining += item.weight;
  std::uint64_t in_bin = 0;
  std::uint64_t bins_left = max_bins;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    in_bin += keys[i].weight;
    // The bin is full when it holds its share, or when the next key would overshoot by more.
    const std::uint64_t share = remaining / bins_left;
    const bool is_last = i + 1 == keys.size();
    const bool next_overshoots =
        !is_last && in_bin + keys[i + 1].weight > share &&
        in_bin + keys[i + 1].weight - share > share - std::min(share, in_bin);
    if (is_last || (bins_left > 1 && (in_bin >= share || next_overshoots))) {
      last_of_bin.push_back(i);
      remaining -= in_bin;
      in_bin = 0;
      --bins_left;
    }
  }
  return last_of_bin;
}

// How a column is read as keys: 32-bit ones for float32, 64-bit ones for the rest.
struct FloatKeys {
  using Key = std::uint32_t;
  static bool read(const ColumnView& column, std::size_t row, Key& key) {
    const float value = column.at<float>(row);
    key = sort_key(value);
    return !std::isnan(value);
  }
  static Value value(Key key) { return {.real = real_of_key(key)}; }
};

struct DoubleKeys {
  using Key = std::uint64_t;
  static bool read(const ColumnView& column, std::size_t row, Key& key) {
    const double value = column.type == ValueType::kFloat64 && column.missing == nullptr
                             ? column.at<double>(row)
                             : read_real(column, row);
    key = sort_key(value);
    return !std::isnan(value);
  }
  static Value value(Key key) { return {.real = real_of_key(key)}; }
};

struct IntegerKeys {
  using Key = std::uint64_t;
  static bool read(const ColumnView& column, std::size_t row, Key& key) {
    const Integer integer = read_integer(column, row);
    key = sort_key(integer.value);
    return !integer.is_missing;
  }
  static Value value(Key key) { return {.integer = integer_of_key(key)}; }
};

// The sorted distinct keys of a column with their weights.
template <typename Keys>
std::vector<WeightedKey> distinct_keys(const ColumnView& column, std::size_t n_rows,
                                       std::span<const std::uint64_t> weights,
                                       BinningScratch& scratch, bool& has_missing) {
  using Key = typename Keys::Key;
  std::vector<WeightedKey> distinct;
  const auto append = [&distinct](Key key, std::uint64_t weight) {
    if (distinct.empty() || distinct.back().key != key) distinct.push_back({key, 0});
    distinct.back().weight += weight;
  };
  Key key{};
  auto [keys, spare] = scratch.rows<Key>();
  keys.clear();
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (!weights.empty() && weights[row] == 0) continue;
    if (Keys::read(column, row, key)) {
      keys.push_back({key, static_cast<std::uint32_t>(row)});
    } else {
      has_missing = true;
    }
  }
  radix_sort(keys, spare);
  for (const auto& item : keys) append(item.key, weights.empty() ? 1 : weights[item.row]);
  return distinct;
}

// The bins of some keys: for each the number of bins that end before it. `ends` is padded to 256
// keys with the largest one, so that eight halvings always find it without a branch; the keys
// take each halving together, so that their loads overlap.
constexpr std::size_t kTogether = 16;
template <typename Key>
void find_bins(const Key* ends, const Key* keys, std::uint32_t* bins) {
  std::fill_n(bins, kTogether, 0U);
  for (std::uint32_t half = 128; half > 0; half /= 2) {
    for (std::size_t i = 0; i < kTogether; ++i) {
      bins[i] += half & (0U - static_cast<std::uint32_t>(ends[bins[i] + half - 1] < keys[i]));
    }
  }
}

// Cuts a column into bins; returns the ends of the bins as find_bins wants them. The last bin has
// no end: it also takes rows of weight zero beyond the largest value.
template <typename Keys>
std::vector<typename Keys::Key> set_bins(BinnedFeature& feature,
                                         std::span<const WeightedKey> distinct,
                                         std::uint32_t max_bins) {
  using Key = typename Keys::Key;
  const std::vector<std::size_t> last_of_bin = cut_into_bins(distinct, max_bins);
  std::vector<Key> ends(256, std::numeric_limits<Key>::max());
  std::size_t first = 0;
  for (std::size_t bin = 0; bin < last_of_bin.size(); ++bin) {
    const std::size_t last = last_of_bin[bin];
    feature.low.push_back(Keys::value(static_cast<Key>(distinct[first].key)));
    feature.high.push_back(Keys::value(static_cast<Key>(distinct[last].key)));
    if (bin + 1 < last_of_bin.size()) ends[bin] = static_cast<Key>(distinct[last].key);
    first = last + 1;
  }
  feature.column.n_values = static_cast<std::uint32_t>(last_of_bin.size());
  return ends;
}

template <typename Keys>
void bin_feature(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
                 std::span<const std::uint64_t> weights, std::uint32_t max_bins,
                 BinningScratch& scratch) {
  using Key = typename Keys::Key;
  const std::vector<WeightedKey> distinct =
      distinct_keys<Keys>(column, n_rows, weights, scratch, feature.column.has_missing);
  const std::vector<Key> ends = set_bins<Keys>(feature, distinct, max_bins);
  const std::uint32_t last_code = feature.column.n_codes() == 0 ? 0 : feature.column.n_codes() - 1;
  const std::span<std::uint8_t> codes = allocate_codes<std::uint8_t>(feature, n_rows);
  std::array<Key, kTogether> keys{};
  std::array<bool, kTogether> is_present{};
  std::array<std::uint32_t, kTogether> bins{};
  for (std::size_t first_row = 0; first_row < n_rows; first_row += kTogether) {
    const std::size_t n = std::min(kTogether, n_rows - first_row);
    for (std::size_t i = 0; i < n; ++i) {
      is_present[i] = Keys::read(column, first_row + i, keys[i]);
    }
    find_bins(ends.data(), keys.data(), bins.data());
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t code = is_present[i] ? bins[i] : feature.column.missing_code();
      codes[first_row + i] = static_cast<std::uint8_t>(std::min(code, last_code));
    }
  }
}

// The bins of a column whose rows all weigh the same: as cut_into_bins does, but a bin's end is
// found by its rank.
void cut_into_bins(BucketedValues& values, std::uint32_t max_bins, BinnedFeature& feature) {
  const std::size_t n = values.n_present();
  const auto add_bin = [&](std::size_t begin, std::size_t end) {
    feature.low.push_back({.real = values.at(begin)});
    feature.high.push_back({.real = values.at(end - 1)});
  };
  for (std::size_t begin = 0; begin < n && feature.low.size() <= max_bins;) {
    const std::size_t end = values.run_of(begin).end;
    add_bin(begin, end);
    begin = end;
  }
  if (feature.low.size() <= max_bins) return;
  feature.low.clear();
  feature.high.clear();
  std::size_t begin = 0;
  for (std::size_t bins_left = max_bins; begin < n; --bins_left) {
    std::size_t end = n;
    if (bins_left > 1) {
      const std::size_t share = std::max<std::size_t>(1, (n - begin) / bins_left);
      const BucketedValues::Run run = values.run_of(begin + share - 1);
      const bool overshoots = run.end - begin - share > share - (run.begin - begin);
      end = run.begin > begin && overshoots ? run.begin : run.end;
    }
    add_bin(begin, end);
    begin = end;
  }
}

void bin_reals(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
               std::uint32_t max_bins, BinningScratch& scratch) {
  scratch.values.resize(n_rows);
  if (column.type == ValueType::kFloat32 && column.missing == nullptr) {
    for (std::size_t row = 0; row < n_rows; ++row) {
      scratch.values[row] = static_cast<double>(column.at<float>(row)) + 0.0;
    }
  } else {
    for (std::size_t row = 0; row < n_rows; ++row) {
      scratch.values[row] = read_real(column, row) + 0.0;  // -0.0 becomes 0.0
    }
  }
  BucketedValues& buckets = scratch.buckets;
  buckets.assign(scratch.values);
  cut_into_bins(buckets, max_bins, feature);
  feature.column.n_values = static_cast<std::uint32_t>(feature.low.size());
  feature.column.has_missing = buckets.n_present() < n_rows;

  // The first bin that may hold a value of each bucket; seldom is it not the one.
  std::array<std::uint8_t, BucketedValues::kBuckets + 1> first_bin{};
  std::array<double, 256> ends;
  ends.fill(std::numeric_limits<double>::infinity());
  std::uint32_t bucket = 0;
  for (std::uint32_t bin = 0; bin < feature.column.n_values; ++bin) {
    ends[bin] = feature.high[bin].real;
    const std::uint32_t last_bucket = buckets.bucket_of(ends[bin]);
    for (; bucket <= last_bucket; ++bucket) first_bin[bucket] = static_cast<std::uint8_t>(bin);
  }
  first_bin[BucketedValues::kMissing] = static_cast<std::uint8_t>(feature.column.n_values);
  const std::span<std::uint8_t> codes = allocate_codes<std::uint8_t>(feature, n_rows);
  const std::span<const std::uint16_t> bucket_of_row = buckets.buckets();
  for (std::size_t row = 0; row < n_rows; ++row) {
    const double value = scratch.values[row];
    std::uint8_t bin = first_bin[bucket_of_row[row]];
    while (ends[bin] < value) ++bin;
    codes[row] = bin;
  }
}

template <typename Keys>
void rank_feature(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
                  std::span<const std::uint64_t> weights, BinningScratch& scratch) {
  using Key = typename Keys::Key;
  auto [keys, spare] = scratch.rows<Key>();
  keys.clear();
  keys.reserve(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (!weights.empty() && weights[row] == 0) continue;
    Key key{};
    if (Keys::read(column, row, key)) {
      keys.push_back({key, static_cast<std::uint32_t>(row)});
    } else {
      feature.column.has_missing = true;
    }
  }
  radix_sort(keys, spare);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i].key != keys[i - 1].key) ++feature.column.n_values;
  }
  with_allocated_codes(feature, n_rows, feature.column.n_codes(), [&](auto codes) {
    using Code = typename decltype(codes)::value_type;
    // Missing rows, and rows of weight zero, which are never read.
    const std::uint32_t n_codes = feature.column.n_codes();
    std::fill(codes.begin(), codes.end(), static_cast<Code>(n_codes == 0 ? 0 : n_codes - 1));
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i > 0 && keys[i].key != keys[i - 1].key) ++rank;
      codes[keys[i].row] = static_cast<Code>(rank);
    }
  });
}

template <typename Keys>
void bin_keys(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
              std::span<const std::uint64_t> weights, const BinningOptions& options,
              BinningScratch& scratch) {
  if (options.exact) {
    rank_feature<Keys>(feature, column, n_rows, weights, scratch);
  } else {
    bin_feature<Keys>(feature, column, n_rows, weights, options.max_bins, scratch);
  }
}

// ---- sparse columns ----

// The sorted distinct values of a sparse column with their weights. All zeros are one value, which
// is there where any of them has a weight.
std::vector<WeightedKey> distinct_of_sparse(const ColumnView& column, const RowsToBin& rows,
                                            BinningScratch& scratch, bool& has_missing) {
  auto [keys, spare] = scratch.rows<std::uint64_t>();
  keys.clear();
  std::uint64_t zeros = rows.total_weight;
  const auto weight_of = [&](std::size_t place) {
    return rows.weights.empty() ? std::uint64_t{1}
                                : rows.weights[static_cast<std::size_t>(column.stored[place])];
  };
  for (std::size_t place = 0; place < column.stored.size(); ++place) {
    const std::uint64_t weight = weight_of(place);
    zeros -= weight;
    if (weight == 0) continue;
    const double value = column.stored_value(place);
    if (std::isnan(value)) {
      has_missing = true;
    } else {
      keys.push_back({sort_key(value), static_cast<std::uint32_t>(place)});
    }
  }
  radix_sort(keys, spare);
  std::vector<WeightedKey> distinct;
  const auto append = [&distinct](std::uint64_t key, std::uint64_t weight) {
    if (weight == 0) return;
    if (distinct.empty() || distinct.back().key != key) distinct.push_back({key, 0});
    distinct.back().weight += weight;
  };
  const std::uint64_t zero = sort_key(0.0);
  for (const auto& item : keys) {
    if (item.key >= zero) append(zero, std::exchange(zeros, 0));
    append(item.key, weight_of(item.row));
  }
  append(zero, zeros);
  return distinct;
}

// Writes the codes of the stored rows and of the rest; missing values are known.
void write_sparse_codes(BinnedFeature& feature, const ColumnView& column,
                        std::span<const std::uint64_t> ends) {
  feature.sparse = std::make_unique<SparseCodes>();
  feature.sparse->rows = column.stored;
  feature.sparse->codes.resize(column.stored.size());
  feature.column.sparse = feature.sparse.get();
  const std::uint32_t missing = feature.column.missing_code();
  const std::uint32_t last_code = feature.column.n_codes() == 0 ? 0 : feature.column.n_codes() - 1;
  std::array<std::uint64_t, kTogether> keys{};
  std::array<std::uint32_t, kTogether> bins{};
  keys[0] = sort_key(0.0);
  find_bins(ends.data(), keys.data(), bins.data());
  feature.sparse->rest = static_cast<std::uint8_t>(std::min(bins[0], last_code));
  for (std::size_t first = 0; first < column.stored.size(); first += kTogether) {
    const std::size_t n = std::min(kTogether, column.stored.size() - first);
    for (std::size_t i = 0; i < n; ++i) keys[i] = sort_key(column.stored_value(first + i));
    find_bins(ends.data(), keys.data(), bins.data());
    for (std::size_t i = 0; i < n; ++i) {
      const bool is_missing = std::isnan(column.stored_value(first + i));
      const std::uint32_t code = std::min(is_missing ? missing : bins[i], last_code);
      feature.sparse->codes[first + i] = static_cast<std::uint8_t>(code);
    }
  }
}

// Ranks for every row; those of rows of weight zero are never read.
void rank_sparse(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
                 std::span<const WeightedKey> distinct) {
  feature.column.n_values = static_cast<std::uint32_t>(distinct.size());
  const std::uint32_t n_codes = feature.column.n_codes();
  const auto rank_of = [&](double value) {
    const auto is_before = [](const WeightedKey& a, std::uint64_t key) { return a.key < key; };
    const auto found =
        std::lower_bound(distinct.begin(), distinct.end(), sort_key(value), is_before);
    const auto rank = static_cast<std::uint32_t>(found - distinct.begin());
    return std::min(std::isnan(value) ? feature.column.missing_code() : rank,
                    n_codes == 0 ? 0 : n_codes - 1);
  };
  with_allocated_codes(feature, n_rows, n_codes, [&](auto codes) {
    using Code = typename decltype(codes)::value_type;
    std::fill(codes.begin(), codes.end(), static_cast<Code>(rank_of(0.0)));
    for (std::size_t place = 0; place < column.stored.size(); ++place) {
      codes[static_cast<std::size_t>(column.stored[place])] =
          static_cast<Code>(rank_of(column.stored_value(place)));
    }
  });
}

// Gives every row its code.
void spread_codes(BinnedFeature& feature, std::size_t n_rows) {
  feature.sparse->spread(allocate_codes<std::uint8_t>(feature, n_rows));
  feature.column.sparse = nullptr;
  feature.sparse.reset();
}

}  // namespace

void bin_sparse(BinnedFeature& feature, const ColumnView& column, const RowsToBin& rows,
                const BinningOptions& options, BinningScratch& scratch) {
  const std::vector<WeightedKey> distinct =
      distinct_of_sparse(column, rows, scratch, feature.column.has_missing);
  if (options.exact) return rank_sparse(feature, column, rows.n_rows, distinct);
  write_sparse_codes(feature, column, set_bins<DoubleKeys>(feature, distinct, options.max_bins));
  if (options.spread) spread_codes(feature, rows.n_rows);
}

void take_sparse(BinnedFeature& feature, const BinnedFeature& whole, const ColumnView& column) {
  std::vector<std::uint64_t> ends(256, std::numeric_limits<std::uint64_t>::max());
  for (std::size_t bin = 0; bin + 1 < whole.high.size(); ++bin) {
    ends[bin] = sort_key(whole.high[bin].real);
  }
  for (std::size_t place = 0; place < column.stored.size() && whole.column.has_missing; ++place) {
    if (std::isnan(column.stored_value(place))) feature.column.has_missing = true;
  }
  write_sparse_codes(feature, column, ends);
}

void bin_values(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
                std::span<const std::uint64_t> weights, const BinningOptions& options,
                BinningScratch& scratch) {
  if (feature.kind == FeatureKind::kInteger) {
    bin_keys<IntegerKeys>(feature, column, n_rows, weights, options, scratch);
  } else if (weights.empty() && !options.exact) {
    bin_reals(feature, column, n_rows, options.max_bins, scratch);
  } else if (column.type == ValueType::kFloat32 && column.missing == nullptr) {
    bin_keys<FloatKeys>(feature, column, n_rows, weights, options, scratch);
  } else {
    bin_keys<DoubleKeys>(feature, column, n_rows, weights, options, scratch);
  }
}

void copy_levels(BinnedFeature& feature, const ColumnView& column, std::size_t n_rows,
                 std::span<const std::uint64_t> weights, std::uint32_t n_levels) {
  if (n_levels >= kMaxLevels) throw std::invalid_argument("a category has more than 65,535 levels");
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (!weights.empty() && weights[row] == 0) continue;
    if (read_level(column, row) < 0) feature.column.has_missing = true;
  }
  feature.column.n_values = n_levels;
  const std::uint32_t n_codes = feature.column.n_codes();
  with_allocated_codes(feature, n_rows, n_codes, [&](auto codes) {
    using Code = typename decltype(codes)::value_type;
    for (std::size_t row = 0; row < n_rows; ++row) {
      const std::int32_t level = read_level(column, row);
      const std::uint32_t code = level < 0 ? n_levels : static_cast<std::uint32_t>(level);
      codes[row] = static_cast<Code>(std::min(code, n_codes == 0 ? 0 : n_codes - 1));
    }
  });
}

}  // namespace committee
