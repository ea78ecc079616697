// The tables of this executable.
#pragma once

#include "korch/runtime/model.h"

namespace korch::rt {

const Model& the_model();
const korch_model_info& the_info();  // what korch_describe tells: addresses, as C has them

}  // namespace korch::rt
