#include "korch/package/embedded.h"

#include "korch/base/embed.h"

KORCH_EMBED(runtime_archive, KORCH_RUNTIME_ARCHIVE)
KORCH_EMBED(korch_h, KORCH_RUNTIME_FOLDER "/korch.h")
KORCH_EMBED(abi_h, KORCH_RUNTIME_FOLDER "/abi.h")
KORCH_EMBED(step_h, KORCH_RUNTIME_FOLDER "/step.h")
KORCH_EMBED(model_h, KORCH_RUNTIME_FOLDER "/model.h")
KORCH_EMBED(check_h, KORCH_RUNTIME_FOLDER "/check.h")
