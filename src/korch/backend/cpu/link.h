// Linking in process, with lld. The only file that knows it.
#pragma once

#include <string>
#include <vector>

namespace korch {

// The object with `prefix` before every symbol it defines for others; code and data stay as they are.
std::string with_symbol_prefix(const std::string& object, const std::string& prefix);

struct LinkRequest {
  std::vector<std::string> objects;   // files
  std::vector<std::string> archives;  // files; taken from as needed
  std::vector<std::string> sonames;   // shared libraries of the system to resolve against, e.g. "libm.so.6"
  std::vector<std::string> exported;  // symbols visible from outside
  std::string version_script;         // a file to write the list of them to
  std::string output;                 // replaced when it exists
};

// Makes a shared library. Error{resource} on a full disk, Error{io} when a library is missing or the output
// cannot be written, Error{internal} when symbols do not resolve.
void link_shared(const LinkRequest& request);

}  // namespace korch
