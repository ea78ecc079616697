#include "korch/codegen/library_call.h"

#include <cstddef>

#include "korch/runtime/cpu/onednn.h"

namespace korch {
namespace {

std::optional<int64_t> param(const LibraryCall& call, size_t offset_bytes) {
  const size_t field = offset_bytes / sizeof(int64_t);
  if (call.library != "onednn" || call.params.size() <= field) return std::nullopt;
  return call.params[field];
}

}  // namespace

std::optional<int64_t> images_of(const LibraryCall& call) {
  return param(call, offsetof(rt::OnednnCall, images));
}

bool uses_winograd(const LibraryCall& call) {
  return param(call, offsetof(rt::OnednnCall, winograd)).value_or(0) != 0;
}

}  // namespace korch
