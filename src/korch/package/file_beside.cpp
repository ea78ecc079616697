#include "korch/package/file_beside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "korch/base/error.h"

namespace korch {

void FileBeside::check_room(int64_t size_bytes) const {
  const int fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) fail();
  const int code = ::posix_fallocate(fd, 0, size_bytes);
  const bool released = ::ftruncate(fd, 0) == 0;
  ::close(fd);
  errno = code;
  if (code == ENOSPC || code == EDQUOT || code == EFBIG || !released) fail();
}

void FileBeside::move_into_place() const {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
}

void FileBeside::fail() const {
  const int code = errno;
  const ErrorKind kind =
      code == ENOSPC || code == EDQUOT || code == EFBIG ? ErrorKind::resource : ErrorKind::io;
  throw Error(kind, fmt::format("cannot write '{}': {}", path_, std::strerror(code)));
}

}  // namespace korch
