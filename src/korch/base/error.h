// Errors. A user's mistake or an outside failure is an `Error`: thrown where it is found, caught once, in
// the command-line tool, where its kind is the exit code. An expected refusal is a `Result` (result.h). A bug
// is a failed KORCH_ASSERT.
#pragma once

#include <stdexcept>
#include <string>

namespace korch {

// The value is the program's exit code.
enum class ErrorKind : int {
  internal = 1,      // a bug in korch
  usage = 2,         // wrong command line
  invalid = 3,       // invalid model or input
  unsupported = 4,   // operator or type that korch does not know
  accuracy = 5,      // results differ from the reference
  resource = 6,      // out of memory, time or disk
  io = 7,            // file cannot be read or written, or is not an executable for this machine
  interrupted = 130  // Ctrl-C
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& what);

}  // namespace korch

// A violated invariant of korch itself: throws Error{internal} with the place and `what` (print the offending
// IR).
#define KORCH_ASSERT(condition, what) \
  ((condition) ? void() : ::korch::assertion_failed(#condition, __FILE__, __LINE__, (what)))
