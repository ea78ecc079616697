// Nodes that end a run with an error: gathers that meet an index outside of their axis where something about
// the run is wrong, and have an origin that says what.
#pragma once

#include <string>
#include <string_view>

namespace korch {

inline constexpr std::string_view kRefusal = "refused: ";

inline std::string refusal_origin(const std::string& what_is_wrong) {
  return std::string(kRefusal) + what_is_wrong;
}

}  // namespace korch
