#include "korch/base/only_ours.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace korch {
namespace {

bool is_of_others(const struct stat& info) {
  return info.st_uid != ::geteuid() && info.st_uid != 0;
}

bool is_open_to_others(const struct stat& info) {
  return (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

std::string reason_in(const struct stat& info) {
  if (is_of_others(info)) return fmt::format("it belongs to user {}", info.st_uid);
  if (is_open_to_others(info)) return "group or others can write to it";
  return "";
}

}  // namespace

bool only_ours(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return errno == ENOENT;
  const bool is_guarded = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
  return !is_of_others(info) && (is_guarded || !is_open_to_others(info));
}

std::string reason_to_distrust(const std::string& folder) {
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0) return std::strerror(errno);
  return S_ISDIR(info.st_mode) ? reason_in(info) : "it is no folder";
}

std::string reason_to_distrust(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return std::strerror(errno);
  return S_ISREG(info.st_mode) ? reason_in(info) : "it is no file";
}

}  // namespace korch
