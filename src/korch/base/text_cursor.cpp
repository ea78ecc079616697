#include "korch/base/text_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "korch/base/error.h"

namespace korch {

void TextCursor::fail(const std::string& what) const {
  const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  throw Error(ErrorKind::invalid,
              fmt::format("line {}, column {}: {}", line, before.size() - start + 1, what));
}

void TextCursor::skip_space() {
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    } else if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool TextCursor::at_end() {
  skip_space();
  return at_ == text_.size();
}

bool TextCursor::accept(std::string_view token) {
  skip_space();
  if (text_.compare(at_, token.size(), token) != 0) return false;
  at_ += token.size();
  return true;
}

void TextCursor::expect(std::string_view token) {
  if (!accept(token)) fail(fmt::format("expected '{}'", token));
}

}  // namespace korch
