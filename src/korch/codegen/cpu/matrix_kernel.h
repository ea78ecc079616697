// The register tile of a product of bfloat16 in the tiles of AMX: the same function as cpu/micro_kernel.h
// prints, with its sums in registers of 16 rows by 16 columns. One instruction adds 32 terms of a whole tile.
#pragma once

#include <string>

#include "korch/codegen/cpu/micro_kernel.h"

namespace korch::linear {

// Whether the tile can be computed so: pairs of bfloat16, one after the other in both operands, whole
// instructions of them.
bool takes_matrix_tiles(const MicroKernel& kernel);

std::string emit_matrix_kernel(const std::string& name, const MicroKernel& kernel);

}  // namespace korch::linear
