#include "korch/backend/cuda/cuda_parts.h"
#include "korch/base/error.h"

namespace korch {

std::string emulated_image(const Kernel&) {
  throw Error(ErrorKind::unsupported,
              cpu_backend().missing() + ", whose compiler makes what an emulated GPU runs (--emulation)");
}

}  // namespace korch
