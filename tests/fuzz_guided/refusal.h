// What every target does with an input that is refused, and a file in memory for readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "korch/base/error.h"

namespace korch::fuzz {

// Runs the reader; its Errors are fine, unless they blame korch itself.
template <typename Reader>
void expect_read_or_refused(Reader&& reader) {
  try {
    reader();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
  }
}

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t written = ::write(fd_, bytes.data() + at, bytes.size() - at);
      if (written <= 0) throw Error(ErrorKind::resource, "no memory for a file");
      at += static_cast<size_t>(written);
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace korch::fuzz
