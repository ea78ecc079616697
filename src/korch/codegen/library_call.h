// Facts about a library call that need no call.
#pragma once

#include <cstdint>
#include <optional>

#include "korch/plan/kernel.h"

namespace korch {

// The number of images, if the call's slices go image by image; else nothing.
std::optional<int64_t> images_of(const LibraryCall& call);
// Whether it computes by Winograd's transforms, where an infinity spoils the results beside it.
bool uses_winograd(const LibraryCall& call);

}  // namespace korch
