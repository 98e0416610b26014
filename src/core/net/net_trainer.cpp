#include "net/net_trainer.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "base/thread_pool.hpp"

namespace committee {
namespace {

// Fisher and Yates.
void shuffle(std::uint64_t key, std::span<std::uint32_t> rows) {
  Random random(key);
  for (std::size_t n = rows.size(); n > 1; --n) {
    std::swap(rows[n - 1], rows[random.below(static_cast<std::uint32_t>(n))]);
  }
}

void add_row(const float* __restrict from, float factor, std::size_t n_units,
             float* __restrict out) {
  for (std::size_t unit = 0; unit < n_units; ++unit) out[unit] += factor * from[unit];
}

// From derivatives by the values at knots to those by the slope and the bends: see Net.
void to_slope_and_bends(const NetFeature& feature, const float* knots, std::size_t n_units,
                        float* gradient) {
  AlignedVector<float> slope(n_units);
  std::fill(slope.begin(), slope.end(), 0.0F);
  for (std::size_t knot = 0; knot < feature.n_knots; ++knot) {
    add_row(gradient + knot * n_units, knots[knot], n_units, slope.data());
  }
  for (std::size_t knot = feature.n_knots - 1; knot > 1; --knot) {
    add_row(gradient + knot * n_units, 1.0F, n_units, gradient + (knot - 1) * n_units);
  }
  std::copy(slope.begin(), slope.end(), gradient);
}

}  // namespace

NetTrainer::NetTrainer(NetShape shape, const NetOptions& options, EncodedRows table,
                       NetTarget target)
    : net_(std::move(shape), options.seed), options_(options), table_(table), target_(target) {
  const std::size_t size = net_.places().size();
  first_.assign(size, 0.0F);
  second_.assign(size, 0.0F);
  average_.assign(net_.parameters().begin(), net_.parameters().end());
  of_table_.resize(net_.shape().n_table());
}

void NetTrainer::run_epoch(std::span<const std::uint32_t> rows, float learning_rate,
                           std::size_t n_threads, Monitor& monitor) {
  order_.assign(rows.begin(), rows.end());
  shuffle(derive_key(derive_key(options_.seed, 10), n_epochs_++), order_);
  const std::size_t n_batches = (order_.size() + options_.batch_rows - 1) / options_.batch_rows;
  for (std::size_t batch = 0; batch < n_batches; ++batch) {
    const Range range = chunk_range(order_.size(), n_batches, batch);
    const std::span<const std::uint32_t> every(order_);
    run_batch(every.subspan(range.begin, range.end - range.begin), learning_rate, n_threads,
              monitor);
  }
}

void NetTrainer::run_batch(std::span<const std::uint32_t> rows, float learning_rate,
                           std::size_t n_threads, Monitor& monitor) {
  const NetShape& shape = net_.shape();
  const std::size_t n_blocks = (rows.size() + kBlockRows - 1) / kBlockRows;
  const std::size_t n_dense = net_.places().size() - shape.n_table();
  if (of_dense_.size() < n_blocks * n_dense) of_dense_.resize(n_blocks * n_dense);
  if (of_sums_.size() < rows.size() * shape.n_units) of_sums_.resize(rows.size() * shape.n_units);
  const NetView net = net_.view();
  const std::uint64_t key = derive_key(derive_key(options_.seed, 11), n_steps_);
  parallel_for(
      n_blocks, n_threads,
      [&](std::size_t block) {
        monitor.check();
        const std::size_t begin = block * kBlockRows;
        const BlockRows own{rows.data() + begin, 0, std::min(kBlockRows, rows.size() - begin)};
        const BlockLoss loss{.target = &target_,
                             .dropout = {key, options_.dropout},
                             .first = begin,
                             .factor = 1.0F / static_cast<float>(rows.size())};
        scratches_.lend([&](BlockScratch& scratch) {
          scratch.fit(shape);
          differentiate_block(net, table_, own, loss, scratch, of_dense_.data() + block * n_dense,
                              of_sums_.data() + begin * shape.n_units);
        });
      },
      &monitor);
  const AdamStep step = next_step(learning_rate);
  const std::size_t n_features = shape.features.size();
  parallel_for(
      n_features + 1, n_threads,
      [&](std::size_t task) {
        if (task == 0) return learn_dense(step, n_blocks);
        learn_feature(step, rows, task - 1);
      },
      &monitor);
}

AdamStep NetTrainer::next_step(float learning_rate) {
  ++n_steps_;
  first_power_ *= static_cast<double>(kFirstShare);
  second_power_ *= static_cast<double>(kSecondShare);
  // A short run is averaged over its last part too.
  const auto n = static_cast<float>(n_steps_);
  return {.learning_rate = learning_rate,
          .first_scale = static_cast<float>(1.0 / (1.0 - first_power_)),
          .second_scale = static_cast<float>(1.0 / (1.0 - second_power_)),
          .averaging = std::min(options_.averaging, n / (10.0F + n))};
}

void NetTrainer::learn_part(AdamStep step, float decay, std::size_t begin, std::size_t n,
                            std::span<const float> gradient) {
  step.decay = decay;
  adam_step(step, gradient,
            {net_.parameters().subspan(begin, n), std::span(first_).subspan(begin, n),
             std::span(second_).subspan(begin, n), std::span(average_).subspan(begin, n)});
}

void NetTrainer::learn_dense(const AdamStep& step, std::size_t n_blocks) {
  const NetPlaces& places = net_.places();
  const NetShape& shape = net_.shape();
  const std::size_t n_table = shape.n_table();
  const std::size_t n_dense = places.size() - n_table;
  for (std::size_t block = 1; block < n_blocks; ++block) {
    add_row(of_dense_.data() + block * n_dense, 1.0F, n_dense, of_dense_.data());
  }
  const std::span<const float> gradient = std::span(of_dense_).first(n_dense);
  const auto learn = [&](std::size_t begin, std::size_t end, float decay) {
    learn_part(step, decay, begin, end - begin, gradient.subspan(begin - n_table, end - begin));
  };
  std::size_t begin = n_table;
  for (std::size_t layer = 0; layer < shape.n_layers; ++layer) {
    learn(begin, places.weights(layer), 0.0F);
    learn(places.weights(layer), places.inputs(layer), options_.weight_decay);
    begin = places.inputs(layer);
  }
  learn(begin, places.heads(), 0.0F);
  learn(places.heads(), places.head_shifts(), options_.weight_decay);
  learn(places.head_shifts(), places.size(), 0.0F);
  net_.update_dense();
}

void NetTrainer::learn_feature(AdamStep step, std::span<const std::uint32_t> rows,
                               std::size_t feature) {
  const NetShape& shape = net_.shape();
  const NetFeature& own = shape.features[feature];
  const std::size_t n_units = shape.n_units;
  const std::size_t n_features = shape.features.size();
  const std::size_t begin = own.first_row * n_units;
  const std::size_t n = own.n_rows * n_units;
  float* const gradient = of_table_.data() + begin;
  std::fill_n(gradient, n, 0.0F);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t cell = rows[i] * n_features + feature;
    const std::uint32_t code = table_.codes[cell];
    if (code == kNoTableRow) continue;
    const float* const slopes = of_sums_.data() + i * n_units;
    float* const out = of_table_.data() + code * n_units;
    const float fraction = own.is_number() ? table_.fractions[cell] : 0.0F;
    add_row(slopes, 1.0F - fraction, n_units, out);
    if (fraction > 0.0F) add_row(slopes, fraction, n_units, out + n_units);
  }
  if (own.is_number()) {
    to_slope_and_bends(own, shape.knots.data() + own.first_row, n_units, gradient);
  }
  learn_part(step, options_.table_decay, begin, n, {gradient, n});
  net_.update_feature(feature);
}

}  // namespace committee
