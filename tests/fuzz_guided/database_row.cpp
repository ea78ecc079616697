#include <sqlite3.h>

#include <cstring>
#include <filesystem>

#include "korch/base/files.h"
#include "korch/profile/database.h"
#include "korch/profile/peak_row.h"
#include "korch/search/solve_memo.h"
#include "refusal.h"
#include "target.h"

namespace korch::fuzz {
namespace {

// Writes a row past the class that the fuzzed code reads it through, with the checksum it must have.
class RawRows {
 public:
  explicit RawRows(const std::string& path) { sqlite3_open(path.c_str(), &handle_); }
  ~RawRows() { sqlite3_close(handle_); }
  RawRows(const RawRows&) = delete;
  RawRows& operator=(const RawRows&) = delete;

  void put(const std::string& table, const Hash& key, std::string_view value) {
    std::string bytes(16, '\0');
    for (int i = 0; i < 8; ++i) {
      bytes[i] = static_cast<char>(key.high >> (56 - 8 * i));
      bytes[8 + i] = static_cast<char>(key.low >> (56 - 8 * i));
    }
    const auto checksum = static_cast<int64_t>(hash_text(table + bytes + std::string(value)).low);
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(handle_, ("INSERT OR REPLACE INTO " + table + " VALUES (?1, ?2, ?3)").c_str(), -1,
                       &insert, nullptr);
    sqlite3_bind_blob64(insert, 1, bytes.data(), bytes.size(), SQLITE_STATIC);
    sqlite3_bind_blob64(insert, 2, value.data(), value.size(), SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, checksum);
    sqlite3_step(insert);
    sqlite3_finalize(insert);
  }

 private:
  sqlite3* handle_ = nullptr;
};

// x makes y in one step, or by way of z.
const Problem& small_program() {
  static const Problem problem = [] {
    Problem result;
    result.tensor_class = {0, 1, 2};
    result.available = {0};
    result.required = {1};
    result.columns.resize(3);
    result.columns[0].inputs = {0};
    result.columns[0].outputs = {1};
    result.columns[1].inputs = {0};
    result.columns[1].outputs = {2};
    result.columns[2].inputs = {2};
    result.columns[2].outputs = {1};
    return result;
  }();
  return problem;
}

}  // namespace

// The bytes as a measurement, a plan's memo, and a machine's peaks; a row that is none of these is a miss.
void read_database_row(std::string_view bytes) {
  static const TempDir folder;
  static const std::string path = folder.path() + "/rows.db";
  static const Hash key = hash_text("row");
  static Database database(path);
  static RawRows rows(path);
  rows.put("costs", key, bytes);
  database.get_cost(key);
  database.take_warnings();
  solve_memo_from_json(std::string(bytes), small_program());
  peak_row_from_text(std::string(bytes));
  cost_conditions_from_text(std::string(bytes));
}

}  // namespace korch::fuzz
