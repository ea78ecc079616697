// The program's own description of its command line (CLI11), as completion and the manual page read it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace korch {

// Those that --help lists, in its order.
std::vector<const CLI::App*> visible_verbs(const CLI::App& app);

// Those that begin with a dash, and the arguments by position.
std::vector<const CLI::Option*> dashed_options(const CLI::App& verb);
std::vector<const CLI::Option*> positionals(const CLI::App& verb);

// "-o", "--output".
std::vector<std::string> spellings(const CLI::Option& option);

// Nothing follows it.
bool is_flag(const CLI::Option& option);

// What the option takes where that is one of a few words; else empty.
std::vector<std::string> choices(const CLI::Option& option);

}  // namespace korch
