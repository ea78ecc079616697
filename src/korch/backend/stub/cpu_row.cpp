#include "korch/backend/stub/stub_backend.h"

namespace korch {

const Backend& cpu_backend() {
  static const StubBackend backend("the CPU backend", "KORCH_CPU");
  return backend;
}

}  // namespace korch
