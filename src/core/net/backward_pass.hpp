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
template <typename Vector>
COMMITTEE_INLINE void differentiate_heads(const NetView& net, std::size_t n_inputs,
                                          BlockScratch& scratch, float* of_dense) {
  const NetShape& shape = *net.shape;
  const NetPlaces& places = *net.places;
  const std::size_t n_units = shape.n_units;
  const std::size_t table = shape.n_table();
  for (std::size_t i = 0; i < n_inputs; ++i) {
    const std::size_t head = i % shape.n_members * shape.n_outputs;
    const std::size_t place = places.heads() + head * n_units;
    const float* const slopes = scratch.of_outputs.data() + i * shape.n_outputs;
    for (std::size_t unit = 0; unit < n_units; unit += kWidthOf<Vector>) {
      Vector input;
      Vector slope = {};
      read_floats(scratch.activations[shape.n_layers].data() + i * n_units + unit, input);
      for (std::size_t k = 0; k < shape.n_outputs; ++k) {
        const std::size_t own = place + k * n_units + unit;
        Vector weights;
        read_floats(net.parameters + own, weights);
        slope += weights * slopes[k];
        add_product(input, slopes[k], of_dense + own - table);
      }
      write_floats(slope, scratch.derivatives.data() + i * n_units + unit);
    }
    float* const of_shifts = of_dense + places.head_shifts() - table + head;
    for (std::size_t k = 0; k < shape.n_outputs; ++k) of_shifts[k] += slopes[k];
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
template <typename Vector>
COMMITTEE_INLINE void differentiate_units(const LayerSlopes& layer, const float* activations,
                                          const float* sums, const float* derivatives,
                                          std::size_t member, std::size_t n_units, float* out) {
  for (std::size_t unit = 0; unit < n_units; unit += kWidthOf<Vector>) {
    const std::size_t own = member * n_units + unit;
    Vector activation;
    Vector sum;
    Vector slope;
    Vector scale;
    read_floats(activations + unit, activation);
    read_floats(sums + unit, sum);
    read_floats(derivatives + unit, slope);
    read_floats(layer.scales + own, scale);
    slope = activation > 0.0F ? slope * layer.kept : Vector{};
    add_product(slope, sum, layer.of_scales + own);
    add_product(slope, 1.0F, layer.of_shifts + own);
    slope *= scale;
    write_floats(slope, out + unit);
  }
}

// Derivatives by the factors of inputs; those by inputs take the place of those by their products.
template <typename Vector>
COMMITTEE_INLINE void differentiate_inputs(const float* factors, const float* inputs,
                                           std::size_t n_units, float* slopes, float* of_factors) {
  for (std::size_t unit = 0; unit < n_units; unit += kWidthOf<Vector>) {
    Vector slope;
    Vector input;
    Vector factor;
    read_floats(slopes + unit, slope);
    read_floats(inputs + unit, input);
    read_floats(factors + unit, factor);
    add_product(slope, input, of_factors + unit);
    slope *= factor;
    write_floats(slope, slopes + unit);
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
    differentiate_units<Vector>(slopes, scratch.activations[layer + 1].data() + i * n_units,
                                scratch.products[layer].data() + i * n_units,
                                scratch.derivatives.data() + i * n_units, i % shape.n_members,
                                n_units, of_products + i * n_units);
  }
  multiply<Vector, kVectors>({scratch.scaled_inputs[layer].data(), 1, n_units}, of_products,
                             {n_units, n_inputs, n_units},
                             of_dense + places.weights(layer) - table);
  multiply<Vector, kVectors>({of_products, n_units, 1}, net.transposed + layer * n_units * n_units,
                             {n_inputs, n_units, n_units}, scratch.derivatives.data());
  for (std::size_t i = 0; i < n_inputs; ++i) {
    const std::size_t place = places.inputs(layer) + i % shape.n_members * n_units;
    differentiate_inputs<Vector>(
        net.parameters + place, scratch.activations[layer].data() + i * n_units, n_units,
        scratch.derivatives.data() + i * n_units, of_dense + place - table);
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
  differentiate_heads<Vector>(net, n_inputs, scratch, of_dense);
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
    differentiate_units<Vector>(
        slopes, scratch.activations[0].data() + i * n_units, scratch.sums.data() + row * n_units,
        scratch.derivatives.data() + i * n_units, i % shape.n_members, n_units, slope);
    for (std::size_t unit = 0; unit < n_units; unit += kWidthOf<Vector>) {
      Vector own;
      read_floats(slope + unit, own);
      add_product(own, 1.0F, of_sums + row * n_units + unit);
    }
  }
}

}  // namespace committee
