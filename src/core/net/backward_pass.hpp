// From derivatives by outputs to derivatives by parameters, for one block whose forward pass has
// been run. Included by block_pass.cpp only.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/simd.hpp"
#include "net/block_pass.hpp"
#include "net/forward_pass.hpp"
#include "net/matrix_product.hpp"

namespace committee {

// Derivatives of the loss by the outputs of all members.
COMMITTEE_INLINE void differentiate_loss(const NetShape& shape, const BlockRows& rows,
                                         const BlockLoss& loss, BlockScratch& scratch) {
  const NetTarget& target = *loss.target;
  const std::size_t n_outputs = shape.n_outputs;
  for (std::size_t i = 0; i < rows.n_rows * shape.n_members; ++i) {
    const std::size_t row = rows.at(i / shape.n_members);
    const float weight = target.weights.empty() ? loss.factor : loss.factor * target.weights[row];
    const float* const outputs = scratch.outputs.data() + i * n_outputs;
    float* const out = scratch.of_outputs.data() + i * n_outputs;
    if (target.classes.empty()) {
      for (std::size_t k = 0; k < n_outputs; ++k) {
        out[k] = weight * (outputs[k] - target.reals[row * n_outputs + k]);
      }
    } else {
      const auto own = static_cast<std::size_t>(target.classes[row]);
      to_shares(outputs, n_outputs, scratch.shares.data());
      for (std::size_t k = 0; k < n_outputs; ++k) {
        const double is_own = k == own ? 1.0 : 0.0;
        out[k] = weight * static_cast<float>(scratch.shares[k] - is_own);
      }
    }
  }
}

// Derivatives by the heads, and by the activations below them.
COMMITTEE_INLINE void differentiate_heads(const NetView& net, std::size_t n_inputs,
                                          BlockScratch& scratch, float* of_dense) {
  const NetShape& shape = *net.shape;
  const NetPlaces& places = *net.places;
  const std::size_t n_units = shape.n_units;
  const std::size_t table = shape.n_table();
  for (std::size_t i = 0; i < n_inputs; ++i) {
    const std::size_t head = i % shape.n_members * shape.n_outputs;
    const float* __restrict input = scratch.activations[shape.n_layers].data() + i * n_units;
    float* __restrict out = scratch.derivatives.data() + i * n_units;
    std::fill_n(out, n_units, 0.0F);
    for (std::size_t k = 0; k < shape.n_outputs; ++k) {
      const float slope = scratch.of_outputs[i * shape.n_outputs + k];
      const std::size_t place = places.heads() + (head + k) * n_units;
      const float* __restrict weights = net.parameters + place;
      float* __restrict of_weights = of_dense + place - table;
      for (std::size_t unit = 0; unit < n_units; ++unit) {
        out[unit] += slope * weights[unit];
        of_weights[unit] += slope * input[unit];
      }
      of_dense[places.head_shifts() - table + head + k] += slope;
    }
  }
}

// From derivatives by activations to those by sums, scales and shifts. Units that are zero, be it
// by the activation or left out, have none.
struct LayerSlopes {
  const float* scales = nullptr;
  float* of_scales = nullptr;
  float* of_shifts = nullptr;
  float kept = 1.0F;  // what units are divided by that are not left out
};
COMMITTEE_INLINE void differentiate_unit_row(const LayerSlopes& layer, const float* activations,
                                             const float* sums, const float* derivatives,
                                             std::size_t member, std::size_t n_units, float* out) {
  const float* __restrict scales = layer.scales + member * n_units;
  float* __restrict of_scales = layer.of_scales + member * n_units;
  float* __restrict of_shifts = layer.of_shifts + member * n_units;
  for (std::size_t unit = 0; unit < n_units; ++unit) {
    const float slope = activations[unit] > 0.0F ? derivatives[unit] * layer.kept : 0.0F;
    of_scales[unit] += slope * sums[unit];
    of_shifts[unit] += slope;
    out[unit] = slope * scales[unit];
  }
}

template <typename Vector, std::size_t kVectors>
COMMITTEE_INLINE void differentiate_dense(const NetView& net, std::size_t layer,
                                          std::size_t n_inputs, float kept, BlockScratch& scratch,
                                          float* of_dense) {
  const NetShape& shape = *net.shape;
  const NetPlaces& places = *net.places;
  const std::size_t n_units = shape.n_units;
  const std::size_t table = shape.n_table();
  const LayerSlopes slopes{net.parameters + places.scales(layer),
                           of_dense + places.scales(layer) - table,
                           of_dense + places.shifts(layer) - table, kept};
  float* const of_products = scratch.of_products.data();
  for (std::size_t i = 0; i < n_inputs; ++i) {
    differentiate_unit_row(slopes, scratch.activations[layer + 1].data() + i * n_units,
                           scratch.products[layer].data() + i * n_units,
                           scratch.derivatives.data() + i * n_units, i % shape.n_members, n_units,
                           of_products + i * n_units);
  }
  multiply<Vector, kVectors>({scratch.scaled_inputs[layer].data(), 1, n_units}, of_products,
                             {n_units, n_inputs, n_units},
                             of_dense + places.weights(layer) - table);
  multiply<Vector, kVectors>({of_products, n_units, 1}, net.transposed + layer * n_units * n_units,
                             {n_inputs, n_units, n_units}, scratch.derivatives.data());
  for (std::size_t i = 0; i < n_inputs; ++i) {
    const std::size_t place = places.inputs(layer) + i % shape.n_members * n_units;
    const float* __restrict factors = net.parameters + place;
    const float* __restrict inputs = scratch.activations[layer].data() + i * n_units;
    float* __restrict of_factors = of_dense + place - table;
    float* __restrict slope = scratch.derivatives.data() + i * n_units;
    for (std::size_t unit = 0; unit < n_units; ++unit) {
      of_factors[unit] += slope[unit] * inputs[unit];
      slope[unit] *= factors[unit];
    }
  }
}

template <typename Vector, std::size_t kVectors>
COMMITTEE_INLINE void differentiate_code(const NetView& net, const EncodedRows& table,
                                         const BlockRows& rows, const BlockLoss& loss,
                                         BlockScratch& scratch, float* of_dense, float* of_sums) {
  const NetShape& shape = *net.shape;
  const NetPlaces& places = *net.places;
  const std::size_t n_units = shape.n_units;
  const std::size_t n_inputs = rows.n_rows * shape.n_members;
  const float kept = 1.0F / (1.0F - loss.dropout.share);
  forward_code<Vector, kVectors>(net, table, rows, loss.dropout, loss.first, scratch);
  std::fill_n(of_dense, places.size() - shape.n_table(), 0.0F);
  differentiate_loss(shape, rows, loss, scratch);
  differentiate_heads(net, n_inputs, scratch, of_dense);
  for (std::size_t layer = shape.n_layers; layer-- > 0;) {
    differentiate_dense<Vector, kVectors>(net, layer, n_inputs, kept, scratch, of_dense);
  }
  const LayerSlopes slopes{net.parameters + places.first_scales(),
                           of_dense + places.first_scales() - shape.n_table(),
                           of_dense + places.first_shifts() - shape.n_table(), kept};
  std::fill_n(of_sums, rows.n_rows * n_units, 0.0F);
  for (std::size_t i = 0; i < n_inputs; ++i) {
    float* const slope = scratch.of_products.data();
    const std::size_t row = i / shape.n_members;
    differentiate_unit_row(
        slopes, scratch.activations[0].data() + i * n_units, scratch.sums.data() + row * n_units,
        scratch.derivatives.data() + i * n_units, i % shape.n_members, n_units, slope);
    float* __restrict out = of_sums + row * n_units;
    for (std::size_t unit = 0; unit < n_units; ++unit) out[unit] += slope[unit];
  }
}

}  // namespace committee
