// From the rows of a table to the outputs of all members, for one block. Included by block_pass.cpp
// only, which compiles it for each instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "base/vector_math.hpp"
#include "net/block_pass.hpp"
#include "net/matrix_product.hpp"

namespace committee {

// The sums of the first layer of one row, for `kVectors` vectors of units that stay in registers.
template <typename Vector, std::size_t kVectors>
COMMITTEE_INLINE void add_features(const NetView& net, const std::uint32_t* codes,
                                   const float* fractions, std::size_t first_unit, float* out) {
  constexpr std::size_t kWidth = sizeof(Vector) / sizeof(float);
  const std::size_t n_units = net.shape->n_units;
  Vector sums[kVectors] = {};
  for (std::size_t k = 0; k < net.shape->features.size(); ++k) {
    if (codes[k] == kNoTableRow) continue;
    const std::size_t place = codes[k] * n_units + first_unit;
    Vector row;
    if (net.shape->features[k].is_number()) {
      for (std::size_t j = 0; j < kVectors; ++j) {
        Vector step;
        std::memcpy(&row, net.rows + place + j * kWidth, sizeof(row));
        std::memcpy(&step, net.steps + place + j * kWidth, sizeof(step));
        sums[j] += row + fractions[k] * step;
      }
    } else {
      for (std::size_t j = 0; j < kVectors; ++j) {
        std::memcpy(&row, net.rows + place + j * kWidth, sizeof(row));
        sums[j] += row;
      }
    }
  }
  for (std::size_t j = 0; j < kVectors; ++j) {
    std::memcpy(out + first_unit + j * kWidth, &sums[j], sizeof(Vector));
  }
}

template <typename Vector, std::size_t kVectors>
COMMITTEE_INLINE void first_layer(const NetView& net, const EncodedRows& table,
                                  const BlockRows& rows, float* sums) {
  constexpr std::size_t kWidth = sizeof(Vector) / sizeof(float);
  const std::size_t n_features = net.shape->features.size();
  const std::size_t n_units = net.shape->n_units;
  for (std::size_t i = 0; i < rows.n_rows; ++i) {
    const std::size_t cell = rows.at(i) * n_features;
    float* const out = sums + i * n_units;
    std::size_t unit = 0;
    for (; unit + kVectors * kWidth <= n_units; unit += kVectors * kWidth) {
      add_features<Vector, kVectors>(net, table.codes + cell, table.fractions + cell, unit, out);
    }
    for (; unit < n_units; unit += 16) {
      add_features<Vector, 16 / kWidth>(net, table.codes + cell, table.fractions + cell, unit, out);
    }
  }
}

// One for units that are kept and zero for those that are left out: a hash of their numbers, by the
// last step of Murmur's, decides.
template <typename Vector>
COMMITTEE_INLINE void keep_units(std::uint32_t key, std::uint32_t first_unit,
                                 std::uint32_t threshold, Vector& out) {
  constexpr std::array<std::uint32_t, 16> kLane{0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};
  typename Words<Vector>::type x;
  std::memcpy(&x, kLane.data(), sizeof(x));
  x = key + (x + first_unit) * 0x9E3779B1U;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  x ^= x >> 16;
  out = x >= threshold ? Vector{} + 1.0F : Vector{};
}

// What the rows of one layer of a block have in common.
struct Activation {
  std::size_t n_members = 0;
  std::size_t n_units = 0;
  std::size_t n_sums = 0;  // rows of sums: one for each row, or one for each row and member
  const float* scales = nullptr;
  const float* shifts = nullptr;
  Dropout dropout;
  std::size_t first = 0;  // number of the first row of members, for dropout
};

// out = max(sum * scale + shift, 0), for each row and member.
template <typename Vector>
COMMITTEE_INLINE void activate(const Activation& layer, const float* sums, std::size_t n_rows,
                               float* out) {
  const std::size_t n_units = layer.n_units;
  const bool drops = layer.dropout.share > 0.0F;
  const auto threshold = static_cast<std::uint32_t>(layer.dropout.share * 4294967040.0F);
  const float kept = 1.0F / (1.0F - layer.dropout.share);
  for (std::size_t i = 0; i < n_rows * layer.n_members; ++i) {
    const std::size_t member = i % layer.n_members;
    const std::size_t own = layer.n_sums == n_rows ? i / layer.n_members : i;
    const auto key = static_cast<std::uint32_t>(derive_key(layer.dropout.key, layer.first + i));
    for (std::size_t unit = 0; unit < n_units; unit += kWidthOf<Vector>) {
      Vector value;
      Vector scale;
      Vector shift;
      read_floats(sums + own * n_units + unit, value);
      read_floats(layer.scales + member * n_units + unit, scale);
      read_floats(layer.shifts + member * n_units + unit, shift);
      value = value * scale + shift;
      value = value > 0.0F ? value : Vector{};
      if (drops) {
        keep_units(key, static_cast<std::uint32_t>(unit), threshold, scale);
        value *= scale * kept;
      }
      write_floats(value, out + i * n_units + unit);
    }
  }
}

// Rows of members times the factors of the member.
template <typename Vector>
COMMITTEE_INLINE void scale_rows(const float* rows, std::size_t n_rows, const float* factors,
                                 std::size_t n_members, std::size_t n_units, float* out) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    for (std::size_t unit = 0; unit < n_units; unit += kWidthOf<Vector>) {
      Vector value;
      Vector factor;
      read_floats(rows + i * n_units + unit, value);
      read_floats(factors + i % n_members * n_units + unit, factor);
      value *= factor;
      write_floats(value, out + i * n_units + unit);
    }
  }
}

// The sum of products of two rows of units: sixteen interleaved sums, then those in pairs.
COMMITTEE_INLINE float inner_product(const float* left, const float* right, std::size_t n_units) {
  Floats16 sums = {};
  for (std::size_t unit = 0; unit < n_units; unit += 16) {
    Floats16 a;
    Floats16 b;
    std::memcpy(&a, left + unit, sizeof(a));
    std::memcpy(&b, right + unit, sizeof(b));
    sums += a * b;
  }
  std::array<float, 16> lanes;
  std::memcpy(lanes.data(), &sums, sizeof(sums));
  for (std::size_t width = 8; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

template <typename Vector, std::size_t kVectors>
COMMITTEE_INLINE void forward_code(const NetView& net, const EncodedRows& table,
                                   const BlockRows& rows, const Dropout& dropout, std::size_t first,
                                   BlockScratch& scratch) {
  const NetShape& shape = *net.shape;
  const NetPlaces& places = *net.places;
  const std::size_t n_units = shape.n_units;
  const std::size_t n_inputs = rows.n_rows * shape.n_members;
  first_layer<Vector, kVectors>(net, table, rows, scratch.sums.data());
  Activation layer{.n_members = shape.n_members,
                   .n_units = n_units,
                   .n_sums = rows.n_rows,
                   .scales = net.parameters + places.first_scales(),
                   .shifts = net.parameters + places.first_shifts(),
                   .dropout = dropout,
                   .first = first * shape.n_members};
  activate<Vector>(layer, scratch.sums.data(), rows.n_rows, scratch.activations[0].data());
  for (std::size_t k = 0; k < shape.n_layers; ++k) {
    scale_rows<Vector>(scratch.activations[k].data(), n_inputs, net.parameters + places.inputs(k),
                       shape.n_members, n_units, scratch.scaled_inputs[k].data());
    multiply<Vector, kVectors>({scratch.scaled_inputs[k].data(), n_units, 1},
                               net.parameters + places.weights(k), {n_inputs, n_units, n_units},
                               scratch.products[k].data());
    layer.n_sums = n_inputs;
    layer.scales = net.parameters + places.scales(k);
    layer.shifts = net.parameters + places.shifts(k);
    layer.dropout.key = derive_key(dropout.key, k);
    activate<Vector>(layer, scratch.products[k].data(), rows.n_rows,
                     scratch.activations[k + 1].data());
  }
  const float* const last = scratch.activations[shape.n_layers].data();
  for (std::size_t i = 0; i < n_inputs; ++i) {
    const std::size_t head = i % shape.n_members * shape.n_outputs;
    for (std::size_t k = 0; k < shape.n_outputs; ++k) {
      const float* const weights = net.parameters + places.heads() + (head + k) * n_units;
      scratch.outputs[i * shape.n_outputs + k] =
          inner_product(last + i * n_units, weights, n_units) +
          net.parameters[places.head_shifts() + head + k];
    }
  }
}

// Probabilities of the outputs of a row of a member; both arrays have room for whole vectors.
COMMITTEE_INLINE void to_shares(const float* outputs, std::size_t n_outputs, double* shares) {
  double largest = outputs[0];
  for (std::size_t k = 1; k < n_outputs; ++k) {
    largest = outputs[k] > largest ? outputs[k] : largest;
  }
  double sum = 0.0;
  for (std::size_t k = 0; k < n_outputs; k += kLanes) {
    const std::size_t n = n_outputs - k < kLanes ? n_outputs - k : kLanes;
    Doubles gap = {};
    Doubles share;
    for (std::size_t lane = 0; lane < n; ++lane) gap[lane] = outputs[k + lane] - largest;
    exp_of_negative(gap, share);
    for (std::size_t lane = 0; lane < n; ++lane) {
      shares[k + lane] = share[lane];
      sum += share[lane];
    }
  }
  for (std::size_t k = 0; k < n_outputs; ++k) shares[k] /= sum;
}

}  // namespace committee
