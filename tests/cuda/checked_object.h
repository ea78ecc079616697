// CUDA text as an object that tells the emulator of every access to memory.
#pragma once

#include "korch/base/result.h"
#include "memory_checker.h"

namespace korch::testing {

// Of the kernel `symbol`. Variables that are not set have a value that no sum hides (NaN).
Result<std::string> compile_checked(const std::string& source, const std::string& symbol);

// Its shared arrays, where `emulated_no_array` lies at that address.
std::vector<MemoryRange> shared_arrays(const std::string& object, uintptr_t no_array);

}  // namespace korch::testing
