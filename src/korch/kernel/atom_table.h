// The atoms of all indices, each once per process, for as long as it runs. Any thread may ask.
#pragma once

#include "korch/kernel/index.h"

namespace korch::tile {

const Atom* variable_atom(const std::string& name, IndexRange range);
const Atom* dynamic_atom(int id, IndexRange range);
const Atom* derived_atom(AtomKind kind, const Index& arg, int64_t a, int64_t b, IndexRange range);

}  // namespace korch::tile
