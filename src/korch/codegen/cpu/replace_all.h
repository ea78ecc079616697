// Text with every occurrence of a part replaced, from left to right; what is put in is not looked at again.
#pragma once

#include <string>

namespace korch::tile {

inline std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace korch::tile
