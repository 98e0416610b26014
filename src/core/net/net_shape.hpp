// The sizes of a net, and where each of its parameters lies in one array.
//
// A net is a committee of small nets, its *members*, that share most of their weights:
//
//   features ── table ──> z ── act(z * scale + shift) ──> dense layers ──> heads
//              (shared)         (of each member)           (shared weights, factors of each member)
//
// The *table* is the first layer. It has one row of `n_units` numbers for each level of a category
// and for each *knot* of a number, between which rows are mixed in proportion: each unit adds up
// piecewise linear functions of the numbers. Whatever the number of knots, two rows are read for a
// number and one for a category. A dense layer multiplies its input by factors of the member, then
// by weights that all members share, then by factors of the member again (BatchEnsemble).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace committee {

constexpr std::size_t kUnitStep = 16;               // the number of units is a multiple of it
constexpr std::uint32_t kNoTableRow = 0xFFFFFFFFU;  // a level that nothing is known about: zeros

// The rows of the table that belong to a feature: a number has its knots and a row for missing
// values, a category (without knots) a row for each of its codes.
struct NetFeature {
  std::uint32_t first_row = 0;
  std::uint32_t n_knots = 0;
  std::uint32_t n_rows = 0;

  bool is_number() const { return n_knots > 0; }
};

struct NetShape {
  std::vector<NetFeature> features;
  std::vector<float> knots;  // the value of each row of the table that is a knot
  std::size_t n_units = 0;
  std::size_t n_layers = 0;  // dense layers
  std::size_t n_members = 0;
  std::size_t n_outputs = 0;

  std::size_t n_table_rows() const { return knots.size(); }
  std::size_t n_table() const { return knots.size() * n_units; }
};

// Offsets of parameters. The rows of a number are stored as a slope, what the function adds to it
// from knot to knot, and the row for missing values: steps that are near to each other learn alike.
class NetPlaces {
 public:
  explicit NetPlaces(const NetShape& shape)
      : n_units_(shape.n_units),
        n_of_members_(shape.n_members * shape.n_units),
        first_(shape.n_table()),
        dense_(first_ + 2 * n_of_members_),
        layer_(shape.n_units * shape.n_units + 3 * n_of_members_),
        heads_(dense_ + shape.n_layers * layer_),
        head_shifts_(heads_ + n_of_members_ * shape.n_outputs),
        size_(head_shifts_ + shape.n_members * shape.n_outputs) {}

  // The table begins at zero. Of the first layer: a row for each member.
  std::size_t first_scales() const { return first_; }
  std::size_t first_shifts() const { return first_ + n_of_members_; }
  // Of a dense layer: weights row by row of the input, then rows for each member.
  std::size_t weights(std::size_t layer) const { return dense_ + layer * layer_; }
  std::size_t inputs(std::size_t layer) const { return weights(layer) + n_units_ * n_units_; }
  std::size_t scales(std::size_t layer) const { return inputs(layer) + n_of_members_; }
  std::size_t shifts(std::size_t layer) const { return scales(layer) + n_of_members_; }
  // For each member and output a row of units; then a number for each member and output.
  std::size_t heads() const { return heads_; }
  std::size_t head_shifts() const { return head_shifts_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t n_units_;
  std::size_t n_of_members_;
  std::size_t first_;
  std::size_t dense_;
  std::size_t layer_;
  std::size_t heads_;
  std::size_t head_shifts_;
  std::size_t size_;
};

// Rows as the table reads them, row by row: for each feature a row of the table, and for numbers
// how far the value is on its way to the next row, in [0, 1].
struct EncodedRows {
  const std::uint32_t* codes = nullptr;
  const float* fractions = nullptr;
  std::size_t n_rows = 0;
};

}  // namespace committee
