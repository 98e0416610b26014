// The best cut of a feature from packed sums of derivatives by code (gradient_rows.hpp).
//
// Cut i has the codes 0 ... i on its left. Its score is GL^2 / (HL + l2) + GR^2 / (HR + l2). Each
// kernel is compiled for every processor, for AVX2 and for AVX-512: the same operations on more
// lanes, so the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace committee {

// What all cuts of a feature share.
struct CutScan {
  std::int64_t total = 0;  // of the node
  std::int64_t start = 0;  // what is on the left of every cut
  int shift = 1;
  double l2 = 0.0;
  double min_hessian = 1.0;  // of each side
  std::size_t begin = 0;     // the cuts to look at
  std::size_t end = 0;
  bool is_sparse = false;  // most cells are zero
};

struct PackedCut {
  double score = -1.0;    // negative: there is none
  std::int64_t left = 0;  // packed sums on the left
  std::size_t first = 0;  // the cuts first ... last are the same: the node has none of the codes
  std::size_t last = 0;   // first + 1 ... last
};

// The first of the best cuts. `cells` has a few cells more than there are cuts.
PackedCut best_packed_cut(const std::int64_t* cells, const CutScan& scan);

}  // namespace committee
