// Ctrl-C, a closed terminal: a flag is set, long loops ask for it, and the error unwinds so that temporaries
// are removed. What does not get to such a loop in time (a library at work, a kernel that runs for long) is
// ended without unwinding.
#pragma once

#include <string_view>

#include "korch/base/error.h"

namespace korch {

// For SIGINT, SIGTERM, SIGHUP and SIGQUIT, where they are not ignored (nohup, a shell's background job). A
// second signal ends the process at once. Throws std::system_error when the system has no thread for it.
void install_interrupt_handler();
// Puts it back where a library has installed handlers of its own since; nothing where there was none.
void keep_interrupt_handler();
bool interrupted();
void throw_if_interrupted();  // Error{interrupted}

// Ends the process where nothing can unwind (a library that gives up, an exception that nobody catches):
// removes all temporaries, prints "korch: <message>" and ends with the kind's exit code. Allocates nothing
// itself. Once, whoever calls first.
[[noreturn]] void end_at_once(ErrorKind kind, std::string_view message);

// Removes all temporaries, says that the program was interrupted and ends with its exit code; once, whoever
// calls first.
[[noreturn]] void end_interrupted();

}  // namespace korch
