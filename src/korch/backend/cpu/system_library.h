// Shared libraries of the system.
#pragma once

#include <string>

namespace korch {

// The file that the dynamic loader takes for a soname such as "libm.so.6". Error{io} when there is none.
std::string system_library_path(const std::string& soname);

}  // namespace korch
