#include "boost/sparse_bundles.hpp"

#include <algorithm>
#include <numeric>

namespace committee {
namespace {

constexpr std::uint32_t kNumbers = 256;
constexpr std::size_t kTries = 64;  // bundles that a feature is compared with

// Whether a feature has its rest wherever a bundle is not empty.
bool fits(const SparseCodes& codes, const std::vector<std::uint8_t>& bytes) {
  for (std::size_t i = 0; i < codes.rows.size(); ++i) {
    const bool is_rest = codes.codes[i] == codes.rest;
    if (!is_rest && bytes[static_cast<std::size_t>(codes.rows[i])] != 0) return false;
  }
  return true;
}

void add(const SparseCodes& codes, std::uint32_t first, std::vector<std::uint8_t>& bytes) {
  for (std::size_t i = 0; i < codes.rows.size(); ++i) {
    const std::uint8_t code = codes.codes[i];
    if (code == codes.rest) continue;
    const std::uint32_t number = first + code - (code > codes.rest ? 1U : 0U);
    bytes[static_cast<std::size_t>(codes.rows[i])] = static_cast<std::uint8_t>(number);
  }
}

}  // namespace

SparseBundles::SparseBundles(std::span<const CodeColumn> columns, std::size_t n_rows) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t feature = 0; feature < columns.size(); ++feature) {
    const CodeColumn& column = columns[feature];
    if (column.sparse != nullptr && column.n_codes() >= 2) order.push_back(feature);
  }
  // Full features find no partner; those that come last fit in between.
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return columns[a].sparse->rows.size() > columns[b].sparse->rows.size();
  });
  std::vector<std::uint32_t> used;  // numbers of each bundle
  std::vector<std::uint32_t> open;  // bundles with room, the latest last
  for (const std::uint32_t feature : order) {
    const SparseCodes& codes = *columns[feature].sparse;
    const std::uint32_t n_own = columns[feature].n_codes() - 1;
    std::uint32_t found = static_cast<std::uint32_t>(bytes_.size());
    const std::size_t last = open.size() > kTries ? open.size() - kTries : 0;
    for (std::size_t i = open.size(); i-- > last;) {
      if (used[open[i]] + n_own > kNumbers || !fits(codes, bytes_[open[i]])) continue;
      found = open[i];
      break;
    }
    if (found == bytes_.size()) {
      bytes_.emplace_back(n_rows, std::uint8_t{0});
      used.push_back(1);
      open.push_back(found);
    }
    add(codes, used[found], bytes_[found]);
    features_.push_back({feature, found, used[found]});
    used[found] += n_own;
    if (used[found] == kNumbers) std::erase(open, found);
  }
}

}  // namespace committee
