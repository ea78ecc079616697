// Of an executable that a linker made: the tables are symbols.
#include "korch/runtime/tables.h"

extern "C" const korch::rt::Model korch_model;
extern "C" const korch_model_info korch_info;

namespace korch::rt {

const Model& the_model() {
  return korch_model;
}

const korch_model_info& the_info() {
  return korch_info;
}

}  // namespace korch::rt
