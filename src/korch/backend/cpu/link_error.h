// A failure of the linker as an Error; apart from link.cpp, which is built without the run-time types that
// exceptions need.
#pragma once

#include <string>

namespace korch {

[[noreturn]] void throw_link_error(const std::string& messages);

}  // namespace korch
