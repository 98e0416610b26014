#include "boost/node_features.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace committee {
namespace {

std::vector<std::uint32_t> drawn(std::vector<std::uint32_t> features, std::size_t size,
                                 std::uint64_t key) {
  if (size >= features.size()) return features;
  Random random(key);
  for (std::size_t i = 0; i < size; ++i) {
    const auto rest = static_cast<std::uint32_t>(features.size() - i);
    std::swap(features[i], features[i + random.below(rest)]);
  }
  features.resize(size);
  std::sort(features.begin(), features.end());
  return features;
}

}  // namespace

NodeFeatures::NodeFeatures(const ByteColumns& columns, std::size_t n_features,
                           const BoostOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t feature = 0; feature < n_features; ++feature) {
    if (columns.column(feature).n_codes() >= 2) all.push_back(feature);
  }
  tree_features_ = drawn(std::move(all), options.features_per_tree, derive_key(seed, 0));
}

std::vector<std::uint32_t> NodeFeatures::of_node(std::uint32_t index, std::uint32_t depth,
                                                 std::span<const std::uint32_t> path) const {
  const std::uint64_t level_key = derive_key(derive_key(seed_, 1), depth);
  const std::uint64_t node_key = derive_key(derive_key(seed_, 2), index);
  std::vector<std::uint32_t> features =
      drawn(tree_features_, options_.features_per_level, level_key);
  if (!options_.interactions.empty()) {  // first: a draw is of features that the node may use
    std::erase_if(features, [&](std::uint32_t feature) { return !may_join(path, feature); });
  }
  return drawn(std::move(features), options_.features_per_node, node_key);
}

// Whether some group of features has those of the path and this one.
bool NodeFeatures::may_join(std::span<const std::uint32_t> path, std::uint32_t feature) const {
  return std::any_of(options_.interactions.begin(), options_.interactions.end(), [&](auto& group) {
    const auto has = [&](std::uint32_t one) {
      return std::find(group.begin(), group.end(), one) != group.end();
    };
    return has(feature) && std::all_of(path.begin(), path.end(), has);
  });
}

}  // namespace committee
