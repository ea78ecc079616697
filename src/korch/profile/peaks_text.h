// A machine's peaks as the kernel database keeps them.
#pragma once

#include <optional>
#include <string>

#include "korch/target/target.h"

namespace korch {

std::string to_text(const Peaks& peaks);
// Nothing when the text is not what to_text writes, or a rate is not a positive number.
std::optional<Peaks> peaks_from_text(const std::string& text);

}  // namespace korch
