#include "korch/base/shortage.h"

#include <csignal>
#include <new>

#include "korch/base/interrupt.h"

namespace korch {
namespace {

thread_local int alive = 0;  // the handler of `new` has no arguments: cannot be anything but global

void on_shortage() {
  if (alive > 0) end_at_once(ErrorKind::resource, "out of memory");
  throw std::bad_alloc();
}

// What a library does that checks its own malloc.
extern "C" void on_abort(int) {
  if (alive > 0) end_at_once(ErrorKind::resource, "out of memory: a library gave up");
}

}  // namespace

EndOnShortage::EndOnShortage() {
  static const std::new_handler before = std::set_new_handler(on_shortage);
  (void)before;
  static const auto abort_before = std::signal(SIGABRT, on_abort);
  (void)abort_before;
  ++alive;
}

EndOnShortage::~EndOnShortage() {
  --alive;
}

}  // namespace korch
