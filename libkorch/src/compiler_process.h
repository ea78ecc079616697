// `korch worker` (tools/worker.cpp) as a process of its own.
#pragma once

#include <functional>
#include <string>

namespace korch {

// A line of JSON that the compiler sent; false ends it.
using OnLine = std::function<bool(const std::string& line)>;

struct CompilerEnd {
  int code;              // exit code; -signal
  std::string messages;  // its standard error
};

// Sends it one request, a line of JSON, and hands every line of its answer to `on_line`, whose exceptions end
// it and are thrown on. Throws Error{io} when it cannot be started. Returns, or throws, when it is gone.
CompilerEnd converse(const std::string& program, const std::string& request, const OnLine& on_line);

// The program that was installed with this library, wherever both were moved.
std::string installed_program();

}  // namespace korch
