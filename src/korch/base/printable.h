// Names and texts from files, made fit for a terminal, a log or a dump.
#pragma once

#include <string>
#include <string_view>

namespace korch {

// `text` with what a terminal would obey or not show as \xNN: control characters (C1 ones as UTF-8 spells
// them too) and bytes that are no UTF-8. Everything else, backslashes included, stays.
std::string printable(std::string_view text);

}  // namespace korch
