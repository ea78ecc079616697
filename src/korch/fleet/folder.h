// The shared folder through which a leader (the compilation) and workers (`korch measure --serve`) talk. It
// holds code, so all of it must be this user's alone. Nothing is ever seen half written: files come and move
// by rename.
//
//   offer/KEY             work that anybody may take; KEY is the hash of its bytes
//   claimed/KEY@WORKER    work that WORKER measures
//   done/KEY              its cost
//   sentinels/KEY         work that each worker measures first
//   notes/WORKER          who a worker is, and the costs of its sentinels; notes/leader: who leads
//   verdicts/WORKER       whether the leader takes its costs
//   beats/NAME            a number that rises while its process lives
//   logs/N                what the N-th command that starts workers says
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace korch {

enum class Room { offer, claimed, done, sentinels, notes, verdicts, beats, logs };

inline constexpr const char* kLeader = "leader";  // its name in notes and beats

class FleetFolder {
 public:
  // Makes what is missing, for this user alone. Throws Error{usage} where others could write to it or one of
  // its rooms, Error{io} and Error{resource} as files give them.
  explicit FleetFolder(const std::string& path);

  const std::string& path() const { return path_; }
  std::string path_of(Room room, const std::string& name) const;

  // Sorted; without what is being written.
  std::vector<std::string> names(Room room) const;
  // Nothing where it is gone, or is not this user's alone, or larger than any work is.
  std::optional<std::string> read(Room room, const std::string& name) const;
  // On the disk before it can be seen. Error{resource} where the disk is full, else Error{io}.
  void write(Room room, const std::string& name, std::string_view content) const;
  // As write, unless it is there already: then false.
  bool write_new(Room room, const std::string& name, std::string_view content) const;
  // Changes the first bytes of a file where it stands, which needs no space; false where that fails.
  bool overwrite(Room room, const std::string& name, std::string_view content) const;
  // False where it is gone: somebody else was faster.
  bool move(Room from, const std::string& name, Room to, const std::string& as) const;
  // Likewise, and false where it fails: for what must not throw.
  bool try_move(Room from, const std::string& name, Room to, const std::string& as) const noexcept;
  void remove(Room room, const std::string& name) const;
  void clear(Room room) const;
  // The rooms and the folder, where nothing is in them.
  void remove_all() const;

 private:
  std::string path_;
};

// Letters, digits, '-' and '_', so that it is a file's name and no more.
bool is_plain_name(std::string_view name);

// "KEY@WORKER".
std::string claim_name(const std::string& key, const std::string& worker);
struct Claim {
  std::string key, worker;
};
std::optional<Claim> parse_claim(const std::string& name);

}  // namespace korch
