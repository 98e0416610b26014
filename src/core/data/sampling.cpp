#include "data/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/portable_math.hpp"
#include "base/random.hpp"

namespace committee {

AliasTable::AliasTable(std::span<const double> weights)
    : shares_(weights.size(), 1.0), others_(weights.size()) {
  std::iota(others_.begin(), others_.end(), 0U);
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0.0;  // of weights relative to the largest, which cannot overflow
  for (const double weight : weights) total += weight / largest;
  std::vector<std::uint32_t> light;
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    shares_[i] = weights[i] / largest / total * static_cast<double>(weights.size());
    (shares_[i] < 1.0 ? light : heavy).push_back(i);
  }
  while (!light.empty() && !heavy.empty()) {
    const std::uint32_t poor = light.back();
    const std::uint32_t rich = heavy.back();
    light.pop_back();
    others_[poor] = rich;
    shares_[rich] -= 1.0 - shares_[poor];
    if (shares_[rich] < 1.0) {
      heavy.pop_back();
      light.push_back(rich);
    }
  }
  // What rounding left over is as good as full, unless it must never be drawn.
  for (const std::uint32_t i : heavy) shares_[i] = 1.0;
  for (const std::uint32_t i : light) {
    if (weights[i] > 0.0) {
      shares_[i] = 1.0;
    } else {
      others_[i] = static_cast<std::uint32_t>(std::max_element(weights.begin(), weights.end()) -
                                              weights.begin());
    }
  }
  is_equal_ =
      std::all_of(shares_.begin(), shares_.end(), [](double share) { return share == 1.0; });
}

SamplingPlan::SamplingPlan(std::size_t n_rows, std::vector<std::uint32_t> unit_of_row,
                           std::vector<double> unit_weights, std::vector<Stratum> strata,
                           bool with_replacement, std::uint32_t n_portions)
    : n_rows_(n_rows),
      n_units_(n_rows),
      unit_of_row_(std::move(unit_of_row)),
      unit_weights_(std::move(unit_weights)),
      strata_(std::move(strata)),
      with_replacement_(with_replacement),
      n_portions_(n_portions) {
  if (!unit_of_row_.empty()) {
    if (unit_of_row_.size() != n_rows) throw std::invalid_argument("a unit for each row is needed");
    n_units_ = std::size_t{*std::max_element(unit_of_row_.begin(), unit_of_row_.end())} + 1;
  }
  if (!unit_weights_.empty() && unit_weights_.size() != n_units_) {
    throw std::invalid_argument("a weight for each unit is needed");
  }
  for (Stratum& stratum : strata_) {
    for (const std::uint32_t unit : stratum.units) {
      if (unit >= n_units_) throw std::invalid_argument("a stratum names a unit beyond the last");
    }
    if (!unit_weights_.empty()) {  // what can never be drawn is not in the stratum
      std::erase_if(stratum.units, [&](std::uint32_t u) { return unit_weights_[u] <= 0.0; });
    }
    if (stratum.units.empty() && stratum.n_draws > 0) {
      throw std::invalid_argument("a stratum has nothing to draw from");
    }
    if (!with_replacement_ && stratum.n_draws > stratum.units.size()) {
      throw std::invalid_argument("a stratum has fewer units than are drawn without replacement");
    }
    if (with_replacement_ && !unit_weights_.empty()) {
      std::vector<double> weights;
      for (const std::uint32_t unit : stratum.units) weights.push_back(unit_weights_[unit]);
      if (weights.empty()) weights.push_back(1.0);  // never read
      tables_.emplace_back(weights);
    }
  }
}

void SamplingPlan::draw(std::uint64_t seed, std::uint64_t index, std::vector<std::uint32_t>& counts,
                        Monitor* monitor) const {
  counts.assign(n_units_, 0);
  if (n_portions_ > 0) {
    deal(seed, index, counts);
  } else {
    const std::uint64_t key = derive_key(seed, index);
    for (std::size_t stratum = 0; stratum < strata_.size(); ++stratum) {
      const std::uint64_t stratum_key = derive_key(key, stratum);
      if (with_replacement_) {
        draw_with_replacement(stratum, stratum_key, counts, monitor);
      } else {
        draw_without(stratum, stratum_key, counts);
      }
    }
  }
  if (unit_of_row_.empty()) return;
  std::vector<std::uint32_t> of_rows(n_rows_);
  for (std::size_t row = 0; row < n_rows_; ++row) of_rows[row] = counts[unit_of_row_[row]];
  counts = std::move(of_rows);
}

void SamplingPlan::draw_with_replacement(std::size_t stratum, std::uint64_t key,
                                         std::vector<std::uint32_t>& counts,
                                         Monitor* monitor) const {
  const auto& [units, n_draws] = strata_[stratum];
  const auto n_units = static_cast<std::uint32_t>(units.size());
  Random random(key);
  constexpr std::uint64_t kPortion = std::uint64_t{1} << 20;  // between two looks at the monitor
  for (std::uint64_t begin = 0; begin < n_draws; begin += kPortion) {
    if (monitor != nullptr) monitor->check();
    const std::uint64_t n = std::min(kPortion, n_draws - begin);
    if (!tables_.empty()) {
      for (std::uint64_t i = 0; i < n; ++i) ++counts[units[tables_[stratum].draw(random)]];
    } else {
      for (std::uint64_t i = 0; i < n; ++i) ++counts[units[random.below(n_units)]];
    }
  }
}

void SamplingPlan::draw_without(std::size_t stratum, std::uint64_t key,
                                std::vector<std::uint32_t>& counts) const {
  const auto& [units, n_draws] = strata_[stratum];
  Random random(key);
  const auto n_drawn = static_cast<std::size_t>(n_draws);
  if (unit_weights_.empty()) {
    std::vector<std::uint32_t> pool = units;
    for (std::size_t i = 0; i < n_drawn; ++i) {
      const auto rest = static_cast<std::uint32_t>(pool.size() - i);
      std::swap(pool[i], pool[i + random.below(rest)]);
      counts[pool[i]] = 1;
    }
    return;
  }
  // Drawing one after the other by weight is the same as keeping the largest u^(1/weight)
  // (Efraimidis and Spirakis 2006), here by its logarithm.
  std::vector<std::pair<double, std::uint32_t>> keyed;
  for (const std::uint32_t unit : units) {
    keyed.emplace_back(log_of(1.0 - random.uniform()) / unit_weights_[unit], unit);
  }
  std::nth_element(keyed.begin(), keyed.begin() + static_cast<std::ptrdiff_t>(n_drawn), keyed.end(),
                   std::greater<>());
  for (std::size_t i = 0; i < n_drawn; ++i) counts[keyed[i].second] = 1;
}

void SamplingPlan::deal(std::uint64_t seed, std::uint64_t index,
                        std::vector<std::uint32_t>& counts) const {
  const std::uint64_t portion = index % n_portions_;
  std::uint64_t position = 0;  // runs on through the strata, so that portions differ by one unit
  for (std::size_t stratum = 0; stratum < strata_.size(); ++stratum) {
    Random random(derive_key(derive_key(seed, index / n_portions_), stratum));
    std::vector<std::uint32_t> units = strata_[stratum].units;
    for (std::size_t i = units.size(); i-- > 1;) {
      std::swap(units[i], units[random.below(static_cast<std::uint32_t>(i + 1))]);
    }
    for (const std::uint32_t unit : units) {
      if (position++ % n_portions_ == portion) counts[unit] = 1;
    }
  }
}

}  // namespace committee
