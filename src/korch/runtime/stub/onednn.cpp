// oneDNN in a build without it: makes no call.
#include "korch/runtime/cpu/onednn.h"

#include "korch/runtime/library.h"

namespace korch::rt {
namespace {

void* refuse(const int64_t*, uint32_t, const float*, uint32_t, uint64_t*, int32_t* code) {
  *code = KORCH_KERNEL_LIBRARY_FAILED;
  return nullptr;
}

}  // namespace

int64_t onednn_slices(const OnednnCall&) {
  return 0;
}

int64_t onednn_version() {
  return 0;
}

int64_t onednn_isa() {
  return 0;
}

bool onednn_makes(const int64_t*, uint32_t, const float*, int64_t*) {
  return false;
}

bool onednn_pack_weights(const int64_t*, uint32_t, const float*, const float*, void*) {
  return false;
}

}  // namespace korch::rt

extern "C" {
const korch::rt::LibraryOps korch_onednn_ops = {korch::rt::refuse, [](void*) {}};

int32_t korch_onednn_run(const korch_kernel_context*, int64_t, int64_t) {
  return KORCH_KERNEL_LIBRARY_FAILED;
}
}
