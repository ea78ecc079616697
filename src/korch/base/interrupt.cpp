#include "korch/base/interrupt.h"

#include <csignal>
#include <unistd.h>

#include "korch/base/error.h"

namespace korch {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;  // written by a signal handler: cannot be anything but global

extern "C" void on_interrupt(int) {
  if (interrupt_seen != 0) ::_exit(static_cast<int>(ErrorKind::interrupted));
  interrupt_seen = 1;
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_seen != 0; }

void throw_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::interrupted, "interrupted; nothing was written");
}

}  // namespace korch
