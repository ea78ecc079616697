// SQLite for the kernel database (database.h): a file that is open, and a statement that runs in it.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <utility>

namespace korch::sqlite {

constexpr int kBusyTimeoutMs = 10'000;   // another process' commit takes milliseconds; this is a stuck one
constexpr int kMostRowBytes = 64 << 20;  // a larger row is none that korch wrote

// The outcome of a call into SQLite, as far as the kernel database tells outcomes apart.
enum class Outcome { done, row, busy, corrupt, foreign, older, newer, too_big, failed };

inline Outcome outcome(int code) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
      return Outcome::done;
    case SQLITE_ROW:
      return Outcome::row;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Outcome::busy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Outcome::corrupt;
    case SQLITE_TOOBIG:
      return Outcome::too_big;
  }
  return Outcome::failed;
}

class Connection {
 public:
  explicit Connection(const std::string& path) {
    code_ = sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    if (handle_ == nullptr) return;
    sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
    // What a file brings along is not run.
    for (const auto& [option, on] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                     {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                     {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                     {SQLITE_DBCONFIG_ENABLE_VIEW, 0}})
      sqlite3_db_config(handle_, option, on, nullptr);
    sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, kMostRowBytes);
  }
  ~Connection() { sqlite3_close(handle_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  sqlite3* handle() const { return handle_; }
  Outcome opened() const { return outcome(code_); }
  std::string reason() const { return handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_); }
  bool read_only() const { return sqlite3_db_readonly(handle_, "main") == 1; }
  Outcome run(const std::string& sql) {
    return outcome(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
  }

 private:
  sqlite3* handle_ = nullptr;
  int code_ = SQLITE_OK;
};

class Statement {
 public:
  Statement(Connection& connection, const std::string& sql) {
    code_ = sqlite3_prepare_v2(connection.handle(), sql.c_str(), -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind_bytes(int at, std::string_view bytes) {
    keep(sqlite3_bind_blob64(statement_, at, bytes.data(), bytes.size(), SQLITE_STATIC));
  }
  void bind_integer(int at, int64_t value) { keep(sqlite3_bind_int64(statement_, at, value)); }
  Outcome step() { return outcome(code_ == SQLITE_OK ? sqlite3_step(statement_) : code_); }
  Outcome restart() { return outcome(sqlite3_reset(statement_)); }
  std::string bytes(int at) const {
    const void* data = sqlite3_column_blob(statement_, at);
    return data == nullptr
               ? std::string()
               : std::string(static_cast<const char*>(data), sqlite3_column_bytes(statement_, at));
  }
  int64_t integer(int at) const { return sqlite3_column_int64(statement_, at); }

 private:
  void keep(int code) {
    if (code_ == SQLITE_OK) code_ = code;
  }
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK;
};

}  // namespace korch::sqlite
