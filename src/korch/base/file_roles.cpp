#include "korch/base/file_roles.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "korch/base/error.h"

namespace korch {

FileIdentity identify(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) return {info.st_dev, info.st_ino, ""};
  std::error_code code;
  const std::filesystem::path absolute =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, code), code);
  const std::filesystem::path known = code ? std::filesystem::path(path) : absolute;
  if (::stat(known.parent_path().c_str(), &info) == 0)
    return {info.st_dev, info.st_ino, known.filename().string()};
  return {0, 0, known.string()};
}

void FileRoles::add(const std::string& role, const std::string& path, bool written) {
  const FileIdentity identity = identify(path);
  auto known = uses_.find(identity);
  // The number may be that of a file which has been replaced, and be another one's now.
  if (known != uses_.end() && identify(known->second.path) != identity) {
    const Use replaced = known->second;
    uses_.erase(known);
    uses_.insert_or_assign(identify(replaced.path), replaced);
    known = uses_.find(identity);
  }
  if (known == uses_.end()) {
    uses_[identity] = {role, path, written};
    return;
  }
  Use& use = known->second;
  if (use.role != role && (use.written || written))
    throw Error(ErrorKind::usage,
                fmt::format("{} and {} would be the same file, '{}'; give one of them another name", use.role,
                            role, path));
  use.written = use.written || written;
}

}  // namespace korch
