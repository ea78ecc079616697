#include "korch/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "korch/base/error.h"
#include "korch/base/hash.h"
#include "korch/base/temporary.h"

namespace korch {
namespace {

[[noreturn]] void throw_errno(const char* action, const std::string& path) {
  const int code = errno;
  const bool is_full = code == ENOSPC || code == EDQUOT || code == EFBIG || code == ENOMEM;
  const ErrorKind kind = is_full ? ErrorKind::resource : ErrorKind::io;
  throw Error(kind, fmt::format("cannot {} '{}': {}", action, path, std::strerror(code)));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

// Beside the wanted file; removed unless it was renamed into its place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& wanted) : path_(make_temporary(wanted, TemporaryKind::file)) {}
  ~TemporaryFile() {
    if (!path_.empty()) remove_temporary(path_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

size_t regular_file_size(int fd, const std::string& path) {
  struct stat info;
  if (::fstat(fd, &info) != 0) throw_errno("read", path);
  if (!S_ISREG(info.st_mode)) throw Error(ErrorKind::io, fmt::format("'{}' is not a regular file", path));
  return static_cast<size_t>(info.st_size);
}

const char* kind_of_file(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "not a regular file";
}

[[noreturn]] void refuse_to_replace(const std::string& path, const char* kind) {
  throw Error(ErrorKind::usage,
              fmt::format("cannot write '{}': it is {}; only a regular file is replaced", path, kind));
}

}  // namespace

std::string output_target(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::string target = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    struct stat info;
    if (::stat(target.c_str(), &info) == 0) {
      if (!S_ISREG(info.st_mode)) refuse_to_replace(path, kind_of_file(info.st_mode));
      std::error_code code;
      const std::string real = std::filesystem::canonical(target, code).string();
      struct stat again;  // the links of /proc lead to files that their text does not name
      if (code || ::stat(real.c_str(), &again) != 0 || again.st_dev != info.st_dev ||
          again.st_ino != info.st_ino)
        refuse_to_replace(path, "a link to a file without a name");
      return real;
    }
    if (errno == ELOOP) break;
    if (errno != ENOENT) throw_errno("write", path);
    if (::lstat(target.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return target;
    std::error_code code;
    const std::filesystem::path next = std::filesystem::read_symlink(target, code);
    if (code) break;
    target = (std::filesystem::path(target).parent_path() / next).string();
  }
  refuse_to_replace(path, "a link that leads nowhere");
}

std::string read_file(const std::string& path) {
  const MappedFile file(path);
  return std::string(file.view());
}

void write_file(const std::string& path, std::string_view content) {
  write_file_parts(path, {content});
}

void write_file_parts(const std::string& path, const std::vector<std::string_view>& parts) {
  const std::string target = output_target(path);
  const TemporaryFile temporary(target);
  if (temporary.path().empty()) throw_errno("write", path);
  FileDescriptor fd(::open(temporary.path().c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) throw_errno("write", path);
  for (std::string_view part : parts) {
    while (!part.empty()) {
      const ssize_t written = ::write(fd.get(), part.data(), part.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw_errno("write", path);
      part.remove_prefix(static_cast<size_t>(written));
    }
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(fd.get(), 0666 & ~mask) != 0) throw_errno("write", path);
  if (::close(fd.release()) != 0) throw_errno("write", path);
  if (::rename(temporary.path().c_str(), target.c_str()) != 0) throw_errno("write", path);
}

void write_into_file(const std::string& path, size_t offset, std::string_view content) {
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) throw_errno("write", path);
  while (!content.empty()) {
    const ssize_t written = ::pwrite(fd.get(), content.data(), content.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno("write", path);
    content.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<size_t>(written);
  }
  if (::close(fd.release()) != 0) throw_errno("write", path);
}

void require_writable(const std::string& path) {
  if (TemporaryFile(output_target(path)).path().empty()) throw_errno("write", path);
}

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void make_directories(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) throw Error(ErrorKind::io, fmt::format("cannot create folder '{}': {}", path, code.message()));
}

namespace {

std::string machine_tag() {
  constexpr size_t kDigits = 8;
  char host[HOST_NAME_MAX + 1] = {};
  ::gethostname(host, HOST_NAME_MAX);
  return hash_text(host).hex().substr(0, kDigits);
}

// Of this process's folders; those that killed processes of this machine left are removed when it is first
// asked for. (On a file system that machines share one does not see another's locks.)
const std::string& temporary_prefix() {
  static const std::string& prefix = *new std::string([] {
    std::error_code code;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(code);
    if (code)
      throw Error(ErrorKind::io, "no folder for temporary files: " + code.message() +
                                     "; set the environment's TMPDIR to one that exists");
    std::string own = (folder / ("korch-work-" + machine_tag())).string();
    remove_dead_temporaries(own);
    return own;
  }());
  return prefix;
}

}  // namespace

TempDir::TempDir() : TempDir(temporary_prefix()) {}

TempDir::TempDir(const std::string& prefix) : path_(make_temporary(prefix, TemporaryKind::folder)) {
  if (path_.empty()) throw_errno("create a temporary folder beside", prefix);
}

TempDir::~TempDir() {
  remove_temporary(path_);
}

MappedFile::MappedFile(const std::string& path) {
  // A pipe would block until somebody writes to it; it is refused below.
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) throw_errno("read", path);
  size_bytes_ = regular_file_size(fd.get(), path);
  if (size_bytes_ == 0) return;
  void* data = ::mmap(nullptr, size_bytes_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) throw_errno("map", path);
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_bytes_);
}

}  // namespace korch
