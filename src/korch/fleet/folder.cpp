#include "korch/fleet/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "korch/base/error.h"
#include "korch/base/only_ours.h"
#include "korch/base/printable.h"
#include "korch/base/temporary.h"

namespace korch {
namespace {

constexpr std::array kRooms = {"offer", "claimed", "done", "sentinels", "notes", "verdicts", "beats", "logs"};
static_assert(kRooms.size() == static_cast<size_t>(Room::logs) + 1);
constexpr off_t kMostBytes = off_t{256} << 20;  // of a file: an object is some kilobytes

[[noreturn]] void folder_failure(const char* action, const std::string& path) {
  const int code = errno;
  const bool is_full = code == ENOSPC || code == EDQUOT || code == EFBIG || code == ENOMEM;
  throw Error(is_full ? ErrorKind::resource : ErrorKind::io,
              fmt::format("cannot {} '{}': {}", action, path, std::strerror(code)));
}

// Closed, and removed unless it got its name.
class Draft {
 public:
  Draft(const std::string& wanted, std::string_view content)
      : path_(make_temporary(wanted, TemporaryKind::file)) {
    if (path_.empty()) folder_failure("write", wanted);
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    while (fd_ >= 0 && !content.empty()) {
      const ssize_t written = ::write(fd_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(wanted);
      content.remove_prefix(static_cast<size_t>(written));
    }
    if (fd_ < 0 || ::fsync(fd_) != 0) fail(wanted);
    const int closed = ::close(fd_);
    fd_ = -1;
    if (closed != 0) fail(wanted);
  }
  ~Draft() {
    if (fd_ >= 0) ::close(fd_);
    if (!path_.empty()) remove_temporary(path_);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const std::string& wanted) {
    const int code = errno;
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    remove_temporary(path_);
    path_.clear();
    errno = code;
    folder_failure("write", wanted);
  }

  std::string path_;
  int fd_ = -1;
};

void require_trusted(const std::string& folder) {
  if (const std::string reason = reason_to_distrust(folder); !reason.empty())
    throw Error(
        ErrorKind::usage,
        fmt::format("the fleet's folder '{}' is not this user's alone: {}. It holds code that is run: "
                    "give one that nobody else can write to",
                    printable(folder), reason));
}

// Rooms are cleared: in a folder of other things they could be somebody's own.
void require_rooms_alone(const std::string& folder) {
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (const std::string name = at->path().filename().string();
        name[0] != '.' && std::ranges::find(kRooms, name) == kRooms.end())
      throw Error(ErrorKind::usage,
                  fmt::format("'{}' holds '{}', which is no fleet's, and files of a fleet are removed at its "
                              "end: give an empty or a new folder",
                              printable(folder), printable(name)));
}

}  // namespace

FleetFolder::FleetFolder(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), code);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) folder_failure("make", path);
  const std::filesystem::path real = std::filesystem::canonical(path, code);
  if (code) throw Error(ErrorKind::io, fmt::format("cannot use '{}': {}", path, code.message()));
  path_ = real.string();
  require_trusted(path_);
  require_rooms_alone(path_);
  for (const char* room : kRooms) {
    const std::string folder = path_ + "/" + room;
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) folder_failure("make", folder);
    require_trusted(folder);
  }
}

std::string FleetFolder::path_of(Room room, const std::string& name) const {
  return path_ + "/" + kRooms[static_cast<size_t>(room)] + "/" + name;
}

std::vector<std::string> FleetFolder::names(Room room) const {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator at(path_of(room, ""), code), end; !code && at != end;
       at.increment(code))
    if (const std::string name = at->path().filename().string(); name.find('.') == name.npos)
      names.push_back(name);
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> FleetFolder::read(Room room, const std::string& name) const {
  const int fd = ::open(path_of(room, name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  std::optional<std::string> content;
  struct stat info;
  if (reason_to_distrust(fd).empty() && ::fstat(fd, &info) == 0 && info.st_size <= kMostBytes) {
    content.emplace(static_cast<size_t>(info.st_size), '\0');
    size_t at = 0;
    while (at < content->size()) {
      const ssize_t count = ::read(fd, content->data() + at, content->size() - at);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      at += static_cast<size_t>(count);
    }
    content->resize(at);
  }
  ::close(fd);
  return content;
}

void FleetFolder::write(Room room, const std::string& name, std::string_view content) const {
  const std::string path = path_of(room, name);
  const Draft draft(path, content);
  if (::rename(draft.path().c_str(), path.c_str()) != 0) folder_failure("write", path);
}

bool FleetFolder::write_new(Room room, const std::string& name, std::string_view content) const {
  const std::string path = path_of(room, name);
  const Draft draft(path, content);
  if (::link(draft.path().c_str(), path.c_str()) == 0) return true;
  if (errno != EEXIST) folder_failure("write", path);
  return false;
}

bool FleetFolder::overwrite(Room room, const std::string& name, std::string_view content) const {
  const int fd = ::open(path_of(room, name).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  const bool done = ::pwrite(fd, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size());
  ::close(fd);
  return done;
}

bool FleetFolder::move(Room from, const std::string& name, Room to, const std::string& as) const {
  const std::string source = path_of(from, name);
  if (::rename(source.c_str(), path_of(to, as).c_str()) == 0) return true;
  if (errno != ENOENT) folder_failure("move", source);
  return false;
}

bool FleetFolder::try_move(Room from, const std::string& name, Room to,
                           const std::string& as) const noexcept {
  return ::rename(path_of(from, name).c_str(), path_of(to, as).c_str()) == 0;
}

void FleetFolder::remove(Room room, const std::string& name) const {
  ::unlink(path_of(room, name).c_str());
}

void FleetFolder::clear(Room room) const {
  for (const std::string& name : names(room)) remove(room, name);
}

void FleetFolder::remove_all() const {
  // Where somebody still lives all rooms stay.
  for (const Room room : {Room::beats, Room::notes, Room::offer, Room::claimed, Room::done, Room::sentinels,
                          Room::verdicts, Room::logs})
    if (::rmdir(path_of(room, "").c_str()) != 0) return;
  ::rmdir(path_.c_str());
}

bool is_plain_name(std::string_view name) {
  constexpr size_t kLongest = 100;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, is_plain);
}

std::string claim_name(const std::string& key, const std::string& worker) {
  return key + "@" + worker;
}

std::optional<Claim> parse_claim(const std::string& name) {
  const size_t at = name.find('@');
  if (at == name.npos) return std::nullopt;
  Claim claim{name.substr(0, at), name.substr(at + 1)};
  return is_plain_name(claim.key) && is_plain_name(claim.worker) ? std::optional(claim) : std::nullopt;
}

}  // namespace korch
