// Whether the tables of an executable can be followed and run.
#pragma once

#include "korch/plan/program.h"

namespace korch::rt {

// Empty if they can: magic, version and size are right, references lead into the `size_bytes` that begin with
// the model, and numbers of rows exist in their tables. Else what is wrong, as the rest of a sentence that
// begins with "its tables". The linker fills in references to code and weights; these are only checked for
// presence. Null when there is no memory for the check.
const char* model_fault(const void* model, uint64_t size_bytes);

}  // namespace korch::rt
