// The constant text of CUDA kernels for matrix units and for asynchronous copies. The emulator has products
// and copies of its own (emulated_text.h).
#pragma once

#include <string>

#include "korch/tensor/product_type.h"

namespace korch::tile {

// How operands become what units multiply, and `multiply_tf32`, `_f16` or `_bf16`. 16 bits need from_ and
// to_.
std::string matrix_units_text(ProductType type);
// copy_async and wait_copies.
std::string copies_text();

}  // namespace korch::tile
