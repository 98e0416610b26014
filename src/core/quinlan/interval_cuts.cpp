#include "quinlan/interval_cuts.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"
#include "base/thread_pool.hpp"
#include "quinlan/cases.hpp"
#include "score/criterion.hpp"
#include "split/split.hpp"

namespace committee {
namespace {

constexpr double kTie = 1e-10;               // bits
constexpr std::size_t kCheckedSteps = 1024;  // as often stop requests are looked at

// The classes of the codes that occur, added up from the first: those of codes i .. j - 1 are the
// difference of two rows.
struct ClassSums {
  std::size_t n_classes = 0;
  std::vector<std::uint32_t> codes;
  std::vector<std::uint32_t> rows;  // one of each code
  std::vector<double> sums;         // codes.size() + 1 rows

  double of(std::size_t begin, std::size_t end, std::size_t k) const {
    return sums[end * n_classes + k] - sums[begin * n_classes + k];
  }
};

ClassSums add_up(const CodeColumn& column, const Target& target, const Cases& cases,
                 Monitor& monitor) {
  ClassSums sums;
  sums.n_classes = target.n_classes[0];
  std::vector<double> counts(std::size_t{column.n_codes()} * sums.n_classes, 0.0);
  std::vector<std::uint32_t> row_of(column.n_codes(), kNoCode);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i % kCheckedSteps == 0) monitor.check();
    const std::uint32_t row = cases.rows[i];
    const std::uint32_t code = column.at(row);
    counts[code * sums.n_classes + static_cast<std::uint32_t>(target.classes[row])] +=
        cases.weights[i];
    row_of[code] = row;
  }
  sums.sums.assign(sums.n_classes, 0.0);
  for (std::uint32_t code = 0; code < column.n_values; ++code) {
    if (code % kCheckedSteps == 0) monitor.check();
    if (row_of[code] == kNoCode) continue;
    sums.codes.push_back(code);
    sums.rows.push_back(row_of[code]);
    const std::size_t before = sums.sums.size() - sums.n_classes;
    for (std::size_t k = 0; k < sums.n_classes; ++k) {
      sums.sums.push_back(sums.sums[before + k] + counts[code * sums.n_classes + k]);
    }
  }
  return sums;
}

struct Part {
  double weight = 0.0;
  double entropy_sum = 0.0;  // entropy times weight
  double n_classes = 0.0;    // that occur

  double entropy() const { return weight > 0.0 ? entropy_sum / weight : 0.0; }
};

// Of codes begin .. end - 1.
Part part_of(const ClassSums& sums, std::size_t begin, std::size_t end) {
  Part part;
  for (std::size_t k = 0; k < sums.n_classes; ++k) {
    const double count = sums.of(begin, end, k);
    if (count <= kTie) continue;  // what rounding left
    part.weight += count;
    part.entropy_sum -= x_log2_x(count);
    part.n_classes += 1.0;
  }
  part.entropy_sum += x_log2_x(part.weight);
  return part;
}

bool pays(const Part& whole, const Part& left, const Part& right) {
  const double gain = whole.entropy() - (left.entropy_sum + right.entropy_sum) / whole.weight;
  const double k = whole.n_classes;
  // log2(3^k - 2), for any number of classes
  double power = 1.0;  // 3^-k
  for (double i = 0.0; i < k && power > 1e-20; ++i) power /= 3.0;
  const double choices = k * log2_of(3.0) + log2_of(1.0 - 2.0 * power);
  const double price = log2_of(std::max(whole.weight - 1.0, 1.0)) + choices - k * whole.entropy() +
                       left.n_classes * left.entropy() + right.n_classes * right.entropy();
  return gain > price / whole.weight + kTie;
}

// Where to cut codes begin .. end - 1: before the code that is returned; `end` for nowhere.
std::size_t best_cut(const ClassSums& sums, std::size_t begin, std::size_t end, Monitor& monitor) {
  const Part whole = part_of(sums, begin, end);
  std::size_t best = end;
  double least = 0.0;
  Part best_left;
  Part best_right;
  for (std::size_t cut = begin + 1; cut < end; ++cut) {
    if (cut % kCheckedSteps == 0) monitor.check();
    const Part left = part_of(sums, begin, cut);
    const Part right = part_of(sums, cut, end);
    const double after = left.entropy_sum + right.entropy_sum;
    if (best != end && after >= least - kTie * whole.weight) continue;
    best = cut;
    least = after;
    best_left = left;
    best_right = right;
  }
  return best != end && pays(whole, best_left, best_right) ? best : end;
}

}  // namespace

std::vector<Value> interval_cuts(const BinnedDataset& dataset, std::size_t feature,
                                 const Target& target, const Entries& entries, Monitor& monitor) {
  const BinnedFeature& binned = dataset.feature(feature);
  const Cases cases = make_cases(entries, case_unit(entries));
  const ClassSums sums = add_up(binned.column, target, cases, monitor);
  std::vector<Value> cuts;
  std::vector<Range> open{{0, sums.codes.size()}};
  while (!open.empty()) {
    const Range part = open.back();
    open.pop_back();
    monitor.check();
    if (part.end - part.begin < 2) continue;
    const std::size_t cut = best_cut(sums, part.begin, part.end, monitor);
    if (cut == part.end) continue;
    cuts.push_back(middle(binned.kind, dataset.high(feature, sums.rows[cut - 1]),
                          dataset.low(feature, sums.rows[cut])));
    open.push_back({part.begin, cut});
    open.push_back({cut, part.end});
  }
  std::sort(cuts.begin(), cuts.end(), [&](Value a, Value b) {
    return binned.kind == FeatureKind::kInteger ? a.integer < b.integer : a.real < b.real;
  });
  return cuts;
}

}  // namespace committee
