// Plan -> executable: a shared library with a C interface, its memory planned, its weights inside,
// page-aligned.
#pragma once

#include <functional>
#include <string>

#include "korch/package/package_input.h"

namespace korch {

// As Backend::write. The linker maps the constants twice: `constants_are_written` may free them before that.
PackageReport write_library(const PackageInput& input, const std::string& path,
                            const std::function<void()>& constants_are_written);

}  // namespace korch
