// What can be told of a library's call without making it.
#pragma once

#include <cstdint>
#include <optional>

#include "korch/plan/kernel.h"

namespace korch {

// Images that the call's slices are of, one image after the other; nothing for calls that are not so.
std::optional<int64_t> images_of(const LibraryCall& call);
// Whether it computes by Winograd's transforms, where an infinity spoils the results beside it.
bool uses_winograd(const LibraryCall& call);

}  // namespace korch
