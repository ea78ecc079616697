// The atoms of all indices, each once per process, for as long as it runs. Any thread may ask.
#pragma once

#include "korch/kernel/index.h"

namespace korch::tile {

// The one object for `atom`, whose kind, range and operands are given; what follows from them is filled in.
const Atom* interned(Atom atom);

}  // namespace korch::tile
