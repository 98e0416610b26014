// The extension module committee._core.
#include <nanobind/nanobind.h>

#include "adaboost.hpp"
#include "booster.hpp"
#include "csv.hpp"
#include "forest.hpp"
#include "gil.hpp"
#include "grower.hpp"
#include "net.hpp"
#include "pool.hpp"
#include "quinlan.hpp"
#include "row_products.hpp"
#include "sampling.hpp"
#include "table.hpp"
#include "target_statistics.hpp"
#include "tree.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The C++ engine of committee.";
  committee::register_gil_gate();
  committee::register_table(m);
  committee::register_tree(m);
  committee::register_pool(m);
  committee::register_grower(m);
  committee::register_sampling(m);
  committee::register_row_products(m);
  committee::register_forest(m);
  committee::register_booster(m);
  committee::register_adaboost(m);
  committee::register_target_statistics(m);
  committee::register_quinlan(m);
  committee::register_net(m);
  committee::register_csv(m);
}
