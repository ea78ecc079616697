// CUDA text as C++ for this machine's CPU, which an emulator of a GPU runs (tests/cuda/emulator.h): the few
// names of CUDA that print_cuda uses are defined, and each kernel gets an entry that takes its arguments as
// an array.
#pragma once

#include <string>
#include <vector>

namespace korch::tile {

// Of a text by print_cuda with the kernels `symbols`. It defines, in C: `threadIdx`, `blockIdx` and
// `gridDim`, which the emulator sets; `emulated_barrier` and `emulated_warp`, functions in which the threads
// of a block and of a warp meet; and per kernel the two below.
std::string emulated_text(const std::string& cuda, const std::vector<std::string>& symbols);
std::string emulated_entry(const std::string& symbol);       // void(void* const* arguments), of one thread
std::string emulated_parameters(const std::string& symbol);  // unsigned(), the number of arguments

}  // namespace korch::tile
