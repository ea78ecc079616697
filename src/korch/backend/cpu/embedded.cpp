#include "korch/backend/cpu/embedded.h"

#include "korch/base/embed.h"

KORCH_EMBED(runtime_archive, KORCH_RUNTIME_ARCHIVE)
