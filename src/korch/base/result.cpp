#include "korch/base/result.h"

#include <iterator>

namespace korch {

const char* name(RefusalReason reason) {
  static constexpr const char* kNames[] = {"no kernel family",
                                           "unsupported type",
                                           "unsupported layout",
                                           "redundant work",
                                           "scratch too large",
                                           "compile failed",
                                           "miscompiled",
                                           "unproven",
                                           "spills",
                                           "library refused",
                                           "run failed",
                                           "out of memory",
                                           "struck"};
  static_assert(std::size(kNames) == static_cast<size_t>(RefusalReason::struck) + 1);
  return kNames[static_cast<size_t>(reason)];
}

}  // namespace korch
