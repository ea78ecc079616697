// The kernel database: what was compiled and measured before, on SQLite (docs/design/profile.md).
//
// A key is a hash of everything that can change the value; the caller builds it. Four tables: objects (object
// code), costs (measurements of one kernel), conditions (what a cost depends on: cost_row.h), texts (whole
// plans, machine peaks and devices as JSON, kernels as text). Every row carries a checksum of its key and
// value.
//
// A file that stands at the path and is no database of ours is refused: Error{usage} from the constructor,
// the file untouched. Otherwise the database is a cache, and nothing that is wrong with it stops a compile: a
// row that does not match its checksum, is too large or says nothing sensible is a miss and is replaced; a
// file of ours that cannot be read any more is renamed to <path>.corrupt-N, one of an older schema to
// <path>.older-N, and a fresh one begins; one of a newer schema is left alone and not used; when the file
// cannot be written (full disk, read-only folder, locked for too long) what is put stays in memory for this
// process. Each of these adds one warning. Several processes, and several threads of one process, may use one
// file at the same time. Nothing else is thrown, but where memory runs out.
//
// Objects are code that will run here. They are used only where nobody but this user and root can have put
// them there: the file, SQLite's files beside it and their folder belong to one of the two and cannot be
// written by group or others (a folder may be, with the sticky bit). Otherwise objects are neither read nor
// written, with a warning; costs and texts are, since their readers check them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "korch/base/hash.h"
#include "korch/profile/cost_row.h"

namespace korch {

class Database {
 public:
  // Opens or creates the file and its folder. ":memory:" lives and dies with this object.
  explicit Database(const std::string& path);
  ~Database();  // commits
  // Throws as the constructor would, and leaves no trace.
  static void require_ours(const std::string& path);
  // What the constructor opens or makes: the file, and those that SQLite keeps beside it.
  static std::vector<std::string> files(const std::string& path);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  std::optional<std::string> get_object(const Hash& key);
  std::optional<Cost> get_cost(const Hash& key);
  std::optional<std::string> get_text(const Hash& key);
  std::optional<CostConditions> get_conditions(const Hash& key);
  // Keys of the costs whose conditions are known, ascending.
  std::vector<Hash> described_costs();

  // Replaces. Visible to this process at once, to others after the next commit; puts commit by themselves
  // every kRowsPerCommit rows.
  void put_object(const Hash& key, std::string_view object);
  void put_cost(const Hash& key, const Cost& cost);
  void put_text(const Hash& key, std::string_view text);
  void put_conditions(const Hash& key, const CostConditions& conditions);
  void commit();

  // For people, one sentence each, handed out once.
  std::vector<std::string> take_warnings();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace korch
