#include "grow/table_split.hpp"

#include <algorithm>

namespace committee {
namespace {

// A threshold t with a <= t < b for the neighbours a, b that it separates.
Value threshold_of(const SplitRows& node, const Split& split, const CodeColumn& column) {
  const FeatureKind kind = feature_kind(split.kind);
  if (split.first_right == kNoCode) return highest_value(kind);
  if (split.has_threshold) return split.threshold;
  const BinnedDataset& dataset = *node.data.dataset;
  if (node.block.has_records() && !dataset.feature(split.feature).low.empty()) {
    return middle(kind, dataset.high_of_code(split.feature, split.last_left),
                  dataset.low_of_code(split.feature, split.first_right));
  }
  const auto row_of = [&](std::uint32_t code) {
    return node.table_row(*std::find_if(node.rows.begin(), node.rows.end(),
                                        [&](std::uint32_t row) { return column.at(row) == code; }));
  };
  return middle(kind, dataset.high(split.feature, row_of(split.last_left)),
                dataset.low(split.feature, row_of(split.first_right)));
}

// See tree.hpp for the layout.
std::vector<std::uint32_t> category_data(const SplitRows& node, const Split& split,
                                         const CodeColumn& column) {
  const CodeColumn& levels = node.data.dataset->feature(split.feature).column;
  std::vector<std::uint32_t> level_of_code(column.n_codes(), kNoCode);
  if (node.block.has_records()) {  // whose codes are the dataset's
    for (std::uint32_t code = 0; code < column.n_values; ++code) {
      if (split.child_of_code[code] != kNoChild) level_of_code[code] = code;
    }
  } else {
    for (const std::uint32_t row : node.rows) {
      const std::uint32_t level = levels.at(node.table_row(row));
      if (level != levels.missing_code()) level_of_code[column.at(row)] = level;
    }
  }
  if (split.kind == SplitKind::kFanOut) {
    std::vector<std::uint32_t> data{split.n_children, split.default_child, levels.n_values};
    data.resize(3 + std::size_t{levels.n_values}, kNoChild);
    for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
      if (level_of_code[code] != kNoCode) {
        data[3 + level_of_code[code]] = split.child_of_code[code];
      }
    }
    return data;
  }
  std::vector<std::uint32_t> leaving;
  for (std::uint32_t code = 0; code < column.n_codes(); ++code) {
    if (level_of_code[code] != kNoCode && split.child_of_code[code] != split.default_child) {
      leaving.push_back(level_of_code[code]);
    }
  }
  return subset_data(std::move(leaving));
}

}  // namespace

void write_split(const SplitRows& node, const Split& split, Node& out,
                 std::vector<std::uint32_t>& all_category_data) {
  const CodeColumn& column = node.block.columns[split.feature];
  const bool missing_goes_left = split.default_child == 0;
  if (split.kind == SplitKind::kReal || split.kind == SplitKind::kInteger) {
    out.set_threshold(split.feature, feature_kind(split.kind), threshold_of(node, split, column),
                      missing_goes_left);
    return;
  }
  out.set_split(split.feature, split.kind, missing_goes_left);
  out.threshold.offset = all_category_data.size();
  const std::vector<std::uint32_t> data = category_data(node, split, column);
  all_category_data.insert(all_category_data.end(), data.begin(), data.end());
}

}  // namespace committee
