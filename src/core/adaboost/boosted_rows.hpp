// The rows of AdaBoost: their classes, their weights, and what the ensemble predicts for them.
//
// A learner puts every row into a *group* (a leaf, or the class it predicts). What a round does to
// a row depends on its group and its class alone: a table of factors for weights, and one of votes.
//
// Weights are doubles, of one repetition of a row each; the sum of all is kept between 1/64 and 32
// by powers of two, which change no digit. What users read are exact sums of multiples of 2^-110.
// Searches see multiples of 2^-56. Both are at least one, so that no row vanishes. A row that
// counts twice is that row twice in all of these, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/exact_sum.hpp"
#include "base/thread_pool.hpp"
#include "boost/node_rows.hpp"

namespace committee {

// The group of each row.
using Groups = std::span<const std::uint32_t>;

// Whether all are below a number of groups.
bool are_below(Groups groups, std::size_t n_groups);

class BoostedRows {
 public:
  // `weights` may be empty: all one. Throws std::invalid_argument where no row has any.
  BoostedRows(std::span<const std::int32_t> classes, std::uint32_t n_classes,
              std::span<const double> weights, std::size_t n_threads);

  std::size_t n_rows() const { return classes_.size(); }
  std::uint32_t n_classes() const { return n_classes_; }
  std::uint16_t class_of(std::size_t row) const { return classes_[row]; }
  // How often a row counts; 0: it is absent.
  std::uint32_t count(std::size_t row) const { return counts_[row]; }

  // The weight of each class in each group, as shares of all: n_groups x n_classes.
  std::vector<double> shares(Groups groups, std::size_t n_groups) const;

  // Multiplies each weight by factors[group * n_classes + class]. `growth` is what the sum of all
  // is multiplied by, near enough to keep numbers in their range; std::invalid_argument where it
  // is far off, and std::logic_error from whatever needs the weights then.
  void reweigh(Groups groups, std::span<const double> factors, double growth);

  // Adds votes[group * n_classes + ...] to the scores of each row; returns the share of the rows,
  // by the weights they were given, whose class does not have the largest score (the first of
  // equals).
  double add_votes(Groups groups, std::span<const double> votes);
  std::span<const double> scores() const { return scores_; }  // n_rows x n_classes

  // The weight of a row as a share of all.
  void distribution(std::span<double> out) const;

  // ---- for searches that keep sums of integer weights ----

  // From now on, changes are noted for the caller, and no longer for who called before. Returns a
  // number to take them with.
  std::uint64_t track();
  // The integer weight of each row, repetitions included.
  std::span<const std::int64_t> whole_weights() const { return whole_; }
  // By how much the weights of rows have changed since the last call, class by class; nothing
  // where everything has to be added up anew.
  bool take_changes(std::uint64_t tracker, std::vector<AlignedVector<RowEntry>>& changes);

 private:
  template <typename Visit>
  void for_each_part(std::size_t n_parts, const Visit& visit) const;
  std::size_t n_parts() const;
  // The rows of a part whose weights change, and how many of each class.
  struct Changing {
    std::span<std::uint32_t> rows;
    std::vector<std::size_t> n_of_class;
  };
  Changing find_changing(Groups groups, std::span<const std::uint8_t> changes, Range rows);
  Wide change(Groups groups, std::span<const double> factors, const Changing& changing,
              std::vector<RowEntry*> next);
  void multiply(Groups groups, std::span<const double> factors, double growth);
  void renew(Groups groups, std::span<const double> factors, double growth);
  template <bool kWhole, std::uint32_t kClasses>
  Wide add_votes_of(Groups groups, std::span<const double> votes, Range rows);
  void scale_weights();
  void require_sound() const;
  void multiply_all(int exponent);  // by 2^exponent
  void add_up();
  std::int64_t whole_weight(std::size_t row) const;

  std::uint32_t n_classes_;
  std::size_t n_threads_;
  std::vector<std::uint16_t> classes_;
  std::vector<std::uint32_t> counts_;
  AlignedVector<double> weights_;  // of one repetition; means nothing for absent rows
  std::vector<double> given_;      // the weights of the start, if not all are one
  Wide total_ = 0;                 // of weights, repetitions included
  Wide given_total_ = 0;
  AlignedVector<double> scores_;
  bool is_sound_ = true;  // false where a change of weights was left half-way
  bool tracks_ = false;
  std::uint64_t tracker_ = 0;
  bool is_renewed_ = true;  // all weights have changed
  AlignedVector<std::int64_t> whole_;
  std::vector<AlignedVector<RowEntry>> changes_;  // of each class
  AlignedVector<std::uint32_t> changing_;         // working memory of reweigh
};

}  // namespace committee
