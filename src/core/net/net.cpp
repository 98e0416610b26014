#include "net/net.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.hpp"
#include "base/scratch_pool.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

// Uniform in [-bound, bound).
void fill_uniform(std::uint64_t key, double bound, std::span<float> values) {
  Random random(key);
  for (float& value : values) value = static_cast<float>(bound * (2.0 * random.uniform() - 1.0));
}

// Slopes of numbers, levels of categories, and weights begin as in any net; what bends the
// functions of numbers begins at zero. Members begin alike but for the signs of their first scales.
void fill_initial(const NetShape& shape, const NetPlaces& places, std::uint64_t seed,
                  std::span<float> parameters) {
  const std::size_t n_units = shape.n_units;
  std::fill(parameters.begin(), parameters.end(), 0.0F);
  const double bound = std::sqrt(3.0 / static_cast<double>(shape.features.size()));
  for (std::size_t k = 0; k < shape.features.size(); ++k) {
    const NetFeature& feature = shape.features[k];
    const std::size_t n_filled = feature.is_number() ? 1 : feature.n_rows;
    fill_uniform(derive_key(derive_key(seed, 0), k), bound,
                 parameters.subspan(feature.first_row * n_units, n_filled * n_units));
  }
  const std::size_t n_of_members = shape.n_members * n_units;
  Random random(derive_key(seed, 1));
  for (std::size_t i = 0; i < n_of_members; ++i) {
    parameters[places.first_scales() + i] = (random.next() >> 63) != 0 ? 1.0F : -1.0F;
  }
  fill_uniform(derive_key(seed, 2), 0.5, parameters.subspan(places.first_shifts(), n_of_members));
  const double dense_bound = std::sqrt(6.0 / static_cast<double>(n_units));
  for (std::size_t layer = 0; layer < shape.n_layers; ++layer) {
    fill_uniform(derive_key(derive_key(seed, 3), layer), dense_bound,
                 parameters.subspan(places.weights(layer), n_units * n_units));
    std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(places.inputs(layer)),
                2 * n_of_members, 1.0F);  // inputs and scales
  }
  const double head_bound = 1.0 / std::sqrt(static_cast<double>(n_units));
  fill_uniform(derive_key(seed, 4), head_bound,
               parameters.subspan(places.heads(), n_of_members * shape.n_outputs));
}

}  // namespace

Net::Net(NetShape shape, std::span<const float> parameters)
    : shape_(std::move(shape)), places_(shape_), parameters_(parameters.begin(), parameters.end()) {
  update_all();
}

Net::Net(NetShape shape, std::uint64_t seed) : shape_(std::move(shape)), places_(shape_) {
  parameters_.resize(places_.size());
  fill_initial(shape_, places_, seed, parameters_);
  update_all();
}

NetView Net::view() const {
  return {&shape_, &places_, parameters_.data(), rows_.data(), steps_.data(), transposed_.data()};
}

void Net::update_all() {
  rows_.resize(shape_.n_table());
  steps_.resize(shape_.n_table());
  transposed_.resize(shape_.n_layers * shape_.n_units * shape_.n_units);
  for (std::size_t k = 0; k < shape_.features.size(); ++k) update_feature(k);
  update_dense();
}

void Net::update_feature(std::size_t feature) {
  const NetFeature& own = shape_.features[feature];
  const std::size_t n_units = shape_.n_units;
  const std::size_t begin = own.first_row * n_units;
  const float* const from = parameters_.data() + begin;
  float* const rows = rows_.data() + begin;
  float* const steps = steps_.data() + begin;
  if (!own.is_number()) {
    std::copy_n(from, own.n_rows * n_units, rows);
    return;
  }
  const float* const knots = shape_.knots.data() + own.first_row;
  for (std::size_t unit = 0; unit < n_units; ++unit) rows[unit] = from[unit] * knots[0];
  for (std::size_t knot = 1; knot < own.n_knots; ++knot) {
    const float distance = knots[knot] - knots[knot - 1];
    const float* __restrict bend = from + knot * n_units;
    const float* __restrict before = rows + (knot - 1) * n_units;
    float* __restrict row = rows + knot * n_units;
    float* __restrict step = steps + (knot - 1) * n_units;
    for (std::size_t unit = 0; unit < n_units; ++unit) {
      step[unit] = from[unit] * distance + bend[unit];
      row[unit] = before[unit] + step[unit];
    }
  }
  // Neither the last knot nor missing values are followed by anything.
  std::fill_n(steps + (own.n_knots - 1) * n_units, (own.n_rows - own.n_knots + 1) * n_units, 0.0F);
  std::copy_n(from + own.n_knots * n_units, (own.n_rows - own.n_knots) * n_units,
              rows + own.n_knots * n_units);
}

void Net::update_dense() {
  const std::size_t n_units = shape_.n_units;
  for (std::size_t layer = 0; layer < shape_.n_layers; ++layer) {
    const float* const weights = parameters_.data() + places_.weights(layer);
    float* const out = transposed_.data() + layer * n_units * n_units;
    for (std::size_t i = 0; i < n_units; ++i) {
      for (std::size_t j = 0; j < n_units; ++j) out[j * n_units + i] = weights[i * n_units + j];
    }
  }
}

void Net::predict(const EncodedRows& table, bool is_class, std::size_t n_threads, Monitor& monitor,
                  double* out) const {
  ScratchPool<BlockScratch> scratches;
  const NetView net = view();
  const std::size_t n_blocks = (table.n_rows + kBlockRows - 1) / kBlockRows;
  parallel_for(
      n_blocks, n_threads,
      [&](std::size_t block) {
        monitor.check();
        const std::size_t begin = block * kBlockRows;
        const BlockRows rows{nullptr, begin, std::min(kBlockRows, table.n_rows - begin)};
        scratches.lend([&](BlockScratch& scratch) {
          scratch.fit(shape_);
          predict_block(net, table, rows, is_class, scratch, out + begin * shape_.n_outputs);
        });
      },
      &monitor);
}

}  // namespace committee
