// Frequent losses and their derivatives at the current scores, in vector passes.
//
// The Python losses (committee.losses) say the same in NumPy; these exist because every round
// passes all rows. Accurate to a few units in the last place, also far from zero. Functions that
// write derivatives return the sum of the losses of the rows, those with a weight of 0 left out:
// `weights` are 0 or 1, or empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace committee {

// Half the squared error: gradient = score - target, not beyond 1e300.
double squared_error_gradients(std::span<const double> target, std::span<const double> scores,
                               std::span<const double> weights, std::span<double> gradients,
                               std::size_t n_threads);

// Two classes: `is_one` holds 0 or 1. gradient = p - y, hessian = p (1 - p).
double log_loss_gradients(std::span<const std::uint8_t> is_one, std::span<const double> scores,
                          std::span<const double> weights, std::span<double> gradients,
                          std::span<double> hessians, std::size_t n_threads);

// The losses themselves, log(1 + e^-s) for a row of class 1 and log(1 + e^s) for one of class 0.
void log_losses(std::span<const std::uint8_t> is_one, std::span<const double> scores,
                std::span<double> losses, std::size_t n_threads);

// The probabilities of both classes, row by row: n_rows x 2. Neither is one minus the other.
void log_loss_shares(std::span<const double> scores, std::span<double> shares,
                     std::size_t n_threads);

// Several classes: scores, gradients and hessians are n_classes x n_rows, class by class.
// gradient = p_k - [y = k], hessian = p_k (1 - p_k).
double multinomial_gradients(std::span<const std::int32_t> classes, std::size_t n_classes,
                             std::span<const double> scores, std::span<const double> weights,
                             std::span<double> gradients, std::span<double> hessians,
                             std::size_t n_threads);

// The losses themselves, -log p_y.
void multinomial_losses(std::span<const std::int32_t> classes, std::size_t n_classes,
                        std::span<const double> scores, std::span<double> losses,
                        std::size_t n_threads);

}  // namespace committee
