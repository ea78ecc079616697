// Symbols of anchors.cpp.
#pragma once

#include <stdint.h>

#include "korch/runtime/check.h"

extern "C" {
extern const uint64_t korch_model_at, korch_info_at;
// The address of the first: an address, so that the library has a table of relocations, which more are added
// to.
extern const uint64_t* const korch_model_anchor;
}
