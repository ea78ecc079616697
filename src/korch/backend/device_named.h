// A device by what --target says.
#pragma once

#include <string>

#include "korch/device/device.h"

namespace korch {

// As detect_device; "cuda" is the GPU of this machine. Error{usage} where there is none.
Device device_named(const std::string& target, int workers);

}  // namespace korch
