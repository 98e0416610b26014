#include "booster.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "arrays.hpp"
#include "base/thread_pool.hpp"
#include "boost/booster.hpp"
#include "boost/loss_kernels.hpp"
#include "gil.hpp"
#include "grower.hpp"
#include "monitor.hpp"
#include "tree.hpp"

namespace committee {
namespace {

// A booster, and the dataset it reads.
struct BoosterObject {
  nb::object dataset;
  Booster booster;
  std::size_t n_rows;
};

Growth growth_of(const std::string& name) {
  if (name == "best") return Growth::kBestFirst;
  if (name == "level") return Growth::kLevelWise;
  if (name == "depth") return Growth::kDepthFirst;
  throw nb::value_error(("unknown growth " + name).c_str());
}

BoostOptions options_of(const nb::dict& settings, std::size_t n_features) {
  BoostOptions options;
  for (const auto& [key, value] : settings) {
    const std::string name = setting_name(key);
    if (name == "max_leaf_nodes") {
      read_setting(name, value, options.max_leaf_nodes);
    } else if (name == "max_depth") {
      read_setting(name, value, options.max_depth);
    } else if (name == "min_rows_split") {
      read_setting(name, value, options.min_rows_split);
    } else if (name == "min_rows_leaf") {
      read_setting(name, value, options.min_rows_leaf);
    } else if (name == "min_child_weight") {
      read_setting(name, value, options.min_child_weight);
    } else if (name == "l1") {
      read_setting(name, value, options.l1);
    } else if (name == "l2") {
      read_setting(name, value, options.l2);
    } else if (name == "min_gain") {
      read_setting(name, value, options.min_gain);
    } else if (name == "growth") {
      options.growth = growth_of(setting_of<std::string>(name, value));
    } else if (name == "features_per_tree") {
      read_setting(name, value, options.features_per_tree);
    } else if (name == "features_per_level") {
      read_setting(name, value, options.features_per_level);
    } else if (name == "features_per_node") {
      read_setting(name, value, options.features_per_node);
    } else if (name == "monotonic") {
      read_setting(name, value, options.monotonic);
    } else if (name == "interactions") {
      read_setting(name, value, options.interactions);
    } else if (name == "category_smoothing") {
      read_setting(name, value, options.category_smoothing);
    } else {
      throw nb::value_error(("unknown setting " + name).c_str());
    }
  }
  if (!options.monotonic.empty() && options.monotonic.size() != n_features) {
    throw nb::value_error("monotonic must have one entry a feature");
  }
  for (const std::vector<std::uint32_t>& group : options.interactions) {
    for (const std::uint32_t feature : group) {
      if (feature >= n_features)
        throw nb::value_error("interactions name a feature beyond the last");
    }
  }
  if (options.min_rows_leaf < 1 || !(options.l1 >= 0.0) || !(options.l2 >= 0.0)) {
    throw nb::value_error("min_rows_leaf must be at least 1, l1 and l2 must not be negative");
  }
  if (options.features_per_tree == 0 || options.features_per_level == 0 ||
      options.features_per_node == 0) {
    throw nb::value_error("at least one feature has to be drawn");
  }
  return options;
}

std::unique_ptr<BoosterObject> make_booster(nb::handle_t<DatasetObject> dataset,
                                            const nb::dict& settings,
                                            const std::optional<Vector<double>>& weights,
                                            std::size_t n_threads) {
  const BinnedDataset& binned = made(dataset).dataset;
  BoostOptions options = options_of(settings, binned.n_features());
  options.n_threads = std::max<std::size_t>(n_threads, 1);
  const auto row_weights = weights_of(weights, binned.n_rows());
  Booster booster =
      run_monitored(nb::none(), [&](Monitor&) { return Booster(binned, options, row_weights); });
  return std::make_unique<BoosterObject>(
      BoosterObject{nb::borrow(dataset), std::move(booster), binned.n_rows()});
}

void weigh(BoosterObject& self, const Vector<double>& weights) {
  self.booster.weigh(weights_of(std::optional(weights), self.n_rows));
}

TreeObject grow(BoosterObject& self, const Vector<double>& gradients,
                const std::optional<Vector<double>>& hessians, double learning_rate,
                std::uint64_t seed, const std::optional<Vector<std::uint8_t>>& sample,
                nb::object progress) {
  if (!std::isfinite(learning_rate)) throw nb::value_error("learning_rate must be finite");
  BoostRound round;
  round.gradients = span_of(std::optional(gradients), self.n_rows, "gradients");
  round.hessians = span_of(hessians, self.n_rows, "hessians");
  round.sample = span_of(sample, self.n_rows, "sample");
  round.learning_rate = learning_rate;
  round.seed = seed;
  return TreeObject(
      run_monitored(progress, [&](Monitor& monitor) { return self.booster.grow(round, monitor); }));
}

nb::ndarray<nb::numpy, std::uint32_t> leaves_of(const BoosterObject& self) {
  const auto leaves = self.booster.leaves();
  return to_array(std::vector<std::uint32_t>(leaves.begin(), leaves.end()));
}

using Scores = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void add_to(const BoosterObject& self, const TreeObject& tree, const Scores& scores,
            std::size_t n_threads) {
  if (scores.shape(0) != self.n_rows) throw nb::value_error("scores must have one entry a row");
  const std::vector<double>& values = tree.tree().values;
  const auto leaves = self.booster.leaves();
  double* const out = scores.data();
  const WithoutGil without_gil;
  constexpr std::size_t kMinRows = 16384;
  const std::size_t n_parts = chunk_count(leaves.size(), kMinRows, n_threads);
  parallel_parts(n_parts, n_threads, [&](std::size_t part) {
    const Range rows = chunk_range(leaves.size(), n_parts, part);
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      if (leaves[row] >= values.size()) {
        throw std::invalid_argument("rows have not been down this tree");
      }
      out[row] += values[leaves[row]];
    }
  });
}

TreeObject with_leaf_values(const TreeObject& self, const Vector<double>& values) {
  Tree tree = self.tree();
  if (tree.n_values != 1 || values.shape(0) != tree.n_nodes()) {
    throw nb::value_error("values must have one entry a node");
  }
  check_finite(std::span(values.data(), tree.n_nodes()), "values");
  std::copy_n(values.data(), tree.n_nodes(), tree.values.begin());
  return TreeObject(std::move(tree));
}

using ScoreMatrix = nb::ndarray<double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <typename Array>
std::span<double> writable(const Array& array, std::size_t size, const char* name) {
  if (array.size() != size) {
    throw nb::value_error((std::string(name) + " must be as long as the target").c_str());
  }
  return {array.data(), array.size()};
}

using Weights = std::optional<Vector<double>>;

double fill_squared_error(const Vector<double>& target, const Scores& scores,
                          const Scores& gradients, const Weights& weights, std::size_t n_threads) {
  const std::size_t n_rows = target.shape(0);
  const auto from = writable(scores, n_rows, "scores");
  const auto to = writable(gradients, n_rows, "gradients");
  const auto counted = span_of(weights, n_rows, "weights");
  const WithoutGil without_gil;
  return squared_error_gradients({target.data(), n_rows}, from, counted, to, n_threads);
}

double fill_log_loss(const Vector<std::uint8_t>& target, const Scores& scores,
                     const Scores& gradients, const Scores& hessians, const Weights& weights,
                     std::size_t n_threads) {
  const std::size_t n_rows = target.shape(0);
  const auto from = writable(scores, n_rows, "scores");
  const auto to = writable(gradients, n_rows, "gradients");
  const auto second = writable(hessians, n_rows, "hessians");
  const auto counted = span_of(weights, n_rows, "weights");
  const WithoutGil without_gil;
  return log_loss_gradients({target.data(), n_rows}, from, counted, to, second, n_threads);
}

void check_classes(const Vector<std::int32_t>& classes, std::size_t n_classes) {
  if (n_classes == 0) throw nb::value_error("there must be a class");
  for (std::size_t i = 0; i < classes.shape(0); ++i) {
    const std::int32_t code = classes.data()[i];
    if (code < 0 || static_cast<std::size_t>(code) >= n_classes) {
      throw nb::value_error("a class code is out of range");
    }
  }
}

double fill_multinomial(const Vector<std::int32_t>& classes, const ScoreMatrix& scores,
                        const ScoreMatrix& gradients, const ScoreMatrix& hessians,
                        const Weights& weights, std::size_t n_threads) {
  const std::size_t n_rows = classes.shape(0);
  const std::size_t n_classes = scores.shape(1);
  check_classes(classes, n_classes);
  if (scores.shape(0) != n_rows || gradients.shape(0) != n_rows || hessians.shape(0) != n_rows) {
    throw nb::value_error("scores and derivatives must have one row a target");
  }
  const auto from = writable(scores, n_rows * n_classes, "scores");
  const auto to = writable(gradients, n_rows * n_classes, "gradients");
  const auto second = writable(hessians, n_rows * n_classes, "hessians");
  const auto counted = span_of(weights, n_rows, "weights");
  const WithoutGil without_gil;
  return multinomial_gradients({classes.data(), n_rows}, n_classes, from, counted, to, second,
                               n_threads);
}

void fill_log_losses(const Vector<std::uint8_t>& target, const Scores& scores, const Scores& losses,
                     std::size_t n_threads) {
  const std::size_t n_rows = target.shape(0);
  const auto from = writable(scores, n_rows, "scores");
  const auto to = writable(losses, n_rows, "losses");
  const WithoutGil without_gil;
  log_losses({target.data(), n_rows}, from, to, n_threads);
}

auto shares_of(const Vector<double>& scores, std::size_t n_threads) {
  const std::size_t n_rows = scores.shape(0);
  auto shares = empty_array<double>({n_rows, 2});
  const WithoutGil without_gil;
  log_loss_shares({scores.data(), n_rows}, {shares.data(), 2 * n_rows}, n_threads);
  return shares;
}

void fill_multinomial_losses(const Vector<std::int32_t>& classes, const ScoreMatrix& scores,
                             const Scores& losses, std::size_t n_threads) {
  const std::size_t n_rows = classes.shape(0);
  const std::size_t n_classes = scores.shape(1);
  check_classes(classes, n_classes);
  const auto from = writable(scores, n_rows * n_classes, "scores");
  const auto to = writable(losses, n_rows, "losses");
  const WithoutGil without_gil;
  multinomial_losses({classes.data(), n_rows}, n_classes, from, to, n_threads);
}

}  // namespace

void register_booster(nb::module_& m) {
  m.def("log_loss_gradients", &fill_log_loss, nb::arg("target"), nb::arg("scores").noconvert(),
        nb::arg("gradients").noconvert(), nb::arg("hessians").noconvert(),
        nb::arg("weights") = nb::none(), nb::arg("n_threads") = 1,
        "Derivatives of the log loss of two classes (0 or 1), written in place; returns the "
        "sum of the losses, rows of weight 0 (of 0 and 1) left out.");
  m.def("squared_error_gradients", &fill_squared_error, nb::arg("target"),
        nb::arg("scores").noconvert(), nb::arg("gradients").noconvert(),
        nb::arg("weights") = nb::none(), nb::arg("n_threads") = 1,
        "Derivatives of half the squared error, written in place; returns the sum of the losses.");
  m.def("log_losses", &fill_log_losses, nb::arg("target"), nb::arg("scores").noconvert(),
        nb::arg("losses").noconvert(), nb::arg("n_threads") = 1,
        "The log loss of each row, two classes, written in place.");
  m.def("log_loss_shares", &shares_of, nb::arg("scores"), nb::arg("n_threads") = 1,
        "The probabilities of two classes, n_rows x 2, for logarithms of odds.");
  m.def("multinomial_losses", &fill_multinomial_losses, nb::arg("classes"),
        nb::arg("scores").noconvert(), nb::arg("losses").noconvert(), nb::arg("n_threads") = 1,
        "The log loss of each row, several classes, written in place.");
  m.def("multinomial_gradients", &fill_multinomial, nb::arg("classes"),
        nb::arg("scores").noconvert(), nb::arg("gradients").noconvert(),
        nb::arg("hessians").noconvert(), nb::arg("weights") = nb::none(), nb::arg("n_threads") = 1,
        "Derivatives of the log loss of several classes; Fortran-ordered, written in place; "
        "returns the sum of the losses.");
  nb::class_<BoosterObject>(m, "Booster", "Grows the trees of gradient boosting.")
      .def(nb::new_(&make_booster), nb::arg("dataset"), nb::arg("settings") = nb::dict(),
           nb::arg("weights") = nb::none(), nb::arg("n_threads") = 1)
      .def("grow", &grow, nb::arg("gradients").noconvert(), nb::arg("hessians") = nb::none(),
           nb::kw_only(), nb::arg("learning_rate") = 1.0, nb::arg("seed") = 0,
           nb::arg("sample") = nb::none(), nb::arg("progress") = nb::none(),
           "Grow a tree on the derivatives of a loss.")
      .def("weigh", &weigh, nb::arg("weights"), "Weigh the rows otherwise in the next trees.")
      .def("leaves", &leaves_of, "The node of the last tree that each row has reached.")
      .def("add_to", &add_to, nb::arg("tree"), nb::arg("scores").noconvert(),
           nb::arg("n_threads") = 1,
           "Add the steps of the last tree to the scores of its rows, in place.")
      .def_static("with_leaf_values", &with_leaf_values, nb::arg("tree"), nb::arg("values"),
                  "The same tree with other values, one a node.");
}

}  // namespace committee
