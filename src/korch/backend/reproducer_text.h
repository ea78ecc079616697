// What programs that show a kernel by itself (Backend::reproducer) have in common.
#pragma once

#include <string>

#include "korch/backend/backend.h"

namespace korch {

// `content(file)`, and `compare<T>(output, memory, wanted, allowed)`, which says where an output differs
// most, and whether so much is allowed. They need cmath, cstdio, fstream, iterator and string.
std::string comparing_functions();
// A line that compares an output with its files: `memory` is an expression.
std::string compared_output(const ReproducedKernel& shown, size_t output, const std::string& memory);

}  // namespace korch
