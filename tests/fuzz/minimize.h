// A failing case, made as small as it can be and still fail in the same way.
#pragma once

#include <functional>

#include "finding_file.h"

namespace korch::fuzz {

// Whether the case still fails: each try in a process of its own, so that it may die or hang.
bool still_fails(const SavedCase& saved, const std::string& kind, double hang_s);

// Drops outputs and nodes, cuts extents, makes constants plain; ends when nothing more can go, or after so
// many seconds.
SavedCase minimized(const SavedCase& saved, const std::string& kind, double most_s);

}  // namespace korch::fuzz
