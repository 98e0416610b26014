// How good a set of rows is: the criteria and what sets them apart.
//
// A new criterion of classes is an entry of `Criterion`, which `kLastCriterion` may have to name, a
// specialisation of `CriterionOf`, a case of `visit_criterion`, and its name in `_criteria` of the
// trees in Python; everything else follows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/portable_math.hpp"

namespace committee {

// Files hold these numbers.
enum class Criterion : std::uint8_t {
  kGini = 0,
  kEntropy = 1,
  kError = 2,
  kSquaredError = 3,
  kAbsoluteError = 4,
  kPoisson = 5,
};
constexpr Criterion kLastCriterion = Criterion::kPoisson;

inline double x_log2_x(double x) { return x > 0.0 ? x * log2_of(x) : 0.0; }

// The same for a whole number: looked up where it is small, as nearly all are in deep nodes.
class WholeLogs {
 public:
  static double x_log2_x(std::uint64_t x) {
    static const WholeLogs logs;
    return x < kSize ? logs.table_[x] : committee::x_log2_x(static_cast<double>(x));
  }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 14;
  WholeLogs() : table_(kSize) {
    for (std::size_t x = 0; x < kSize; ++x) {
      table_[x] = committee::x_log2_x(static_cast<double>(x));
    }
  }
  std::vector<double> table_;
};

// What sets one criterion apart: its name, whether it is one of classes, and the power of the
// target's unit that its impurity is in. A criterion of classes also has
//   term        what the weight of one class adds to a score,
//   join        how two terms are put together,
//   score       the score of rows, from the terms of their classes and their total weight,
//   pure_score  the score of rows of a single class, which no other rows of that weight exceed,
//   grown       the terms after the weight of one class has grown; only where this is exact for
//               whole weights with a sum below 2^26, see split/class_search.hpp.
// Weights are whole numbers or doubles. Twice the weights must give twice the score, because
// blocks count weights in units of their own; pure_score is linear. There is no place
// for parameters of a criterion: they have to be constants.
template <Criterion kCriterion>
struct CriterionOf;

template <>
struct CriterionOf<Criterion::kGini> {
  static constexpr std::string_view kName = "gini";
  static constexpr bool kIsOfClasses = true;
  static constexpr int kTargetPower = 0;

  template <typename Weight>
  static double term(Weight weight) {
    return static_cast<double>(weight) * static_cast<double>(weight);
  }
  static double join(double left, double right) { return left + right; }
  static double grown(double terms, std::int64_t before, std::int64_t after) {
    return terms + (term(after) - term(before));
  }
  template <typename Weight>
  static double score(double terms, Weight total) {
    return terms / static_cast<double>(total);
  }
  static double pure_score(double total) { return total; }
};

template <>
struct CriterionOf<Criterion::kEntropy> {
  static constexpr std::string_view kName = "entropy";
  static constexpr bool kIsOfClasses = true;
  static constexpr int kTargetPower = 0;

  template <typename Weight>
  static double term(Weight weight) {
    if constexpr (std::is_integral_v<Weight>) {
      return WholeLogs::x_log2_x(static_cast<std::uint64_t>(weight));
    } else {
      return x_log2_x(weight);
    }
  }
  static double join(double left, double right) { return left + right; }
  template <typename Weight>
  static double score(double terms, Weight total) {
    return terms - term(total);
  }
  static double pure_score(double) { return 0.0; }
};

template <>
struct CriterionOf<Criterion::kError> {
  static constexpr std::string_view kName = "error";
  static constexpr bool kIsOfClasses = true;
  static constexpr int kTargetPower = 0;

  template <typename Weight>
  static double term(Weight weight) {
    return static_cast<double>(weight);
  }
  static double join(double left, double right) { return std::max(left, right); }
  static double grown(double terms, std::int64_t, std::int64_t after) {
    return join(terms, term(after));
  }
  template <typename Weight>
  static double score(double terms, Weight) {
    return terms;
  }
  static double pure_score(double total) { return total; }
};

template <>
struct CriterionOf<Criterion::kSquaredError> {
  static constexpr std::string_view kName = "squared_error";
  static constexpr bool kIsOfClasses = false;
  static constexpr int kTargetPower = 2;
};

template <>
struct CriterionOf<Criterion::kAbsoluteError> {
  static constexpr std::string_view kName = "absolute_error";
  static constexpr bool kIsOfClasses = false;
  static constexpr int kTargetPower = 1;
};

template <>
struct CriterionOf<Criterion::kPoisson> {
  static constexpr std::string_view kName = "poisson";
  static constexpr bool kIsOfClasses = false;
  static constexpr int kTargetPower = 1;
};

template <Criterion kCriterion>
using CriterionConstant = std::integral_constant<Criterion, kCriterion>;

// Calls `visit` with the criterion as a constant. Besides the enumeration this is the only place
// that lists all criteria.
template <typename Visit>
auto visit_criterion(Criterion criterion, Visit&& visit) {
  switch (criterion) {
    case Criterion::kGini:
      return visit(CriterionConstant<Criterion::kGini>{});
    case Criterion::kEntropy:
      return visit(CriterionConstant<Criterion::kEntropy>{});
    case Criterion::kError:
      return visit(CriterionConstant<Criterion::kError>{});
    case Criterion::kSquaredError:
      return visit(CriterionConstant<Criterion::kSquaredError>{});
    case Criterion::kAbsoluteError:
      return visit(CriterionConstant<Criterion::kAbsoluteError>{});
    case Criterion::kPoisson:
      return visit(CriterionConstant<Criterion::kPoisson>{});
  }
  throw std::logic_error("unknown criterion");
}

// The same for a criterion of classes; any other is an error.
template <typename Visit>
auto visit_class_criterion(Criterion criterion, Visit&& visit) {
  using Result = std::invoke_result_t<Visit&, CriterionConstant<Criterion::kGini>>;
  return visit_criterion(
      criterion, [&]<Criterion kCriterion>(CriterionConstant<kCriterion> constant) -> Result {
        if constexpr (CriterionOf<kCriterion>::kIsOfClasses) {
          return visit(constant);
        } else {
          throw std::logic_error("the criterion is not one of classes");
        }
      });
}

inline bool is_class_criterion(Criterion criterion) {
  return visit_criterion(criterion, []<Criterion kCriterion>(CriterionConstant<kCriterion>) {
    return CriterionOf<kCriterion>::kIsOfClasses;
  });
}
inline std::string_view criterion_name(Criterion criterion) {
  return visit_criterion(criterion, []<Criterion kCriterion>(CriterionConstant<kCriterion>) {
    return CriterionOf<kCriterion>::kName;
  });
}
inline int target_power(Criterion criterion) {
  return visit_criterion(criterion, []<Criterion kCriterion>(CriterionConstant<kCriterion>) {
    return CriterionOf<kCriterion>::kTargetPower;
  });
}

// The score of rows from the weights of their classes, which are added up as numbers of type Sum.
template <Criterion kCriterion, typename Sum>
double class_score(const std::int64_t* weights, std::size_t n_classes) {
  using Of = CriterionOf<kCriterion>;
  Sum total{};
  double terms = 0.0;
  for (std::size_t i = 0; i < n_classes; ++i) {
    const auto weight = static_cast<Sum>(weights[i]);
    total += weight;
    terms = Of::join(terms, Of::term(weight));
  }
  return Of::score(terms, total);
}

}  // namespace committee
