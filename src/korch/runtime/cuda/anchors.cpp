// What is filled in when an executable is made of this library (package/appended.h): two words, each the
// distance to what it stands for, and the record of checksums. In a file of their own, so that no reader takes
// them for zeros.
#include "korch/runtime/cuda/anchors.h"

#define KORCH_IN_SECTION(name) __attribute__((section(name), used))

KORCH_IN_SECTION(".korch.anchors") const uint64_t korch_model_at = 0;
KORCH_IN_SECTION(".korch.anchors") const uint64_t korch_info_at = 0;
KORCH_IN_SECTION(".korch.check") const korch::rt::CheckRecord korch_check_record = {};
const uint64_t* const korch_model_anchor = &korch_model_at;
