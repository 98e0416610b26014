#include "net/block_pass.hpp"

#include <algorithm>

#include "base/simd.hpp"
#include "net/backward_pass.hpp"
#include "net/forward_pass.hpp"

namespace committee {
namespace {

template <typename Vector, std::size_t kVectors>
COMMITTEE_INLINE void predict_code(const NetView& net, const EncodedRows& table,
                                   const BlockRows& rows, bool is_class, BlockScratch& scratch,
                                   double* out) {
  const std::size_t n_outputs = net.shape->n_outputs;
  const std::size_t n_members = net.shape->n_members;
  forward_code<Vector, kVectors>(net, table, rows, Dropout{}, 0, scratch);
  std::fill_n(out, rows.n_rows * n_outputs, 0.0);
  for (std::size_t i = 0; i < rows.n_rows * n_members; ++i) {
    const float* const outputs = scratch.outputs.data() + i * n_outputs;
    double* const mean = out + i / n_members * n_outputs;
    if (is_class) {
      to_shares(outputs, n_outputs, scratch.shares.data());
      for (std::size_t k = 0; k < n_outputs; ++k) mean[k] += scratch.shares[k];
    } else {
      for (std::size_t k = 0; k < n_outputs; ++k) mean[k] += static_cast<double>(outputs[k]);
    }
  }
  const auto n = static_cast<double>(n_members);
  for (std::size_t i = 0; i < rows.n_rows * n_outputs; ++i) out[i] /= n;
}

#ifdef COMMITTEE_HAS_AVX2
COMMITTEE_AVX2 void predict_avx2(const NetView& net, const EncodedRows& table,
                                 const BlockRows& rows, bool is_class, BlockScratch& scratch,
                                 double* out) {
  predict_code<Floats8, 2>(net, table, rows, is_class, scratch, out);
}

COMMITTEE_AVX512 void predict_avx512(const NetView& net, const EncodedRows& table,
                                     const BlockRows& rows, bool is_class, BlockScratch& scratch,
                                     double* out) {
  predict_code<Floats16, 4>(net, table, rows, is_class, scratch, out);
}

COMMITTEE_AVX2 void differentiate_avx2(const NetView& net, const EncodedRows& table,
                                       const BlockRows& rows, const BlockLoss& loss,
                                       BlockScratch& scratch, float* of_dense, float* of_sums) {
  differentiate_code<Floats8, 2>(net, table, rows, loss, scratch, of_dense, of_sums);
}

COMMITTEE_AVX512 void differentiate_avx512(const NetView& net, const EncodedRows& table,
                                           const BlockRows& rows, const BlockLoss& loss,
                                           BlockScratch& scratch, float* of_dense, float* of_sums) {
  differentiate_code<Floats16, 4>(net, table, rows, loss, scratch, of_dense, of_sums);
}
#endif

}  // namespace

void BlockScratch::fit(const NetShape& shape) {
  const std::size_t n_inputs = kBlockRows * shape.n_members;
  const std::size_t n_of_members = n_inputs * shape.n_units;
  const auto make_room = [](std::vector<AlignedVector<float>>& each, std::size_t n_layers,
                            std::size_t size) {
    each.resize(n_layers);
    for (AlignedVector<float>& values : each) values.resize(size);
  };
  sums.resize(kBlockRows * shape.n_units);
  make_room(activations, shape.n_layers + 1, n_of_members);
  make_room(scaled_inputs, shape.n_layers, n_of_members);
  make_room(products, shape.n_layers, n_of_members);
  outputs.resize(n_inputs * shape.n_outputs);
  derivatives.resize(n_of_members);
  of_products.resize(n_of_members);
  of_outputs.resize(n_inputs * shape.n_outputs);
  shares.resize(shape.n_outputs);
}

void predict_block(const NetView& net, const EncodedRows& table, const BlockRows& rows,
                   bool is_class, BlockScratch& scratch, double* out) {
#ifdef COMMITTEE_HAS_AVX2
  if (uses_avx512()) return predict_avx512(net, table, rows, is_class, scratch, out);
  if (uses_avx2()) return predict_avx2(net, table, rows, is_class, scratch, out);
#endif
  predict_code<Floats4, 4>(net, table, rows, is_class, scratch, out);
}

void differentiate_block(const NetView& net, const EncodedRows& table, const BlockRows& rows,
                         const BlockLoss& loss, BlockScratch& scratch, float* of_dense,
                         float* of_sums) {
#ifdef COMMITTEE_HAS_AVX2
  if (uses_avx512()) {
    return differentiate_avx512(net, table, rows, loss, scratch, of_dense, of_sums);
  }
  if (uses_avx2()) return differentiate_avx2(net, table, rows, loss, scratch, of_dense, of_sums);
#endif
  differentiate_code<Floats4, 4>(net, table, rows, loss, scratch, of_dense, of_sums);
}

}  // namespace committee
