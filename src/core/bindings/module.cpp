// The extension module committee._core.
#include <nanobind/nanobind.h>

#include "pool.hpp"
#include "table.hpp"
#include "tree.hpp"
#if __has_include("grower.hpp")
#include "grower.hpp"
#define COMMITTEE_HAS_GROWER 1
#endif

NB_MODULE(_core, m) {
  m.doc() = "The C++ engine of committee.";
  committee::register_table(m);
  committee::register_tree(m);
  committee::register_pool(m);
#ifdef COMMITTEE_HAS_GROWER
  committee::register_grower(m);
#endif
}
