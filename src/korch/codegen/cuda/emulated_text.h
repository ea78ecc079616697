// CUDA text as C++ for this machine's CPU, which an emulator of a GPU runs (tests/cuda/emulator.h): the few
// names of CUDA that print_cuda uses are defined, and each kernel gets an entry that takes its arguments as
// an array.
#pragma once

#include <string>
#include <vector>

namespace korch::tile {

// `told`: compiled with -fsanitize=thread, it calls before each access to memory `emulated_access(address,
// bytes, kind, call site)`, where kind is 1 for writes, plus 2 where the address need not be a multiple of
// the bytes. And `emulated_astray()`, which does not return, for an index outside of an array in registers,
// with -fsanitize=array-bounds. `emulated_site` is where threads meet. `emulated_no_array` is a variable in
// the section of shared arrays, `emulated_shared`.
enum class EmulatedAccesses { untold, told };

// Of a text by print_cuda with the kernels `symbols`. It defines, in C: `threadIdx`, `blockIdx` and
// `gridDim`, which the emulator sets; `emulated_barrier`, `emulated_warp` and `emulated_warp_barrier`,
// functions in which the threads of a block and of a warp meet; and per kernel the two below.
std::string emulated_text(const std::string& cuda, const std::vector<std::string>& symbols,
                          EmulatedAccesses accesses = EmulatedAccesses::untold);
std::string emulated_entry(const std::string& symbol);       // void(void* const* arguments), of one thread
std::string emulated_parameters(const std::string& symbol);  // unsigned(), the number of arguments

}  // namespace korch::tile
