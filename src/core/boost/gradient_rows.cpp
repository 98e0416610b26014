#include "boost/gradient_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "base/thread_pool.hpp"

namespace committee {
namespace {

// Sums of a part of the rows. Parts have a fixed size, so that sums do not depend on threads.
constexpr std::size_t kPartRows = 16384;
constexpr double kMostRepetitions = 67108864.0;
struct Magnitudes {
  double weight = 0.0;
  double gradient = 0.0;
  double largest_gradient = 0.0;
  double hessian = 0.0;
  double largest_hessian = 0.0;
  bool is_valid = true;  // gradients are finite, hessians not negative

  void add(const Magnitudes& other) {
    weight += other.weight;
    gradient += other.gradient;
    largest_gradient = std::max(largest_gradient, other.largest_gradient);
    hessian += other.hessian;
    largest_hessian = std::max(largest_hessian, other.largest_hessian);
    is_valid = is_valid && other.is_valid;
  }
};

// Rounds a number below 2^51 without a call: its bits end up in the mantissa of 1.5 * 2^52.
inline std::int64_t nearest(double value) {
  constexpr double kMagic = 6755399441055744.0;
  return std::bit_cast<std::int64_t>(value + kMagic) - std::bit_cast<std::int64_t>(kMagic);
}

// A power of two as two factors, for it may not be a double itself.
class Scale {
 public:
  explicit Scale(int exponent)
      : first_(std::ldexp(1.0, exponent / 2)), second_(std::ldexp(1.0, exponent - exponent / 2)) {}
  double operator()(double value) const { return value * first_ * second_; }

 private:
  double first_;
  double second_;
};

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
    parallel_parts(n_parts, n_threads, [&](std::size_t part) { parts[part] = measure(part); });
    Magnitudes all;
    for (const Magnitudes& part : parts) all.add(part);
    if (!all.is_valid) {
      throw std::invalid_argument("gradients must be finite and hessians not negative");
    }
    // Repetitions multiply rounded numbers, as long as that leaves them enough bits.
    repeats_ = weights_.are_repetitions && all.weight <= kMostRepetitions;
    choose_grids(all);
    rows_.packed.resize(gradients_.size());
    parallel_parts(n_parts, n_threads, [&](std::size_t part) { pack(part); });
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
      const double magnitude = w * std::abs(gradients_[row]);
      sums.gradient += magnitude;
      sums.largest_gradient = std::max(sums.largest_gradient, magnitude);
      sums.hessian += w * hessian(row);
      // Of what counts as one row.
      const double of_row = weights_.are_repetitions ? std::min(w, 1.0) : w;
      sums.largest_hessian = std::max(sums.largest_hessian, of_row * hessian(row));
      sums.is_valid = sums.is_valid && hessian(row) >= 0.0 && std::isfinite(magnitude);
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
    const double n_rows = repeats_ ? all.weight : static_cast<double>(gradients_.size());
    const int row_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_rows)));
    const auto physical_bits = static_cast<int>(std::bit_width(gradients_.size()));
    rows_.counts_rows = hessians_.empty() && repeats_;
    if (rows_.counts_rows) {
      rows_.shift = row_bits + 1;
      rows_.hessian_exponent = 0;
      rows_.largest_hessian = 1;
    } else {
      constexpr int kHessianBits = 12;
      constexpr int kMostBits = 32;
      rows_.shift = std::max(std::min(row_bits + kHessianBits, kMostBits), row_bits + 2);
      rows_.hessian_exponent = grid(all.hessian, n_rows, rows_.shift);
      // One more: sums may have been rounded up.
      const double largest = std::ldexp(all.largest_hessian, rows_.hessian_exponent);
      rows_.largest_hessian = static_cast<std::int64_t>(std::min(largest, 0x1p40)) + 1;
    }
    // Not above 2^50: sums become doubles by a trick that needs it (boost_search.cpp).
    const int bits = std::min(62 - rows_.shift, 50);
    rows_.gradient_exponent = std::isfinite(all.gradient)
                                  ? grid(all.gradient, n_rows, bits)
                                  : grid(all.largest_gradient, n_rows, bits - physical_bits);
  }

  void pack(std::size_t part) {
    const std::int64_t unit = std::int64_t{1} << rows_.shift;
    const Scale to_gradients(rows_.gradient_exponent);
    const Scale to_hessians(rows_.hessian_exponent);
    for (std::size_t row = part * kPartRows; row < end(part); ++row) {
      const double w = weight(row);
      // A row of weight two must add exactly what two rows add: whole weights multiply the
      // rounded numbers, others are rounded with them.
      const double factor = repeats_ ? 1.0 : w;
      const std::int64_t times = repeats_ ? static_cast<std::int64_t>(w) : 1;
      const std::int64_t g = nearest(to_gradients(gradients_[row] * factor));
      const std::int64_t h = nearest(to_hessians(hessian(row) * factor));
      rows_.packed[row] = w > 0.0 ? times * (g * unit + h) : 0;
    }
  }

  std::span<const double> gradients_;
  std::span<const double> hessians_;
  const RowWeights& weights_;
  std::span<const std::uint8_t> sample_;
  GradientRows& rows_;
  bool repeats_ = true;
};

}  // namespace

void fill_gradient_rows(std::span<const double> gradients, std::span<const double> hessians,
                        const RowWeights& weights, std::span<const std::uint8_t> sample,
                        std::size_t n_threads, GradientRows& rows) {
  Filler(gradients, hessians, weights, sample, rows).fill(n_threads);
}

}  // namespace committee
