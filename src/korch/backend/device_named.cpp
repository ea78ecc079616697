#include "korch/backend/device_named.h"

#include "korch/backend/gpu_here.h"
#include "korch/base/error.h"

namespace korch {

Device device_named(const std::string& target, int workers) {
  if (target != "cuda") return detect_device(target, workers);
  const GpuHere here = gpu_here();
  if (!here.device)
    throw Error(ErrorKind::usage, "target cuda is the GPU of this machine, but " + here.why_not() +
                                      "; name another one, such as sm_90 or h100");
  if (workers != 0 && workers != here.device->workers)
    throw Error(ErrorKind::usage, "multiprocessors are a GPU's workers: --threads is for CPUs");
  return *here.device;
}

}  // namespace korch
