// Ctrl-C: the handler sets a flag, long loops ask for it, and the error unwinds so that temporaries are removed.
#pragma once

namespace korch {

void install_interrupt_handler();   // SIGINT and SIGTERM; a second signal ends the process at once
bool interrupted();
void throw_if_interrupted();        // Error{interrupted}

}  // namespace korch
