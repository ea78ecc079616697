// Files: whole-file reads, read-only maps, and writes that leave either the old file or the new one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace korch {

// Throws Error{io} naming the path and the system's reason.
std::string read_file(const std::string& path);

// The file that writing to `path` makes or replaces: links are followed, so that a link stays and the file it
// leads to is replaced in its own folder. Only regular files are replaced: throws Error{usage} where a
// folder, a device, a pipe, a socket or a link that leads nowhere stands, Error{io} where the system does not
// let us look.
std::string output_target(const std::string& path);

// Writes beside output_target(path) and renames; on any failure the temporary is removed and Error{io}
// (Error{resource} when the disk is full) is thrown.
void write_file(const std::string& path, std::string_view content);
void write_file_parts(const std::string& path, const std::vector<std::string_view>& parts);

// Overwrites a part of a file that is still a temporary of its own.
void write_into_file(const std::string& path, size_t offset, std::string_view content);

// Throws as write_file would, before the work that leads to it is done.
void require_writable(const std::string& path);

bool file_exists(const std::string& path);
void make_directories(const std::string& path);

// A fresh directory, removed with its content by the destructor: below the system's temporary folder, or
// beside another file and called like it, with a suffix.
class TempDir {
 public:
  TempDir();
  explicit TempDir(const std::string& prefix);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A read-only memory map of a whole file. Throws Error{io}.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const char* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  std::string_view view() const { return {data_, size_bytes_}; }

 private:
  const char* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace korch
