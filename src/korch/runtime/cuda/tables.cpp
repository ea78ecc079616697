// Of an executable that was linked before there were tables.
#include "korch/runtime/tables.h"

#include "korch/runtime/cuda/anchors.h"

namespace korch::rt {
namespace {

template <typename T>
const T& at(const uint64_t* anchor) {
  return *reinterpret_cast<const T*>(reinterpret_cast<uint64_t>(anchor) + *anchor);
}

}  // namespace

const Model& the_model() {
  return at<Model>(korch_model_anchor);
}

const korch_model_info& the_info() {
  return at<korch_model_info>(&korch_info_at);
}

}  // namespace korch::rt
