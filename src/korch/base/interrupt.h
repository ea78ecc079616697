// Ctrl-C: a flag is set, long loops ask for it, and the error unwinds so that temporaries are removed. What
// does not get to such a loop in time (a library at work, a kernel that runs for long) is ended without
// unwinding.
#pragma once

namespace korch {

// For SIGINT and SIGTERM. A second signal ends the process at once.
void install_interrupt_handler();
bool interrupted();
void throw_if_interrupted();  // Error{interrupted}

// Removes all temporaries, says that the program was interrupted and ends with its exit code; once, whoever
// calls first.
[[noreturn]] void end_interrupted();

}  // namespace korch
