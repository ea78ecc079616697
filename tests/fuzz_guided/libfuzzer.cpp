// The entry point of libFuzzer, in each program of one target.
#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  korch::fuzz::KORCH_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
