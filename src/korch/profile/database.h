// The kernel database: what was compiled and measured before, on SQLite (docs/design/profile.md).
//
// A key is a hash of everything that can change the value; the caller builds it. Three tables: objects
// (object code), costs (measurements of one kernel), texts (whole plans and machine peaks, as JSON). Every
// row carries a checksum of its key and value.
//
// The database is a cache, so nothing that is wrong with it stops a compile: a row that does not match its
// checksum is a miss and is replaced; a file that is not one of ours is renamed to <path>.corrupt-N and a
// fresh one begins; a schema of another version starts empty tables; when the file cannot be written (full
// disk, read-only folder, locked for too long) what is put stays in memory for this process. Each of these
// adds one warning. Several processes, and several threads of one process, may use one file at the same time.
// Nothing is thrown after construction; the constructor throws only when memory runs out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "korch/base/hash.h"
#include "korch/profile/measure.h"

namespace korch {

class Database {
 public:
  // Opens or creates the file and its folder. ":memory:" lives and dies with this object.
  explicit Database(const std::string& path);
  ~Database();  // commits
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  std::optional<std::string> get_object(const Hash& key);
  std::optional<Cost> get_cost(const Hash& key);
  std::optional<std::string> get_text(const Hash& key);

  // Replaces. Visible to this process at once, to others after the next commit; puts commit by themselves
  // every kRowsPerCommit rows.
  void put_object(const Hash& key, std::string_view object);
  void put_cost(const Hash& key, const Cost& cost);
  void put_text(const Hash& key, std::string_view text);
  void commit();

  // For people, one sentence each, handed out once.
  std::vector<std::string> take_warnings();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace korch
