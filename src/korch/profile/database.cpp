#include "korch/profile/database.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "korch/base/error.h"
#include "korch/base/only_ours.h"
#include "korch/profile/sqlite.h"

namespace korch {
namespace {

using sqlite::Connection;
using sqlite::Outcome;
using sqlite::Statement;

constexpr int kApplicationId = 0x6b6f7263;  // "korc": tells our files from other SQLite files
constexpr int kSchemaVersion = 2;           // raised when a table or the meaning of a value changes
constexpr size_t kRowsPerCommit = 64;       // what a killed process may lose
constexpr size_t kBytesPerCommit = 8 << 20;
constexpr std::array<const char*, 3> kBesides = {"-wal", "-shm",
                                                 "-journal"};  // SQLite's files beside its own
constexpr const char* kInMemory = ":memory:";

enum Table { kObjects, kCosts, kTexts, kConditions, kTables };
constexpr std::array<const char*, kTables> kTableNames = {"objects", "costs", "texts", "conditions"};

// An exclusive lock on a folder, so that one process at a time decides what to do with a broken file in it.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder)
      : fd_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ >= 0 && flock(fd_, LOCK_EX) != 0) {
      close(fd_);
      fd_ = -1;
    }
  }
  ~FolderLock() {
    if (fd_ >= 0) close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  bool held() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::string key_bytes(const Hash& key) {
  std::string bytes(16, '\0');
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<char>(key.high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<char>(key.low >> (56 - 8 * i));
  }
  return bytes;
}

Hash key_of(const std::string& bytes) {
  Hash key;
  for (size_t i = 0; i < 8; ++i) {
    key.high = key.high << 8 | static_cast<unsigned char>(bytes[i]);
    key.low = key.low << 8 | static_cast<unsigned char>(bytes[8 + i]);
  }
  return key;
}

int64_t checksum(Table table, const std::string& key, std::string_view value) {
  std::string all = kTableNames[table];
  all.append(key).append(value);
  return static_cast<int64_t>(hash_text(all).low);
}

std::string cost_text(const Cost& cost) {
  std::string text;
  char digits[64];
  for (const double number : {cost.us, cost.low_us, cost.high_us})
    text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr).push_back(' ');
  return text.append(std::to_string(cost.samples))
      .append(" ")
      .append(kCareNames[static_cast<size_t>(cost.care)]);
}

std::optional<Cost> parse_cost(const std::string& text) {
  Cost cost;
  const char* at = text.data();
  const char* end = at + text.size();
  for (double* number : {&cost.us, &cost.low_us, &cost.high_us}) {
    const std::from_chars_result parsed = std::from_chars(at, end, *number);
    if (parsed.ec != std::errc() || parsed.ptr == end || !std::isfinite(*number) || *number < 0)
      return std::nullopt;
    at = parsed.ptr + 1;
  }
  const std::from_chars_result parsed = std::from_chars(at, end, cost.samples);
  if (parsed.ec != std::errc() || cost.samples < 0 || parsed.ptr == end || *parsed.ptr != ' ')
    return std::nullopt;
  const std::string_view care(parsed.ptr + 1, static_cast<size_t>(end - parsed.ptr - 1));
  const auto* const name = std::find(kCareNames.begin(), kCareNames.end(), care);
  if (name == kCareNames.end()) return std::nullopt;
  cost.care = static_cast<Care>(name - kCareNames.begin());
  return cost;
}

bool is_sound(Connection& connection) {
  Statement check(connection, "PRAGMA quick_check(1)");
  return check.step() == Outcome::row && check.bytes(0) == "ok";
}

// A free name beside `path` for a file that cannot be used.
std::string name_aside(const std::string& path, const std::string& why) {
  for (int n = 1;; ++n) {
    const std::string candidate = path + "." + why + "-" + std::to_string(n);
    if (!std::filesystem::exists(candidate)) return candidate;
  }
}

uint32_t big_endian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// What stands at a path, found without SQLite: that would write to a foreign database which it opens (a
// journal rolled back, a log checkpointed). `done`: nothing, an empty file, or one of ours that SQLite may
// open; `failed`: it cannot be read, and SQLite will say why.
Outcome standing(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr size_t kVersionAt = 60, kApplicationAt = 68;  // in the header of SQLite's file format
  struct stat info;
  if (path == kInMemory || ::stat(path.c_str(), &info) != 0) return Outcome::done;
  if (!S_ISREG(info.st_mode)) return Outcome::foreign;
  if (info.st_size == 0) return Outcome::done;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Outcome::failed;
  std::array<unsigned char, 100> header = {};
  const ssize_t size = ::pread(fd, header.data(), header.size(), 0);
  ::close(fd);
  if (size < 0) return Outcome::failed;
  if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0 ||
      big_endian(&header[kApplicationAt]) != kApplicationId)
    return Outcome::foreign;
  return big_endian(&header[kVersionAt]) > kSchemaVersion ? Outcome::newer : Outcome::done;
}

bool may_hold_code(const std::string& path) {
  if (path == kInMemory) return true;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::vector<std::string> files = Database::files(path);
  return only_ours(folder.empty() ? "." : folder.string()) &&
         std::all_of(files.begin(), files.end(), only_ours);
}

}  // namespace

struct Database::State {
  std::mutex mutex;
  std::string path;
  std::unique_ptr<Connection> connection;  // null: everything stays in memory
  bool writable = false;   // false: what is put stays in memory, what the file holds is still read
  bool holds_code = true;  // false: objects are neither read nor written
  std::map<std::pair<Table, std::string>, std::string>
      pending;  // put, not yet committed; all that was put when in memory
  size_t pending_bytes = 0;
  std::string reason;  // of the last Outcome::failed
  bool set_aside_once = false, warned_row = false, warned_busy = false;
  std::vector<std::string> warnings;

  void in_memory(const std::string& why) {
    connection.reset();
    writable = false;
    warnings.push_back("kernel database " + path + ": " + why + "; what is measured now is not kept");
  }

  void open_file() {
    if (path != kInMemory) {
      std::error_code failure;  // SQLite says what is wrong with the folder
      const std::filesystem::path real = std::filesystem::weakly_canonical(path, failure);
      if (!failure) path = real.string();  // a link stays where it is, also when its file is set aside
      const std::filesystem::path folder = std::filesystem::path(path).parent_path();
      if (!folder.empty() && std::filesystem::create_directories(folder, failure))
        std::filesystem::permissions(
            folder, std::filesystem::perms::group_write | std::filesystem::perms::others_write,
            std::filesystem::perm_options::remove, failure);
    }
    if (standing(path) == Outcome::newer) return use(nullptr, Outcome::newer);
    auto fresh = std::make_unique<Connection>(path);
    const Outcome result = prepare(*fresh);
    if (result == Outcome::corrupt || result == Outcome::older) {
      fresh.reset();
      return set_aside(result);
    }
    use(std::move(fresh), result);
  }

  void use(std::unique_ptr<Connection> fresh, Outcome result) {
    if (result == Outcome::newer) return in_memory("it was written by a newer version of korch");
    if (result == Outcome::foreign) return in_memory("it is not a kernel database");
    if (result != Outcome::done) return in_memory(fresh->reason());
    connection = std::move(fresh);
    writable = !connection->read_only();
    if (!writable)
      warnings.push_back("kernel database " + path + " is read-only; what is measured now is not kept");
    holds_code = may_hold_code(path);
    if (!holds_code)
      warnings.push_back(
          "kernel database " + path +
          ": other users may write to it (or to its folder), or it is another user's; its compiled "
          "kernels are not used");
  }

  // Makes a database that was just opened ours, or says why it cannot be.
  Outcome prepare(Connection& fresh) {
    if (fresh.opened() != Outcome::done) return fresh.opened();
    int64_t version = 0;
    {
      Statement header(fresh,
                       "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
                       "FROM pragma_application_id, pragma_user_version");
      const Outcome read = header.step();
      if (read != Outcome::row) return read == Outcome::done ? Outcome::corrupt : read;
      const bool is_ours = header.integer(0) == kApplicationId;
      const bool is_empty = header.integer(2) == 0;
      if (!is_ours && !is_empty) return Outcome::foreign;
      if (!is_ours && fresh.read_only()) return Outcome::failed;
      version = is_ours ? header.integer(1) : kSchemaVersion;
      if (version > kSchemaVersion) return Outcome::newer;
      if (version < kSchemaVersion) return Outcome::older;
      if (is_ours && fresh.read_only()) return Outcome::done;
      if (!is_ours) version = 0;
    }
    if (version == 0)
      if (const Outcome created = create_tables(fresh); created != Outcome::done) return created;
    if (const Outcome mode = fresh.run("PRAGMA journal_mode = WAL"); mode == Outcome::corrupt) return mode;
    return fresh.run("PRAGMA synchronous = NORMAL");
  }

  Outcome create_tables(Connection& fresh) {
    if (const Outcome begun = fresh.run("BEGIN IMMEDIATE"); begun != Outcome::done) return begun;
    std::string sql;
    for (const char* table : kTableNames)
      sql += std::string("CREATE TABLE ") + table +
             " (key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL);";
    {
      // Another process may have made them between our look and our lock.
      Statement again(fresh, "SELECT user_version FROM pragma_user_version");
      if (again.step() == Outcome::row && again.integer(0) == kSchemaVersion) sql.clear();
    }
    sql += "PRAGMA application_id = " + std::to_string(kApplicationId) + ";";
    sql += "PRAGMA user_version = " + std::to_string(kSchemaVersion) + "; COMMIT;";
    const Outcome created = fresh.run(sql);
    if (created != Outcome::done) fresh.run("ROLLBACK");
    return created;
  }

  // A file of ours that cannot be read, or is of an older schema: renamed, never overwritten, and a fresh one
  // begins. Under a lock, because a second process may just have done the same.
  void set_aside(Outcome why) {
    connection.reset();
    writable = false;
    if (set_aside_once) return in_memory("it became unreadable again");
    set_aside_once = true;
    if (standing(path) == Outcome::foreign) return use(nullptr, Outcome::foreign);
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const FolderLock lock(folder.empty() ? "." : folder);
    auto again = std::make_unique<Connection>(path);
    Outcome result = prepare(*again);
    if (result == Outcome::done && is_sound(*again)) return use(std::move(again), result);
    again.reset();
    const bool is_older = why == Outcome::older && result == Outcome::older;
    const std::string aside = name_aside(path, is_older ? "older" : "corrupt");
    std::error_code failure;
    std::filesystem::rename(path, aside, failure);
    if (failure || !lock.held())
      return in_memory("it is not a readable kernel database and cannot be renamed");
    for (const char* suffix : kBesides) {
      std::error_code missing;
      std::filesystem::rename(path + suffix, aside + suffix, missing);
    }
    warnings.push_back("kernel database " + path +
                       (is_older ? " was written by an older version of korch" : " was not readable") +
                       "; it was renamed to " + aside + " and a new one begun");
    auto fresh = std::make_unique<Connection>(path);
    result = prepare(*fresh);
    use(std::move(fresh), result);
  }

  std::optional<std::string> get(Table table, const Hash& key) {
    const std::lock_guard lock(mutex);
    const std::string bytes = key_bytes(key);
    if (const auto found = pending.find({table, bytes}); found != pending.end()) return found->second;
    if (table == kObjects && !holds_code) return std::nullopt;
    return connection == nullptr ? std::nullopt : read_row(table, bytes);
  }

  std::optional<std::string> read_row(Table table, const std::string& key) {
    std::string value;
    int64_t sum = 0;
    Outcome read;
    {
      Statement select(*connection,
                       std::string("SELECT value, checksum FROM ") + kTableNames[table] + " WHERE key = ?1");
      select.bind_bytes(1, key);
      read = select.step();
      if (read == Outcome::row) {
        value = select.bytes(0);
        sum = select.integer(1);
      }
    }
    if (read == Outcome::row && sum == checksum(table, key, value)) return value;
    if (read == Outcome::row || read == Outcome::too_big)
      warn_row();
    else if (read == Outcome::corrupt)
      set_aside(read);
    else if (read != Outcome::done && read != Outcome::busy)
      in_memory(connection->reason());
    return std::nullopt;
  }

  std::vector<Hash> keys(Table table) {
    const std::lock_guard lock(mutex);
    std::set<Hash> all;
    for (const auto& [place, value] : pending)
      if (place.first == table) all.insert(key_of(place.second));
    if (connection != nullptr) {
      Statement select(*connection, std::string("SELECT key FROM ") + kTableNames[table]);
      while (select.step() == Outcome::row)
        if (const std::string bytes = select.bytes(0); bytes.size() == sizeof(Hash))
          all.insert(key_of(bytes));
    }
    return {all.begin(), all.end()};
  }

  void warn_row() {
    if (!warned_row)
      warnings.push_back("kernel database " + path + ": a row is corrupt and is ignored; there may be more");
    warned_row = true;
  }

  void put(Table table, const Hash& key, std::string_view value) {
    const std::lock_guard lock(mutex);
    if (value.size() > sqlite::kMostRowBytes || (table == kObjects && !holds_code)) return;
    pending.insert_or_assign({table, key_bytes(key)}, std::string(value));
    pending_bytes += value.size();
    if (writable && (pending.size() % kRowsPerCommit == 0 || pending_bytes > kBytesPerCommit)) commit();
  }

  void commit() {
    if (!writable || pending.empty()) return;
    Outcome written = write_pending();
    if (written == Outcome::corrupt) {
      set_aside(written);
      if (!writable) return;
      written = write_pending();
    }
    pending_bytes = 0;
    if (written == Outcome::done) {
      pending.clear();
    } else if (written == Outcome::busy) {
      // Kept in memory and tried again with the next commit.
      if (!warned_busy)
        warnings.push_back("kernel database " + path + " is locked by another process; waiting");
      warned_busy = true;
    } else {
      writable = false;
      warnings.push_back("kernel database " + path + ": " + reason + "; what is measured now is not kept");
    }
  }

  Outcome write_pending() {
    Outcome result = connection->run("BEGIN IMMEDIATE");
    if (result != Outcome::done) {
      reason = connection->reason();
      return result;
    }
    for (const auto& [place, value] : pending) {
      const auto& [table, key] = place;
      Statement insert(*connection,
                       std::string("INSERT OR REPLACE INTO ") + kTableNames[table] + " VALUES (?1, ?2, ?3)");
      insert.bind_bytes(1, key);
      insert.bind_bytes(2, value);
      insert.bind_integer(3, checksum(table, key, value));
      result = insert.step();
      if (result != Outcome::done) break;
    }
    if (result == Outcome::done) result = connection->run("COMMIT");
    if (result != Outcome::done) {
      reason = connection->reason();
      connection->run("ROLLBACK");
    }
    return result;
  }
};

Database::Database(const std::string& path) : state_(std::make_unique<State>()) {
  require_ours(path);
  state_->path = path;
  state_->open_file();
}

Database::~Database() {
  commit();
}

void Database::require_ours(const std::string& path) {
  if (standing(path) == Outcome::foreign)
    throw Error(ErrorKind::usage, "'" + path +
                                      "' is not a kernel database; it is left as it is (give another "
                                      "name, or --no-profile-db)");
}

std::vector<std::string> Database::files(const std::string& path) {
  std::vector<std::string> all = {path};
  for (const char* suffix : kBesides) all.push_back(path + suffix);
  return all;
}

void Database::commit() {
  const std::lock_guard lock(state_->mutex);
  state_->commit();
}

std::optional<std::string> Database::get_object(const Hash& key) {
  return state_->get(kObjects, key);
}
std::optional<std::string> Database::get_text(const Hash& key) {
  return state_->get(kTexts, key);
}

std::optional<Cost> Database::get_cost(const Hash& key) {
  const std::optional<std::string> text = state_->get(kCosts, key);
  if (!text) return std::nullopt;
  const std::optional<Cost> cost = parse_cost(*text);
  if (cost) return cost;
  const std::lock_guard lock(state_->mutex);
  state_->warn_row();
  return std::nullopt;
}

std::optional<CostConditions> Database::get_conditions(const Hash& key) {
  const std::optional<std::string> text = state_->get(kConditions, key);
  return text ? cost_conditions_from_text(*text) : std::nullopt;
}
std::vector<Hash> Database::described_costs() {
  return state_->keys(kConditions);
}

void Database::put_object(const Hash& key, std::string_view object) {
  state_->put(kObjects, key, object);
}
void Database::put_cost(const Hash& key, const Cost& cost) {
  state_->put(kCosts, key, cost_text(cost));
}
void Database::put_text(const Hash& key, std::string_view text) {
  state_->put(kTexts, key, text);
}
void Database::put_conditions(const Hash& key, const CostConditions& conditions) {
  state_->put(kConditions, key, to_text(conditions));
}

std::vector<std::string> Database::take_warnings() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->warnings, {});
}

}  // namespace korch
