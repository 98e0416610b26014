#include "net.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "arrays.hpp"
#include "grower.hpp"
#include "monitor.hpp"
#include "net/minus_logs.hpp"
#include "net/net.hpp"
#include "net/net_trainer.hpp"

namespace committee {
namespace {

constexpr std::size_t kMostUnits = 4096;
constexpr std::size_t kMostMembers = 256;
constexpr std::size_t kMostLayers = 16;
constexpr std::size_t kMostOutputs = 1U << 16U;
constexpr std::size_t kMostParameters = std::size_t{1} << 31U;

// Pairs of the number of knots (0: a category) and of rows of the table, for each feature.
NetShape make_shape(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& features,
                    const Vector<float>& knots, std::size_t n_units, std::size_t n_layers,
                    std::size_t n_members, std::size_t n_outputs) {
  if (n_units == 0 || n_units % kUnitStep != 0 || n_units > kMostUnits) {
    throw nb::value_error("n_units must be a multiple of 16, at most 4096");
  }
  if (n_layers > kMostLayers || n_members == 0 || n_members > kMostMembers || n_outputs == 0 ||
      n_outputs > kMostOutputs || features.empty()) {
    throw nb::value_error("there are too few or too many layers, members, outputs or features");
  }
  NetShape shape{.features = {},
                 .knots = {knots.data(), knots.data() + knots.shape(0)},
                 .n_units = n_units,
                 .n_layers = n_layers,
                 .n_members = n_members,
                 .n_outputs = n_outputs};
  std::size_t n_rows = 0;
  for (const auto& [n_knots, n_own] : features) {
    if (n_knots == 1 || n_own < n_knots || n_rows + n_own > shape.knots.size()) {
      throw nb::value_error("knots and rows of a feature do not fit");
    }
    shape.features.push_back({static_cast<std::uint32_t>(n_rows), n_knots, n_own});
    n_rows += n_own;
  }
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (n_rows != shape.knots.size() ||
      !std::all_of(shape.knots.begin(), shape.knots.end(), is_finite)) {
    throw nb::value_error("knots must have one finite entry a row of the table");
  }
  if (n_rows * n_units > kMostParameters || NetPlaces(shape).size() > kMostParameters) {
    throw nb::value_error("the net has too many parameters");
  }
  return shape;
}

// Rows whose codes are all within the rows of their feature.
EncodedRows checked_rows(const NetShape& shape, const Matrix<std::uint32_t>& codes,
                         const Matrix<float>& fractions) {
  const std::size_t n_features = shape.features.size();
  const std::size_t n_rows = codes.shape(0);
  if (codes.shape(1) != n_features || fractions.shape(1) != n_features ||
      fractions.shape(0) != n_rows) {
    throw nb::value_error("codes and fractions must have a column for each feature");
  }
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t k = 0; k < n_features; ++k) {
      const NetFeature& feature = shape.features[k];
      const std::uint32_t code = codes.data()[row * n_features + k];
      const float fraction = fractions.data()[row * n_features + k];
      if (code == kNoTableRow) continue;
      const std::uint32_t place = code - feature.first_row;  // wraps around below
      const bool is_between = feature.is_number() && place + 1 < feature.n_knots;
      if (place >= feature.n_rows ||
          !(fraction >= 0.0F && fraction <= (is_between ? 1.0F : 0.0F))) {
        throw nb::value_error("a code or a fraction is out of range");
      }
    }
  }
  return {codes.data(), fractions.data(), n_rows};
}

NetOptions options_of(const nb::dict& settings) {
  NetOptions options;
  for (const auto& [key, value] : settings) {
    const std::string name = setting_name(key);
    if (name == "batch_rows") {
      read_setting(name, value, options.batch_rows);
    } else if (name == "weight_decay") {
      read_setting(name, value, options.weight_decay);
    } else if (name == "table_decay") {
      read_setting(name, value, options.table_decay);
    } else if (name == "dropout") {
      read_setting(name, value, options.dropout);
    } else if (name == "averaging") {
      read_setting(name, value, options.averaging);
    } else if (name == "seed") {
      read_setting(name, value, options.seed);
    } else {
      throw nb::value_error(("unknown setting " + name).c_str());
    }
  }
  const auto is_share = [](float value) { return value >= 0.0F && value < 1.0F; };
  if (options.batch_rows == 0 || !is_share(options.dropout) || !is_share(options.averaging)) {
    throw nb::value_error("batch_rows must be at least 1, dropout and averaging in [0, 1)");
  }
  if (!(options.weight_decay >= 0.0F && std::isfinite(options.weight_decay)) ||
      !(options.table_decay >= 0.0F && std::isfinite(options.table_decay))) {
    throw nb::value_error("decays must be finite and not negative");
  }
  return options;
}

// A trainer, and the arrays that it reads.
struct TrainerObject {
  Matrix<std::uint32_t> codes;
  Matrix<float> fractions;
  std::optional<Vector<std::int32_t>> classes;
  std::optional<Matrix<float>> reals;
  std::optional<Vector<float>> weights;
  NetTrainer trainer;
};

NetTarget checked_target(const NetShape& shape, std::size_t n_rows,
                         const std::optional<Vector<std::int32_t>>& classes,
                         const std::optional<Matrix<float>>& reals,
                         const std::optional<Vector<float>>& weights) {
  NetTarget target{.classes = span_of(classes, n_rows, "classes"),
                   .reals = {},
                   .weights = weights_of(weights, n_rows)};
  if (classes.has_value() == reals.has_value()) {
    throw nb::value_error("the target must be classes or reals");
  }
  if (reals) {
    if (reals->shape(0) != n_rows || reals->shape(1) != shape.n_outputs) {
      throw nb::value_error("reals must have a row for each row and a column for each output");
    }
    target.reals = {reals->data(), reals->size()};
    check_finite(target.reals, "reals");
  }
  const auto is_class = [&](std::int32_t code) {
    return code >= 0 && static_cast<std::size_t>(code) < shape.n_outputs;
  };
  if (!std::all_of(target.classes.begin(), target.classes.end(), is_class)) {
    throw nb::value_error("a class code is out of range");
  }
  return target;
}

std::unique_ptr<TrainerObject> make_trainer(
    const NetShape& shape, const Matrix<std::uint32_t>& codes, const Matrix<float>& fractions,
    const nb::dict& settings, const std::optional<Vector<std::int32_t>>& classes,
    const std::optional<Matrix<float>>& reals, const std::optional<Vector<float>>& weights) {
  const EncodedRows table = checked_rows(shape, codes, fractions);
  const NetTarget target = checked_target(shape, table.n_rows, classes, reals, weights);
  const NetOptions options = options_of(settings);
  return std::unique_ptr<TrainerObject>(new TrainerObject{
      codes, fractions, classes, reals, weights, NetTrainer(shape, options, table, target)});
}

void run_epoch(TrainerObject& self, const Vector<std::uint32_t>& rows, float learning_rate,
               std::size_t n_threads) {
  const std::span<const std::uint32_t> own(rows.data(), rows.shape(0));
  const std::size_t n_rows = self.codes.shape(0);
  if (own.empty() || std::any_of(own.begin(), own.end(), [&](auto row) { return row >= n_rows; })) {
    throw nb::value_error("rows must be rows of the table, at least one");
  }
  if (!std::isfinite(learning_rate)) throw nb::value_error("learning_rate must be finite");
  run_monitored(nb::none(), [&](Monitor& monitor) {
    self.trainer.run_epoch(own, learning_rate, std::max<std::size_t>(n_threads, 1), monitor);
  });
}

nb::ndarray<nb::numpy, float> copied(std::span<const float> values) {
  return to_array(std::vector<float>(values.begin(), values.end()));
}

std::unique_ptr<Net> make_net(const NetShape& shape, const Vector<float>& parameters) {
  if (parameters.shape(0) != NetPlaces(shape).size()) {
    throw nb::value_error("parameters do not fit the shape of the net");
  }
  return std::make_unique<Net>(shape,
                               std::span<const float>(parameters.data(), parameters.shape(0)));
}

nb::ndarray<nb::numpy, double> predict(const Net& self, const Matrix<std::uint32_t>& codes,
                                       const Matrix<float>& fractions, bool is_class,
                                       std::size_t n_threads) {
  const EncodedRows table = checked_rows(self.shape(), codes, fractions);
  auto out = empty_array<double>({table.n_rows, self.shape().n_outputs});
  run_monitored(nb::none(), [&](Monitor& monitor) {
    self.predict(table, is_class, std::max<std::size_t>(n_threads, 1), monitor, out.data());
  });
  return out;
}

nb::ndarray<nb::numpy, double> minus_logs_of(const Vector<double>& shares) {
  auto out = empty_array<double>({shares.shape(0)});
  minus_logs({shares.data(), shares.shape(0)}, {out.data(), shares.shape(0)});
  return out;
}

}  // namespace

void register_net(nb::module_& m) {
  nb::class_<NetShape>(m, "NetShape", "The sizes of a net; see src/core/net/net_shape.hpp.")
      .def(nb::new_(&make_shape), nb::arg("features"), nb::arg("knots"), nb::kw_only(),
           nb::arg("n_units"), nb::arg("n_layers"), nb::arg("n_members"), nb::arg("n_outputs"))
      .def_prop_ro("n_parameters", [](const NetShape& self) { return NetPlaces(self).size(); });
  nb::class_<TrainerObject>(m, "NetTrainer", "Fits a net to rows, epoch by epoch.")
      .def(nb::new_(&make_trainer), nb::arg("shape"), nb::arg("codes"), nb::arg("fractions"),
           nb::arg("settings"), nb::kw_only(), nb::arg("classes") = nb::none(),
           nb::arg("reals") = nb::none(), nb::arg("weights") = nb::none())
      .def("run_epoch", &run_epoch, nb::arg("rows"), nb::arg("learning_rate"),
           nb::arg("n_threads") = 1)
      .def("parameters",
           [](const TrainerObject& self) { return copied(self.trainer.parameters()); })
      .def("average", [](const TrainerObject& self) { return copied(self.trainer.average()); });
  nb::class_<Net>(m, "Net", "A fitted net.")
      .def(nb::new_(&make_net), nb::arg("shape"), nb::arg("parameters"))
      .def("predict", &predict, nb::arg("codes"), nb::arg("fractions"), nb::kw_only(),
           nb::arg("is_class"), nb::arg("n_threads") = 1);
  m.def("minus_logs", &minus_logs_of, nb::arg("shares"),
        "Return -log of numbers in [0, 1], the same on every machine; some 690 at most.");
}

}  // namespace committee
