#include "adaboost.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adaboost/boosted_rows.hpp"
#include "adaboost/stump_booster.hpp"
#include "arguments.hpp"
#include "arrays.hpp"
#include "gil.hpp"
#include "grower.hpp"
#include "monitor.hpp"
#include "tree.hpp"

namespace committee {
namespace {

std::unique_ptr<BoostedRows> make_rows(const Vector<std::int32_t>& classes, std::uint32_t n_classes,
                                       const std::optional<Vector<double>>& weights,
                                       std::size_t n_threads) {
  const std::size_t n_rows = classes.shape(0);
  if (n_classes == 0 || n_classes > kMaxClasses) {
    throw nb::value_error("there must be 1 to 65535 classes");
  }
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::int32_t code = classes.data()[row];
    if (code < 0 || static_cast<std::uint32_t>(code) >= n_classes) {
      throw nb::value_error("a class code is out of range");
    }
  }
  const auto given = weights_of(weights, n_rows);
  return std::make_unique<BoostedRows>(std::span(classes.data(), n_rows), n_classes, given,
                                       std::max<std::size_t>(n_threads, 1));
}

// The groups of the rows, each below `n_groups`.
Groups groups_of(const BoostedRows& rows, const Vector<std::uint32_t>& groups,
                 std::size_t n_groups) {
  const Groups all(groups.data(), groups.shape(0));
  if (all.size() != rows.n_rows()) throw nb::value_error("groups must have one entry a row");
  if (!are_below(all, n_groups)) throw nb::value_error("a group is out of range");
  return all;
}

// What the groups do to the classes: n_groups x n_classes numbers.
std::span<const double> table_of(const BoostedRows& rows, const Matrix<double>& table,
                                 const char* name) {
  const std::span<const double> values(table.data(), table.size());
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (table.shape(1) != rows.n_classes() || !std::all_of(values.begin(), values.end(), is_finite)) {
    throw nb::value_error((std::string(name) + " must have a finite number a class").c_str());
  }
  return values;
}

auto shares_of(const BoostedRows& self, const Vector<std::uint32_t>& groups, std::size_t n_groups) {
  const Groups all = groups_of(self, groups, n_groups);
  auto out = empty_array<double>({n_groups, self.n_classes()});
  const WithoutGil without_gil;
  const std::vector<double> shares = self.shares(all, n_groups);
  std::copy(shares.begin(), shares.end(), out.data());
  return out;
}

void reweigh(BoostedRows& self, const Vector<std::uint32_t>& groups, const Matrix<double>& factors,
             double growth) {
  const Groups all = groups_of(self, groups, factors.shape(0));
  const auto table = table_of(self, factors, "factors");
  const bool is_sound = growth > 0.0 && std::isfinite(growth) &&
                        std::all_of(table.begin(), table.end(), [](double f) { return f > 0.0; });
  if (!is_sound) throw nb::value_error("factors and growth must be positive");
  const WithoutGil without_gil;
  self.reweigh(all, table, growth);
}

double add_votes(BoostedRows& self, const Vector<std::uint32_t>& groups,
                 const Matrix<double>& votes) {
  const Groups all = groups_of(self, groups, votes.shape(0));
  const auto table = table_of(self, votes, "votes");
  const WithoutGil without_gil;
  return self.add_votes(all, table);
}

auto distribution_of(const BoostedRows& self) {
  auto out = empty_array<double>({self.n_rows()});
  self.distribution({out.data(), self.n_rows()});
  return out;
}

auto scores_of(const BoostedRows& self) {
  auto out = empty_array<double>({self.n_rows(), self.n_classes()});
  std::copy(self.scores().begin(), self.scores().end(), out.data());
  return out;
}

// A booster, and what it looks at.
struct StumpObject {
  nb::object dataset;
  nb::object rows;
  std::unique_ptr<StumpBooster> booster;
};

std::unique_ptr<StumpObject> make_stumps(nb::handle_t<DatasetObject> dataset,
                                         nb::handle_t<BoostedRows> rows,
                                         const std::string& criterion, double level_penalty,
                                         std::size_t n_threads) {
  const BinnedDataset& binned = spread_dataset(made(dataset));
  BoostedRows& boosted = made(rows);
  if (boosted.n_rows() != binned.n_rows()) {
    throw nb::value_error("rows and dataset must have as many rows");
  }
  StumpOptions options;
  options.criterion = criterion_of(criterion);
  if (!is_class_criterion(options.criterion)) {
    throw nb::value_error("the criterion does not fit classes");
  }
  if (!(level_penalty >= 0.0)) throw nb::value_error("level_penalty must not be negative");
  options.level_penalty = level_penalty;
  options.n_threads = std::max<std::size_t>(n_threads, 1);
  auto booster = run_monitored(nb::none(), [&](Monitor& monitor) {
    return std::make_unique<StumpBooster>(binned, boosted, options, monitor);
  });
  return std::make_unique<StumpObject>(
      StumpObject{nb::borrow(dataset), nb::borrow(rows), std::move(booster)});
}

nb::tuple find_stump(nb::handle_t<StumpObject> self) {
  const StumpObject& object = made(self);
  StumpBooster& booster = *object.booster;
  TreeObject tree(
      run_monitored(nb::none(), [&](Monitor& monitor) { return booster.find(monitor); }));
  // A view: the next call writes there.
  nb::ndarray<nb::numpy, const std::uint32_t> groups(booster.groups().data(),
                                                     {booster.groups().size()}, self);
  const std::size_t n_classes = tree.tree().n_values;
  auto shares = empty_array<double>({booster.shares().size() / n_classes, n_classes});
  std::copy(booster.shares().begin(), booster.shares().end(), shares.data());
  // What nodes predict, the first of equals, as forests of them do.
  const Tree& stump = tree.tree();
  auto predicted = empty_array<std::int64_t>({stump.n_nodes()});
  for (std::size_t node = 0; node < stump.n_nodes(); ++node) {
    const double* const values = stump.values.data() + node * n_classes;
    predicted.data()[node] = std::max_element(values, values + n_classes) - values;
  }
  return nb::make_tuple(std::move(tree), groups, shares, predicted);
}

}  // namespace

void register_adaboost(nb::module_& m) {
  nb::class_<BoostedRows>(m, "BoostedRows", "Classes, weights and scores of the rows of AdaBoost.")
      .def(nb::new_(&make_rows), nb::arg("classes"), nb::arg("n_classes"),
           nb::arg("weights") = nb::none(), nb::arg("n_threads") = 1)
      .def("shares", &shares_of, nb::arg("groups"), nb::arg("n_groups"),
           "Shares of all weight by group and class, n_groups x n_classes.")
      .def("reweigh", &reweigh, nb::arg("groups"), nb::arg("factors"), nb::arg("growth"),
           "Multiply weights by factors of group and class; growth is that of their sum.")
      .def("add_votes", &add_votes, nb::arg("groups"), nb::arg("votes"),
           "Add votes of groups to the scores of rows; return the share of rows now wrong.")
      .def("distribution", &distribution_of, "The weight of each row as a share of all.")
      .def("scores", &scores_of, "The sums of votes, n_rows x n_classes.");
  nb::class_<StumpObject>(m, "StumpBooster", "Finds the stump of each round of AdaBoost.")
      .def(nb::new_(&make_stumps), nb::arg("dataset"), nb::arg("rows"), nb::kw_only(),
           nb::arg("criterion") = "gini", nb::arg("level_penalty") = 0.0, nb::arg("n_threads") = 1)
      .def("find", &find_stump,
           "The best stump, the node of each row (a view of working memory), the shares of all "
           "weight by node and class, and the class that each node predicts.");
}

}  // namespace committee
