#include "korch/backend/cpu/compiler.h"
#include "korch/backend/cuda/cuda_parts.h"
#include "korch/base/error.h"
#include "korch/codegen/cuda/emulated_text.h"
#include "korch/device/device.h"

namespace korch {

// Of any x86-64, since the file may run on another machine than this one.
std::string emulated_image(const Kernel& kernel) {
  if (kernel.source.empty()) return "";
  std::vector<std::string> symbols;
  for (const KernelPhase& phase : kernel.phases) symbols.push_back(phase.symbol);
  Result<std::string> object =
      compile_object(tile::emulated_text(kernel.source, symbols), name(Isa::portable));
  if (!object)
    throw Error(ErrorKind::internal, "a kernel does not compile for emulation: " + object.refusal().detail);
  return std::move(object).value();
}

}  // namespace korch
