// What one command reads and writes, by the file and not by its name: links and hard links are seen through.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace korch {

// A file that exists is its device and number; one that does not, its folder's and its name there.
struct FileIdentity {
  uint64_t device = 0, number = 0;
  std::string name;
  auto operator<=>(const FileIdentity&) const = default;
};

// Of what `path` leads to, links followed.
FileIdentity identify(const std::string& path);

// The files of one command, so that none is written over another. A role is what a message calls a file ("the
// model"). Both functions throw Error{usage}, naming both roles and the path, where something that is written
// would be a file that has another role. A file that has been replaced since (base/files.h) keeps its role.
class FileRoles {
 public:
  void reads(const std::string& role, const std::string& path) { add(role, path, false); }
  void writes(const std::string& role, const std::string& path) { add(role, path, true); }

 private:
  struct Use {
    std::string role, path;
    bool written = false;
  };
  void add(const std::string& role, const std::string& path, bool written);
  std::map<FileIdentity, Use> uses_;
};

}  // namespace korch
