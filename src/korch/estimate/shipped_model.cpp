#include "korch/estimate/shipped_model.h"

#include "korch/base/embed.h"

KORCH_EMBED(shipped_model_text, KORCH_COST_MODEL)
