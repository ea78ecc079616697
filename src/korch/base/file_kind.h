// What a file is that is not what was wanted, by its first bytes.
#pragma once

#include <string>
#include <string_view>

namespace korch {

// A sentence's end: "it is a Git LFS pointer: git lfs pull gets the file itself". Empty where nothing is
// known.
std::string kind_of_file(std::string_view bytes);

}  // namespace korch
