#include "korch/backend/cpu/load_error.h"

#include "korch/base/error.h"

namespace korch {

void throw_load_error(const std::string& what) {
  throw Error(ErrorKind::io, "cannot load compiled kernels: " + what);
}

}  // namespace korch
