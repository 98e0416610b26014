#include "gradient_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "thread_pool.hpp"

namespace committee {
namespace {

// Sums of a part of the rows. Parts have a fixed size, so that sums do not depend on threads.
constexpr std::size_t kPartRows = 16384;
struct Magnitudes {
  double weight = 0.0;
  double gradient = 0.0;
  double hessian = 0.0;
  double largest_hessian = 0.0;  // without its weight

  void add(const Magnitudes& other) {
    weight += other.weight;
    gradient += other.gradient;
    hessian += other.hessian;
    largest_hessian = std::max(largest_hessian, other.largest_hessian);
  }
};

// Rounds a number below 2^51 without a call: its bits end up in the mantissa of 1.5 * 2^52.
inline std::int64_t nearest(double value) {
  constexpr double kMagic = 6755399441055744.0;
  return std::bit_cast<std::int64_t>(value + kMagic) - std::bit_cast<std::int64_t>(kMagic);
}

class Filler {
 public:
  Filler(std::span<const double> gradients, std::span<const double> hessians,
         const RowWeights& weights, std::span<const std::uint8_t> sample, GradientRows& rows)
      : gradients_(gradients),
        hessians_(hessians),
        weights_(weights),
        sample_(sample),
        rows_(rows) {}

  void fill(std::size_t n_threads) {
    const std::size_t n_parts = (gradients_.size() + kPartRows - 1) / kPartRows;
    std::vector<Magnitudes> parts(n_parts);
    parallel_for(n_parts, n_threads, [&](std::size_t part) { parts[part] = measure(part); });
    Magnitudes all;
    for (const Magnitudes& part : parts) all.add(part);
    choose_grids(all);
    rows_.packed.resize(gradients_.size());
    parallel_for(n_parts, n_threads, [&](std::size_t part) { pack(part); });
  }

 private:
  double weight(std::size_t row) const {
    if (!sample_.empty() && sample_[row] == 0) return 0.0;
    return weights_.weights.empty() ? 1.0 : weights_.weights[row];
  }
  double hessian(std::size_t row) const { return hessians_.empty() ? 1.0 : hessians_[row]; }
  std::size_t end(std::size_t part) const {
    return std::min((part + 1) * kPartRows, gradients_.size());
  }

  Magnitudes measure(std::size_t part) const {
    Magnitudes sums;
    for (std::size_t row = part * kPartRows; row < end(part); ++row) {
      const double w = weight(row);
      sums.weight += w;
      sums.gradient += w * std::abs(gradients_[row]);
      sums.hessian += w * hessian(row);
      sums.largest_hessian = std::max(sums.largest_hessian, w > 0.0 ? hessian(row) : 0.0);
    }
    return sums;
  }

  // The largest grid on which numbers with this sum of magnitudes stay below 2^bits, each of the
  // `n_rows` being rounded up at worst.
  static int grid(double magnitude, double n_rows, int bits) {
    const double room = std::ldexp(1.0, bits) - n_rows;
    if (!(magnitude > 0.0) || room <= 1.0) return 0;
    int exponent = 0;
    int room_exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
    std::frexp(room, &room_exponent);  // room >= 2^(room_exponent - 1)
    return room_exponent - 1 - exponent;
  }

  void choose_grids(const Magnitudes& all) {
    const double n_rows =
        weights_.are_repetitions ? all.weight : static_cast<double>(gradients_.size());
    const int row_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_rows)));
    rows_.counts_rows = hessians_.empty() && weights_.are_repetitions;
    if (rows_.counts_rows) {
      rows_.shift = row_bits + 1;
      rows_.hessian_exponent = 0;
      rows_.largest_hessian = 1;
    } else {
      constexpr int kHessianBits = 12;
      constexpr int kMostBits = 32;
      rows_.shift = std::max(std::min(row_bits + kHessianBits, kMostBits), row_bits + 2);
      rows_.hessian_exponent = grid(all.hessian, n_rows, rows_.shift);
      const double largest = std::ldexp(all.largest_hessian, rows_.hessian_exponent);
      rows_.largest_hessian = static_cast<std::int64_t>(largest) + 1;
    }
    // Not above 2^50: sums become doubles by a trick that needs it (boost_search.cpp).
    rows_.gradient_exponent = grid(all.gradient, n_rows, std::min(62 - rows_.shift, 50));
  }

  void pack(std::size_t part) {
    const bool repeats = weights_.are_repetitions;
    const std::int64_t unit = std::int64_t{1} << rows_.shift;
    const double gradient_scale = std::ldexp(1.0, rows_.gradient_exponent);
    const double hessian_scale = std::ldexp(1.0, rows_.hessian_exponent);
    for (std::size_t row = part * kPartRows; row < end(part); ++row) {
      const double w = weight(row);
      // A row of weight two must add exactly what two rows add: whole weights multiply the
      // rounded numbers, others are rounded with them.
      const double factor = repeats ? 1.0 : w;
      const std::int64_t times = repeats ? static_cast<std::int64_t>(w) : 1;
      const std::int64_t g = nearest(gradients_[row] * factor * gradient_scale);
      const std::int64_t h = nearest(hessian(row) * factor * hessian_scale);
      rows_.packed[row] = w > 0.0 ? times * (g * unit + h) : 0;
    }
  }

  std::span<const double> gradients_;
  std::span<const double> hessians_;
  const RowWeights& weights_;
  std::span<const std::uint8_t> sample_;
  GradientRows& rows_;
};

}  // namespace

void fill_gradient_rows(std::span<const double> gradients, std::span<const double> hessians,
                        const RowWeights& weights, std::span<const std::uint8_t> sample,
                        std::size_t n_threads, GradientRows& rows) {
  Filler(gradients, hessians, weights, sample, rows).fill(n_threads);
}

}  // namespace committee
