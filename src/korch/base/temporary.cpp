#include "korch/base/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

namespace korch {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, int> paths;  // with the descriptor that locks a folder, or -1
};

constexpr int kHidden = 6;  // characters that mkdtemp chooses

// Never destroyed: threads may use it while the process exits.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

void remove_tree(const std::string& path) {
  constexpr int kAttempts = 10;  // other threads may still be putting files into it
  std::error_code code;
  for (int i = 0; i < kAttempts; ++i) {
    std::filesystem::remove_all(path, code);
    if (!code) return;
  }
}

// A descriptor of the folder that keeps others from locking it until it is closed; -1 with errno set where
// somebody has locked it, or it is none.
int locked_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int code = errno;
  ::close(fd);
  errno = code;
  return -1;
}

}  // namespace

std::string make_temporary(const std::string& prefix, TemporaryKind kind) {
  std::string path = prefix + ".XXXXXX";
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  int lock_fd = -1;
  if (kind == TemporaryKind::folder) {
    if (::mkdtemp(path.data()) == nullptr) return {};
    lock_fd = locked_folder(path);
    if (lock_fd < 0) {
      const int code = errno;
      ::rmdir(path.c_str());
      errno = code;
      return {};
    }
  } else {
    const int fd = ::mkstemp(path.data());
    if (fd < 0) return {};
    ::close(fd);
  }
  all.paths.emplace(path, lock_fd);
  return path;
}

void remove_temporary(const std::string& path) {
  const int code = errno;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.paths.find(path); found != all.paths.end()) {
    remove_tree(path);
    if (found->second >= 0) ::close(found->second);
    all.paths.erase(found);
  }
  errno = code;
}

void remove_dead_temporaries(const std::string& prefix) {
  constexpr time_t kYoung_s = 60;  // it may be about to be locked
  const std::filesystem::path whole(prefix);
  const std::string name = whole.filename().string() + ".";
  std::error_code code;
  std::filesystem::directory_iterator entry(whole.parent_path(), code);
  for (; !code && entry != std::filesystem::directory_iterator(); entry.increment(code)) {
    const std::string path = entry->path().string(), file = entry->path().filename().string();
    if (file.size() != name.size() + kHidden || file.compare(0, name.size(), name) != 0) continue;
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid() ||
        ::time(nullptr) - status.st_mtime <= kYoung_s)
      continue;
    const int fd = locked_folder(path);
    if (fd < 0) continue;
    remove_tree(path);
    ::close(fd);
  }
}

void remove_all_temporaries_for_good() {
  Registry& all = registry();
  all.mutex.lock();
  for (const auto& [path, lock] : all.paths) remove_tree(path);
}

}  // namespace korch
