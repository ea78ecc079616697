// Whether the tables of an executable can be followed and run.
#pragma once

#include "korch/plan/program.h"

namespace korch::rt {

// Empty when they can: magic, version and size are as they must be, what the model refers to lies within the
// `size_bytes` that begin with it, and numbers of rows of other tables are numbers that these have. Else what
// is wrong, as a sentence goes on behind "its tables". Where code and weights are is the linker's: of these
// references only those that must be there are looked for. Null when there is no memory to find out.
const char* model_fault(const void* model, uint64_t size_bytes);

}  // namespace korch::rt
