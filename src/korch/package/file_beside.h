// A file that takes its place when it is whole.
#pragma once

#include <string>

#include "korch/base/files.h"

namespace korch {

// In a folder beside the wanted one (a linker makes temporaries of its own next to its output), removed
// unless it took its place.
class FileBeside {
 public:
  explicit FileBeside(const std::string& path)
      : path_(path), target_(output_target(path)), folder_(target_), temporary_(folder_.path() + "/output") {}
  const std::string& temporary() const { return temporary_; }
  // Fails when the disk cannot take `size_bytes` now: a linker maps its output, and a map without a disk
  // behind it ends in a signal.
  void check_room(int64_t size_bytes) const;
  void move_into_place() const;

 private:
  [[noreturn]] void fail() const;
  std::string path_, target_;
  TempDir folder_;
  std::string temporary_;
};

}  // namespace korch
