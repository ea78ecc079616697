#include "korch/backend/cpu/foreign_error.h"

#include "korch/base/error.h"

namespace korch {

void throw_load_error(const std::string& what) {
  throw Error(ErrorKind::io, "cannot load compiled kernels: " + what);
}

void throw_link_error(const std::string& messages) {
  const auto mentions = [&](const char* text) { return messages.find(text) != std::string::npos; };
  if (mentions("No space left on device") || mentions("Disk quota exceeded") ||
      mentions("Cannot allocate memory"))
    throw Error(ErrorKind::resource, "cannot link the executable: " + messages);
  if (mentions("cannot open output file") || mentions("failed to write output"))
    throw Error(ErrorKind::io, "cannot link the executable: " + messages);
  throw Error(ErrorKind::internal, "cannot link the executable: " + messages);
}

}  // namespace korch
