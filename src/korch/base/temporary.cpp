#include "korch/base/temporary.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

namespace korch {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<std::string> paths;
};

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

}  // namespace

std::string make_temporary(const std::string& prefix, TemporaryKind kind) {
  std::string path = prefix + ".XXXXXX";
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (kind == TemporaryKind::folder) {
    if (::mkdtemp(path.data()) == nullptr) return {};
  } else {
    const int fd = ::mkstemp(path.data());
    if (fd < 0) return {};
    ::close(fd);
  }
  all.paths.insert(path);
  return path;
}

void remove_temporary(const std::string& path) {
  const int code = errno;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (all.paths.erase(path) != 0) remove_tree(path);
  errno = code;
}

void remove_all_temporaries_for_good() {
  Registry& all = registry();
  all.mutex.lock();
  for (const std::string& path : all.paths) remove_tree(path);
}

}  // namespace korch
