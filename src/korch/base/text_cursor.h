// What the parsers of korch's own texts share: a position in a text, tokens at it, and errors that name it.
// Spaces and comments (from // to the end of the line) stand between tokens.
#pragma once

#include <string>
#include <string_view>

namespace korch {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

 protected:
  // Throws Error{invalid}: "line 3, column 7: WHAT".
  [[noreturn]] void fail(const std::string& what) const;
  void skip_space();
  bool at_end();  // nothing but space is left
  // Whether the token comes next; then it is passed.
  bool accept(std::string_view token);
  void expect(std::string_view token);

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace korch
