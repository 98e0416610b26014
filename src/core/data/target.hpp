// What a tree learns from: the target, and the rows to learn on.
//
// An *entry* is a row of the dataset with a weight. Bootstrap counts, folds and fractional cases
// are all entries; a row that is not used has none. `repetitions` says how many rows an entry
// stands for when rows are counted (min_samples_leaf and the like).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace committee {

// Of an output.
constexpr std::uint32_t kMaxClasses = 65535;

struct Target {
  bool is_classification = false;
  std::size_t n_outputs = 1;
  std::vector<std::uint32_t> n_classes;   // classification: classes of each output
  std::span<const std::int32_t> classes;  // classification: n_rows x n_outputs
  std::span<const double> reals;          // regression: n_rows x n_outputs

  // Numbers a leaf predicts: all classes of all outputs, or one number an output.
  std::size_t n_values() const {
    if (!is_classification) return n_outputs;
    std::size_t total = 0;
    for (const std::uint32_t n : n_classes) total += n;
    return total;
  }
};

struct Entries {
  std::vector<std::uint32_t> rows;
  std::vector<double> weights;
  std::vector<std::uint32_t> repetitions;  // empty: one each
  bool weights_are_repetitions = false;    // weights are these whole numbers

  std::size_t size() const { return rows.size(); }
  std::uint32_t repetitions_of(std::size_t entry) const {
    return repetitions.empty() ? 1U : repetitions[entry];
  }
};

// The entries of all rows with a positive weight. An empty `weights` gives every row weight one;
// an empty `counts` counts a row as its weight when all weights are whole, else once.
Entries make_entries(std::size_t n_rows, std::span<const double> weights,
                     std::span<const std::uint32_t> counts);

}  // namespace committee
