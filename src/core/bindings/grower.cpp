#include "grower.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "arguments.hpp"
#include "arrays.hpp"
#include "data/binned_dataset.hpp"
#include "data/target.hpp"
#include "grow/grower.hpp"
#include "monitor.hpp"
#include "score/score_kernels.hpp"
#include "table.hpp"
#include "tree.hpp"

namespace committee {
namespace {

std::unique_ptr<DatasetObject> make_dataset(nb::handle_t<TableObject> table,
                                            const std::optional<Vector<double>>& weights,
                                            std::vector<std::uint32_t> n_levels,
                                            std::uint32_t max_bins, bool exact,
                                            std::size_t n_threads, bool spread,
                                            nb::object progress) {
  const TableView& view = made(table).view();
  if (max_bins < 2 || max_bins > kMaxBins) throw nb::value_error("max_bins must be in [2, 255]");
  if (view.n_features() >= Node::kMaxFeatures) {
    throw nb::value_error("a table can have at most 2**24 - 1 features");
  }
  n_levels.resize(view.n_features(), 0);
  const auto weight_span = weights_of(weights, view.n_rows);
  // The Python object joins the dataset only when the GIL is held again.
  BinnedDataset dataset = run_monitored(progress, [&](Monitor& monitor) {
    const BinningOptions options{max_bins, exact, n_threads, spread};
    return BinnedDataset(view, weight_span, n_levels, options, monitor);
  });
  return std::make_unique<DatasetObject>(DatasetObject{nb::borrow(table), std::move(dataset)});
}

std::unique_ptr<DatasetObject> take_rows(const DatasetObject& self, nb::handle_t<TableObject> table,
                                         const Vector<std::int64_t>& rows, std::size_t n_threads) {
  const TableView& view = made(table).view();
  if (view.n_rows != rows.size() || view.kinds != self.dataset.table().kinds) {
    throw nb::value_error("the table must show the rows that are taken");
  }
  std::vector<std::uint32_t> places(rows.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t row = rows.data()[i];
    if (row < 0 || static_cast<std::size_t>(row) >= self.dataset.n_rows()) {
      throw nb::index_error("no such row");
    }
    places[i] = static_cast<std::uint32_t>(row);
  }
  auto taken = [&] {
    nb::gil_scoped_release release;
    return BinnedDataset(self.dataset, view, places, n_threads);
  }();
  return std::make_unique<DatasetObject>(DatasetObject{nb::borrow(table), std::move(taken)});
}

nb::ndarray<nb::numpy, std::uint32_t> codes_of(const DatasetObject& self, std::size_t feature) {
  if (feature >= self.dataset.n_features()) throw nb::index_error("no such feature");
  std::vector<std::uint32_t> codes(self.dataset.n_rows());
  const CodeColumn& column = self.dataset.feature(feature).column;
  for (std::size_t row = 0; row < codes.size(); ++row) codes[row] = column.at(row);
  return to_array(std::move(codes));
}

}  // namespace

const BinnedDataset& spread_dataset(const DatasetObject& self) {
  for (std::size_t i = 0; i < self.dataset.n_features(); ++i) {
    if (self.dataset.feature(i).sparse == nullptr) continue;
    throw nb::value_error("codes must be spread out for this; make the dataset with spread=True");
  }
  return self.dataset;
}

Target make_target(std::size_t n_rows, const std::optional<Matrix<std::int32_t>>& classes,
                   const std::vector<std::uint32_t>& n_classes,
                   const std::optional<Matrix<double>>& reals) {
  if (classes.has_value() == reals.has_value()) {
    throw nb::value_error("give either classes or reals");
  }
  Target target;
  target.is_classification = classes.has_value();
  const std::size_t rows = classes ? classes->shape(0) : reals->shape(0);
  target.n_outputs = classes ? classes->shape(1) : reals->shape(1);
  if (rows != n_rows || target.n_outputs == 0) {
    throw nb::value_error("the target must have one row a table row and at least one column");
  }
  if (reals) {
    target.reals = {reals->data(), reals->size()};
    check_finite(target.reals, "reals");
    return target;
  }
  target.classes = {classes->data(), classes->size()};
  target.n_classes = n_classes;
  if (n_classes.size() != target.n_outputs) {
    throw nb::value_error("n_classes must have one entry an output");
  }
  for (const std::uint32_t n : n_classes) {
    if (n > kMaxClasses) throw nb::value_error("an output can have at most 65,535 classes");
  }
  for (std::size_t i = 0; i < target.classes.size(); ++i) {
    const std::int32_t code = target.classes[i];
    if (code < 0 || static_cast<std::uint32_t>(code) >= n_classes[i % target.n_outputs]) {
      throw nb::value_error("a class code is out of range");
    }
  }
  return target;
}

Criterion criterion_of(const std::string& name) {
  if (name == "log_loss") return Criterion::kEntropy;  // its second name
  for (int code = 0; code <= static_cast<int>(kLastCriterion); ++code) {
    const auto criterion = static_cast<Criterion>(code);
    if (name == criterion_name(criterion)) return criterion;
  }
  throw nb::value_error(("unknown criterion " + name).c_str());
}

GrowOptions options_of(const nb::dict& settings, std::size_t n_features, const Target& target) {
  GrowOptions options;
  for (const auto& [key, value] : settings) {
    const std::string name = setting_name(key);
    if (name == "criterion") {
      options.criterion = criterion_of(setting_of<std::string>(name, value));
    } else if (name == "max_depth") {
      read_setting(name, value, options.max_depth);
    } else if (name == "max_leaf_nodes") {
      read_setting(name, value, options.max_leaf_nodes);
    } else if (name == "min_rows_split") {
      read_setting(name, value, options.min_rows_split);
    } else if (name == "min_rows_leaf") {
      read_setting(name, value, options.min_rows_leaf);
    } else if (name == "min_weight_leaf") {
      read_setting(name, value, options.min_weight_leaf);
    } else if (name == "min_impurity_decrease") {
      read_setting(name, value, options.min_impurity_decrease);
    } else if (name == "max_features") {
      read_setting(name, value, options.max_features);
    } else if (name == "count_constant") {
      read_setting(name, value, options.count_constant);
    } else if (name == "shuffle_features") {
      read_setting(name, value, options.shuffle_features);
    } else if (name == "allowed") {
      read_setting(name, value, options.allowed);
    } else if (name == "random_thresholds") {
      read_setting(name, value, options.random_thresholds);
    } else if (name == "fan_out_categories") {
      read_setting(name, value, options.fan_out_categories);
    } else if (name == "level_penalty") {
      read_setting(name, value, options.level_penalty);
    } else if (name == "monotonic") {
      read_setting(name, value, options.monotonic);
    } else if (name == "seed") {
      read_setting(name, value, options.seed);
    } else if (name == "n_threads") {
      read_setting(name, value, options.n_threads);
    } else {
      throw nb::value_error(("unknown setting " + name).c_str());
    }
  }
  if (!options.monotonic.empty() && options.monotonic.size() != n_features) {
    throw nb::value_error("monotonic must have one entry a feature");
  }
  if (!(options.min_weight_leaf >= 0.0) || !(options.min_impurity_decrease >= 0.0) ||
      !(options.level_penalty >= 0.0)) {
    throw nb::value_error(
        "min_weight_leaf, min_impurity_decrease and level_penalty must not be negative");
  }
  if (options.max_features == 0) throw nb::value_error("max_features must be at least 1");
  for (const std::uint32_t feature : options.allowed) {
    if (feature >= n_features) throw nb::value_error("allowed names a feature beyond the last");
  }
  if (is_class_criterion(options.criterion) != target.is_classification) {
    throw nb::value_error("the criterion does not fit the target");
  }
  return options;
}

namespace {

TreeObject grow(const DatasetObject& self, const std::optional<Matrix<std::int32_t>>& classes,
                const std::vector<std::uint32_t>& n_classes,
                const std::optional<Matrix<double>>& reals,
                const std::optional<Vector<double>>& weights,
                const std::optional<Vector<std::uint32_t>>& counts, const nb::dict& settings,
                nb::object progress, bool use_records) {
  const BinnedDataset& binned = spread_dataset(self);
  const std::size_t n_rows = binned.n_rows();
  const Target target = make_target(n_rows, classes, n_classes, reals);
  const GrowOptions options = options_of(settings, binned.n_features(), target);
  const auto weight_span = weights_of(weights, n_rows);
  const auto count_span = span_of(counts, n_rows, "counts");
  return TreeObject(run_monitored(progress, [&](Monitor& monitor) {
    Entries entries = make_entries(n_rows, weight_span, count_span);
    if (entries.size() == 0) throw std::invalid_argument("no row has a positive weight");
    if (!use_records) return grow_tree(binned, target, std::move(entries), options, monitor);
    if (!fits_records(binned)) throw std::invalid_argument("codes do not fit records");
    if (options.criterion == Criterion::kAbsoluteError) {
      throw std::invalid_argument("absolute error is not searched in records");
    }
    const RecordMatrix records = make_records(binned, options.n_threads);
    return grow_tree(binned, target, std::move(entries), options, monitor, &records);
  }));
}

}  // namespace

void register_grower(nb::module_& m) {
  nb::class_<DatasetObject>(m, "BinnedDataset",
                            "A table with one small integer, a code, for each cell.")
      .def(nb::new_(&make_dataset), nb::arg("table"), nb::arg("weights") = nb::none(),
           nb::arg("n_levels") = std::vector<std::uint32_t>(), nb::arg("max_bins") = kMaxBins,
           nb::arg("exact") = false, nb::arg("n_threads") = 1, nb::arg("spread") = true,
           nb::arg("progress") = nb::none())
      .def_prop_ro("n_rows", [](const DatasetObject& self) { return self.dataset.n_rows(); })
      .def_prop_ro("n_features",
                   [](const DatasetObject& self) { return self.dataset.n_features(); })
      .def("take", &take_rows, nb::arg("table"), nb::arg("rows"), nb::arg("n_threads") = 1,
           "Some rows, with the same codes; `table` shows them.")
      .def("codes", &codes_of, nb::arg("feature"), "The codes of a feature, as a copy.")
      .def(
          "n_codes",
          [](const DatasetObject& self, std::size_t feature) {
            if (feature >= self.dataset.n_features()) throw nb::index_error("no such feature");
            return self.dataset.feature(feature).column.n_codes();
          },
          nb::arg("feature"), "Number of codes of a feature, the missing code included.")
      .def(
          "has_missing",
          [](const DatasetObject& self, std::size_t feature) {
            if (feature >= self.dataset.n_features()) throw nb::index_error("no such feature");
            return self.dataset.feature(feature).column.has_missing;
          },
          nb::arg("feature"), "Whether a row of positive weight misses the feature.");
  m.def("simd_level", &simd_level, "The instruction set in use: avx512, avx2 or scalar.");
  m.def("set_simd_level", &set_simd_level, nb::arg("level"),
        "Choose auto, avx512, avx2 or scalar; results are the same.");
  m.def("grow_tree", &grow, nb::arg("dataset"), nb::kw_only(), nb::arg("classes") = nb::none(),
        nb::arg("n_classes") = std::vector<std::uint32_t>(), nb::arg("reals") = nb::none(),
        nb::arg("weights") = nb::none(), nb::arg("counts") = nb::none(),
        nb::arg("settings") = nb::dict(), nb::arg("progress") = nb::none(),
        nb::arg("use_records") = false, "Grow a decision tree on a binned dataset.");
}

}  // namespace committee
