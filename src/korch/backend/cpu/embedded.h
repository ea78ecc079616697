// What of the runtime travels inside the program, so that writing an executable needs no file of ours.
#pragma once

#include <string_view>

namespace korch {

std::string_view runtime_archive();  // static library, linked into executables

}  // namespace korch
