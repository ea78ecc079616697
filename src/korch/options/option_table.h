// The one table of options. The command line, Python, libkorch, the provider for ONNX Runtime and PyTorch's
// backend read it, and refuse unknown options in its words. The network, its shapes and the executable's name
// are no options: each interface has its own form for them.
#pragma once

#include <string>
#include <vector>

#include "korch/options/compile_options.h"

namespace korch {

// The interfaces; a bit each.
enum OptionUser : unsigned { kProgram = 1, kPython = 2, kLibrary = 4, kProvider = 8, kTorch = 16 };

struct UserOptions {
  CompileOptions compile;
  std::string cache;      // folder of executables that were made; empty: none are kept
  std::string compiler;   // the program korch; empty: the one installed with libkorch
  int instances = 1;      // calls of an executable at once
  bool constants = true;  // a module's parameters are the executable's
};

enum class OptionKind {
  truth,    // 0 or 1
  whole,    // a number from `least` to `most`
  seconds,  // 90, 90s, 5m, 1h; 0 stands for none
  word,     // one of `words`
  text,
  texts,  // a text, as often as it is given
  place,  // a file or a folder of korch's own; "": none
};
const char* name(OptionKind kind);

struct OptionRow {
  std::string name;          // as Python and C++ spell it: "dump_dir"
  std::string program_name;  // as the command line does: "--dump-dir", and "--no-verify" of a truth
                             // that holds unless it is given
  unsigned users = 0;        // of OptionUser
  OptionKind kind = OptionKind::text;
  std::string preset;  // what holds where it is not given, as a text
  std::string help;
  std::string otherwise = {};  // of a truth: what 0 does
  std::vector<std::string> words = {};
  uint64_t least = 0, most = 0;  // of a whole number
  std::string form = {};         // what a text must look like, if not every text does
  bool is_for_experts = false;   // about how a plan is found, not what is wanted of it
};

// The rows of these interfaces, in the order of the help text.
std::vector<OptionRow> option_rows(unsigned users);

// Throws Error{usage} if these interfaces have no option of this name, or if it does not take the value.
void set_option(UserOptions& options, unsigned users, const std::string& name, const std::string& value);

// "no option 'treads'; there are threads, accuracy".
std::string no_option_text(const std::string& name, const std::vector<std::string>& known);

// The presets, with korch's own places for kernels ("" where the user has no home folder).
UserOptions preset_options();

// $XDG_CACHE_HOME/korch/NAME, or below ~/.cache (of $HOME, or of the user's entry in the system's list of
// users); empty when none is known.
std::string place_in_cache(const std::string& name);

}  // namespace korch
