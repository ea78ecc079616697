// Sections of data added to a finished shared library, without a linker: executables for GPUs have no code of
// their own for the CPU, so the runtime is linked when korch is built, and tables and weights come later.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "korch/package/data_object.h"

namespace korch {

// A word of the library that gets the distance to a section's symbol.
struct Anchor {
  std::string word, target;  // symbols
};

// The bytes of the library with the sections behind its own, in parts, since weights are large: `parts` of
// the sections must live as long as these. Links of sections lead to symbols of sections and of the library,
// which has its symbol table. Error{internal} where the library is no such one.
class AppendedLibrary {
 public:
  AppendedLibrary(std::string_view library, const std::vector<DataSection>& sections,
                  const std::vector<Anchor>& anchors);
  AppendedLibrary(const AppendedLibrary&) = delete;
  AppendedLibrary& operator=(const AppendedLibrary&) = delete;
  const std::vector<std::string_view>& parts() const { return parts_; }

 private:
  std::deque<std::string> owned_;  // what parts_ shows, but for the sections' own parts
  std::vector<std::string_view> parts_;
};

}  // namespace korch
