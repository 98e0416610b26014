// Functions compiled twice: for every processor, and for those with AVX2.
//
// COMMITTEE_TWICE(result, name, (parameters), (arguments)) defines `name` on top of an inline
// function name_code with the same parameters. Both versions do the same operations in the same
// order (contraction to fused multiply-add is off), so they give the same bits.
#pragma once

namespace committee {
// Whether the AVX2 versions run; see score_kernels.hpp.
bool uses_avx2();
// Whether versions for AVX-512 run where there are some; only with AVX2.
bool uses_avx512();
}  // namespace committee

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define COMMITTEE_HAS_AVX2 1
#define COMMITTEE_AVX2 __attribute__((target("avx2")))
#define COMMITTEE_AVX512 __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl")))
#define COMMITTEE_INLINE inline __attribute__((always_inline))
#define COMMITTEE_TWICE(result, name, parameters, arguments)                            \
  COMMITTEE_AVX2 static result name##_avx2 parameters { return name##_code arguments; } \
  result name parameters { return uses_avx2() ? name##_avx2 arguments : name##_code arguments; }
#else
#define COMMITTEE_AVX2
#define COMMITTEE_AVX512
#define COMMITTEE_INLINE inline
#define COMMITTEE_TWICE(result, name, parameters, arguments) \
  result name parameters { return name##_code arguments; }
#endif
