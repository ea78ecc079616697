// The register tile of a product of bfloat16 or of bytes in the tiles of AMX: the same function as
// cpu/micro_kernel.h prints, with its sums in registers of 16 rows by 16 columns. One instruction adds up to
// 32 terms, or 64 of bytes, of a whole tile.
#pragma once

#include <string>

#include "korch/codegen/cpu/micro_kernel.h"

namespace korch::linear {

// Whether the tile can be computed so: pairs of bfloat16 or four bytes, one after the other in both operands,
// whole instructions of them (matrix_steps).
bool takes_matrix_tiles(const MicroKernel& kernel);

// void NAME(void): the registers as the kernel takes them. That costs some hundred cycles, and zeroes them.
std::string emit_matrix_configuration(const std::string& name, const MicroKernel& kernel);
// With the registers configured.
std::string emit_matrix_kernel(const std::string& name, const MicroKernel& kernel);

}  // namespace korch::linear
