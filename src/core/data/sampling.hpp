// Which rows a member of an ensemble learns from: how often each row is drawn.
//
// A *plan* says what may be drawn; a draw is a pure function of the plan and a key, so that the
// sample of a member can be made again at any time, in any order, in any place (training,
// out-of-bag estimates, foreign estimators in another process).
//
//   unit      what is drawn: a row, or all rows of a group together
//   stratum   units that are drawn from separately, so that each keeps its share
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"

namespace committee {

// Draws an item in constant time with given probabilities (Walker 1977, Vose 1991).
class AliasTable {
 public:
  // Weights are >= 0, finite, with a positive sum.
  explicit AliasTable(std::span<const double> weights);
  template <typename Random>
  std::uint32_t draw(Random& random) const {
    const std::uint32_t slot = random.below(static_cast<std::uint32_t>(shares_.size()));
    if (is_equal_) {
      random.skip();
      return slot;
    }
    return random.uniform() < shares_[slot] ? slot : others_[slot];
  }

 private:
  std::vector<double> shares_;         // of a slot's own item
  std::vector<std::uint32_t> others_;  // who takes the rest
  bool is_equal_ = false;              // all shares are one, as where all weights are equal
};

struct Stratum {
  std::vector<std::uint32_t> units;
  std::uint64_t n_draws = 0;
};

class SamplingPlan {
 public:
  // `unit_of_row` is empty when each row is a unit. `unit_weights` (empty: equal) are draw
  // probabilities; units of weight zero are never drawn. With `n_portions` > 0 the units are
  // shuffled and dealt out: member i gets portion i % n_portions, a new deal for each round.
  SamplingPlan(std::size_t n_rows, std::vector<std::uint32_t> unit_of_row,
               std::vector<double> unit_weights, std::vector<Stratum> strata, bool with_replacement,
               std::uint32_t n_portions);

  std::size_t n_rows() const { return n_rows_; }

  // How often member `index` of an ensemble with this seed draws each row. A monitor can stop it.
  void draw(std::uint64_t seed, std::uint64_t index, std::vector<std::uint32_t>& counts,
            Monitor* monitor = nullptr) const;

 private:
  void draw_with_replacement(std::size_t stratum, std::uint64_t key,
                             std::vector<std::uint32_t>& counts, Monitor* monitor) const;
  void draw_without(std::size_t stratum, std::uint64_t key,
                    std::vector<std::uint32_t>& counts) const;
  void deal(std::uint64_t seed, std::uint64_t index, std::vector<std::uint32_t>& counts) const;

  std::size_t n_rows_;
  std::size_t n_units_;
  std::vector<std::uint32_t> unit_of_row_;
  std::vector<double> unit_weights_;
  std::vector<Stratum> strata_;
  std::vector<AliasTable> tables_;  // one a stratum, for weighted draws with replacement
  bool with_replacement_;
  std::uint32_t n_portions_;
};

}  // namespace committee
