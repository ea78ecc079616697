#include "korch/estimate/shipped_model.h"

#include "korch/base/embed.h"

namespace korch {
std::string_view shipped_model_text();
}
KORCH_EMBED(shipped_model_text, KORCH_COST_MODEL)

namespace korch {

const TreeModel& shipped_model() {
  static const TreeModel model =
      tree_model_from_text(shipped_model_text(), "the program's own model of costs");
  return model;
}

}  // namespace korch
