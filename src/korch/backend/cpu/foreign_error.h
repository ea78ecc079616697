// Failures of LLVM's libraries as Errors. Apart from the files that call these, which are built as they are,
// without the run-time types that exceptions need.
#pragma once

#include <string>

namespace korch {

// Error{io}: this process cannot load code.
[[noreturn]] void throw_load_error(const std::string& what);
// Of the linker, which says what.
[[noreturn]] void throw_link_error(const std::string& messages);

}  // namespace korch
