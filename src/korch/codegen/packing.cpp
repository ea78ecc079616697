#include "korch/codegen/packing.h"

#include "korch/codegen/vendor/onednn.h"

namespace korch {

std::string pack(const HostTensor& constant, const Packing& packing) {
  return packing.kind == "onednn" ? vendor::pack_onednn(constant, packing.params)
                                  : pack_generated(constant, packing);
}

}  // namespace korch
