// Notes which basic blocks of the engine have run.
//
// The engine is compiled with -fsanitize-coverage=trace-pc, so that each block begins with a call
// of the function below, and this library is loaded before it. `trace_range` says where the code
// of the engine lies and where to note a byte for each address; until then nothing is noted.

#include <cstddef>
#include <cstdint>

namespace {

std::uintptr_t begin = 0;
std::size_t length = 0;
unsigned char* seen = nullptr;

}  // namespace

extern "C" void trace_range(std::uintptr_t code, std::size_t n_bytes, unsigned char* notes) {
  length = 0;
  begin = code;
  seen = notes;
  length = n_bytes;
}

extern "C" void __sanitizer_cov_trace_pc() {
  const auto at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - begin;
  if (at < length) seen[at] = 1;
}
