// The checksums of an executable (runtime/check.h).
#pragma once

#include <string>

#include "korch/package/elf_file.h"

namespace korch {

constexpr const char* kCheckSection = ".korch.check";

// Fills in the section of a file that was just linked. Every byte of the file that is not in the section
// itself is in one of its sums. Error{io} and Error{resource} as files give them.
void seal_executable(const std::string& path);

// Error{io} that names the damaged part, or the format when it is another one.
void require_intact(const ElfFile& file);

}  // namespace korch
