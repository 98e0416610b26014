// What a net computes for a few rows at once: predictions, and derivatives of the loss.
//
// A *block* is up to 32 rows, whose numbers stay in the cache. Blocks of a batch are passed side by
// side, and each writes derivatives of its own, which are added up in the order of blocks
// afterwards. Vectors hold neighbouring units and sums over rows go one by one, so that neither the
// number of threads nor the instruction set changes a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "net/net_shape.hpp"

namespace committee {

constexpr std::size_t kBlockRows = 32;

// A net as the pass reads it.
struct NetView {
  const NetShape* shape = nullptr;
  const NetPlaces* places = nullptr;
  const float* parameters = nullptr;
  const float* rows = nullptr;        // the table, row by row
  const float* steps = nullptr;       // from each row to the next one, between knots
  const float* transposed = nullptr;  // the weights of dense layers, row by row of the output
};

// What is to be learnt: classes, or numbers (n_outputs of them a row). Weights may be empty.
struct NetTarget {
  std::span<const std::int32_t> classes;
  std::span<const float> reals;
  std::span<const float> weights;
};

// Units are left out at random: the number of a unit decides, with a key of the batch.
struct Dropout {
  std::uint64_t key = 0;
  float share = 0.0F;
};

// Memory for the numbers of a block. Rows of members lie side by side, row by row.
class BlockScratch {
 public:
  // Makes room for blocks of such a net.
  void fit(const NetShape& shape);

  AlignedVector<float> sums;                        // of the first layer, a row of units each
  std::vector<AlignedVector<float>> activations;    // after the first and after each dense layer
  std::vector<AlignedVector<float>> scaled_inputs;  // of each dense layer
  std::vector<AlignedVector<float>> products;       // of each dense layer
  AlignedVector<float> outputs;                     // of each row and member
  AlignedVector<float> derivatives;                 // of the loss by activations, and their inputs
  AlignedVector<float> of_products;
  AlignedVector<float> of_outputs;
  AlignedVector<double> shares;  // of one row of a member
};

// Which rows of the table a block has: rows[0] ... rows[n - 1], or n rows from `first` on.
struct BlockRows {
  const std::uint32_t* rows = nullptr;
  std::size_t first = 0;
  std::size_t n_rows = 0;

  std::size_t at(std::size_t i) const { return rows == nullptr ? first + i : rows[i]; }
};

// The mean over members of probabilities, or of numbers: n_outputs for each row of the block.
void predict_block(const NetView& net, const EncodedRows& table, const BlockRows& rows,
                   bool is_class, BlockScratch& scratch, double* out);

// Derivatives of the loss of each member, times a factor. `first` is the place of the block in its
// batch. `of_dense` gets those by all parameters but the table, `of_sums` those by the sums of
// the first layer.
struct BlockLoss {
  const NetTarget* target = nullptr;
  Dropout dropout;
  std::size_t first = 0;
  float factor = 1.0F;
};
void differentiate_block(const NetView& net, const EncodedRows& table, const BlockRows& rows,
                         const BlockLoss& loss, BlockScratch& scratch, float* of_dense,
                         float* of_sums);

}  // namespace committee
