// Fits a net by Adam to batches of rows in random order, and keeps a running mean of its
// parameters, which predicts better than the last ones.
//
//   batch of rows ──> blocks, side by side: derivatives ──> sums in the order of blocks ──> Adam
//                                                └─> of the table: feature by feature, side by side
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/monitor.hpp"
#include "base/scratch_pool.hpp"
#include "net/adam.hpp"
#include "net/block_pass.hpp"
#include "net/net.hpp"

namespace committee {

struct NetOptions {
  std::size_t batch_rows = 256;
  float weight_decay = 0.0F;  // of weights, not of factors and shifts
  float table_decay = 0.0F;   // of the table
  float dropout = 0.0F;
  float averaging = 0.0F;  // share of the running mean that stays in each step
  std::uint64_t seed = 0;
};

class NetTrainer {
 public:
  // What `table` and `target` look at has to stay where it is.
  NetTrainer(NetShape shape, const NetOptions& options, EncodedRows table, NetTarget target);

  // Passes over `rows` once, in an order that the seed and the number of epochs so far decide.
  void run_epoch(std::span<const std::uint32_t> rows, float learning_rate, std::size_t n_threads,
                 Monitor& monitor);

  const NetShape& shape() const { return net_.shape(); }
  std::span<const float> parameters() const { return net_.parameters(); }
  std::span<const float> average() const { return average_; }

 private:
  void run_batch(std::span<const std::uint32_t> rows, float learning_rate, std::size_t n_threads,
                 Monitor& monitor);
  AdamStep next_step(float learning_rate);
  void learn_dense(const AdamStep& step, std::size_t n_blocks);
  void learn_part(AdamStep step, float decay, std::size_t begin, std::size_t n,
                  std::span<const float> gradient);
  void learn_feature(AdamStep step, std::span<const std::uint32_t> rows, std::size_t feature);

  Net net_;
  NetOptions options_;
  EncodedRows table_;
  NetTarget target_;
  std::uint64_t n_epochs_ = 0;
  std::uint64_t n_steps_ = 0;
  double first_power_ = 1.0;  // of the shares of the moments that stay
  double second_power_ = 1.0;
  AlignedVector<float> first_;
  AlignedVector<float> second_;
  AlignedVector<float> average_;
  AlignedVector<float> of_table_;
  AlignedVector<float> of_sums_;   // of the rows of a batch
  AlignedVector<float> of_dense_;  // of all blocks
  std::vector<std::uint32_t> order_;
  ScratchPool<BlockScratch> scratches_;
};

}  // namespace committee
