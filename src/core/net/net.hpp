// A net that predicts: its parameters, and what the passes over rows read instead of some of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/monitor.hpp"
#include "net/block_pass.hpp"
#include "net/net_shape.hpp"

namespace committee {

class Net {
 public:
  // `parameters` has NetPlaces::size() numbers.
  Net(NetShape shape, std::span<const float> parameters);
  // Parameters to begin with: a function of the seed.
  Net(NetShape shape, std::uint64_t seed);

  const NetShape& shape() const { return shape_; }
  const NetPlaces& places() const { return places_; }
  std::span<const float> parameters() const { return parameters_; }
  std::span<float> parameters() { return parameters_; }
  NetView view() const;

  // The mean over members of probabilities or numbers, n_outputs a row.
  void predict(const EncodedRows& table, bool is_class, std::size_t n_threads, Monitor& monitor,
               double* out) const;

  // To be called when parameters have changed: of a feature, or of the dense layers.
  void update_feature(std::size_t feature);
  void update_dense();

 private:
  void update_all();

  NetShape shape_;
  NetPlaces places_;
  AlignedVector<float> parameters_;
  AlignedVector<float> rows_;
  AlignedVector<float> steps_;
  AlignedVector<float> transposed_;
};

}  // namespace committee
