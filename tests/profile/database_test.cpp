#include "korch/profile/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/profile/peaks.h"
#include "made_up_backend.h"

namespace korch {
namespace {

Hash key(int i) {
  return hash_text("key " + std::to_string(i));
}

std::string object(int i) {
  return std::string(1000 + i, static_cast<char>(i));
}

void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

// Runs `work` in a process of its own. Only while this one has a single thread: a fork copies the locks that
// others hold.
pid_t start_child(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  return child;
}

// Waits for its end; true when `work` returned true.
bool succeeds(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class DatabaseTest : public testing::Test {
 protected:
  TempDir folder_;
  std::string path_ = folder_.path() + "/below/kernels.db";
};

TEST_F(DatabaseTest, KeepsWhatWasPut) {
  {
    Database database(path_);
    EXPECT_FALSE(database.get_object(key(1)));
    database.put_object(key(1), std::string("a\0b", 3));
    database.put_text(key(1), "plan");
    database.put_cost(key(1), {1.0 / 3, 0.25, 1e9, 40, Care::twice});
    EXPECT_EQ(database.get_object(key(1)), std::string("a\0b", 3));  // before the commit too
    EXPECT_TRUE(database.take_warnings().empty());
  }
  Database database(path_);
  EXPECT_EQ(database.get_object(key(1)), std::string("a\0b", 3));
  EXPECT_EQ(database.get_text(key(1)), "plan");
  const std::optional<Cost> cost = database.get_cost(key(1));
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->us, 1.0 / 3);
  EXPECT_EQ(cost->low_us, 0.25);
  EXPECT_EQ(cost->high_us, 1e9);
  EXPECT_EQ(cost->samples, 40);
  EXPECT_EQ(cost->care, Care::twice);
  EXPECT_FALSE(database.get_text(key(2)));
  EXPECT_TRUE(database.take_warnings().empty());
}

TEST_F(DatabaseTest, Replaces) {
  Database database(path_);
  database.put_text(key(1), "old");
  database.commit();
  database.put_text(key(1), "new");
  EXPECT_EQ(database.get_text(key(1)), "new");
  database.commit();
  EXPECT_EQ(database.get_text(key(1)), "new");
}

TEST_F(DatabaseTest, TwoProcessesWriteAtOnce) {
  constexpr int kRows = 600;
  auto write = [&](int first) {
    Database database(path_);
    for (int i = first; i < first + kRows; ++i) {
      database.put_object(key(i), object(i));
      database.put_cost(key(i), {i + 1.0, i + 0.5, i + 2.0, 9});
    }
    database.commit();
    return database.take_warnings().empty();
  };
  const pid_t first = start_child([&] { return write(0); });
  const pid_t second = start_child([&] { return write(kRows / 2); });  // half of the rows are written by both
  EXPECT_TRUE(succeeds(first));
  EXPECT_TRUE(succeeds(second));
  Database database(path_);
  for (int i = 0; i < kRows + kRows / 2; ++i) {
    EXPECT_EQ(database.get_object(key(i)), object(i)) << i;
    EXPECT_TRUE(database.get_cost(key(i))) << i;
  }
}

TEST_F(DatabaseTest, ThreadsShareOneObject) {
  Database database(path_);
  auto work = [&](int first) {
    for (int i = first; i < first + 200; ++i) {
      database.put_object(key(i), object(i));
      EXPECT_EQ(database.get_object(key(i)), object(i));
    }
  };
  std::thread other(work, 0);
  work(100);
  other.join();
  EXPECT_TRUE(database.take_warnings().empty());
}

TEST_F(DatabaseTest, CorruptRowIsAMissAndIsReplaced) {
  {
    Database database(path_);
    for (int i = 0; i < 3; ++i) database.put_object(key(i), object(i));
    database.put_cost(key(0), {1, 1, 1, 1});
  }
  run_sql(path_,
          "UPDATE objects SET value = zeroblob(1000) WHERE value = (SELECT value FROM objects LIMIT 1)");
  run_sql(path_, "UPDATE costs SET value = CAST('0.001 0 0 1' AS BLOB)");
  Database database(path_);
  int missing = 0;
  for (int i = 0; i < 3; ++i) missing += !database.get_object(key(i));
  EXPECT_EQ(missing, 1);
  EXPECT_FALSE(database.get_cost(key(0)));
  EXPECT_EQ(database.take_warnings().size(), 1u);
  for (int i = 0; i < 3; ++i) database.put_object(key(i), object(i));
  database.commit();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(database.get_object(key(i)), object(i));
}

// Refused, untouched, and with nothing beside it.
void expect_refused(const std::string& path) {
  const std::string before = read_file(path);
  try {
    const Database database(path);
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
  }
  EXPECT_EQ(read_file(path), before);
  const std::filesystem::directory_iterator folder(std::filesystem::path(path).parent_path());
  EXPECT_EQ(std::distance(begin(folder), end(folder)), 1);
}

TEST_F(DatabaseTest, ForeignFileIsRefused) {
  make_directories(folder_.path() + "/below");
  for (const size_t size : {5000, 99, 1}) {
    write_file(path_, std::string(size, 'x'));
    expect_refused(path_);
  }
}

TEST_F(DatabaseTest, ForeignSqliteFileIsRefused) {
  make_directories(folder_.path() + "/below");
  run_sql(path_, "CREATE TABLE mine (x); INSERT INTO mine VALUES (1)");
  expect_refused(path_);
  run_sql(path_, "PRAGMA application_id = 77");
  expect_refused(path_);
}

TEST_F(DatabaseTest, EmptyFileBecomesOne) {
  make_directories(folder_.path() + "/below");
  write_file(path_, "");
  { Database(path_).put_text(key(1), "new"); }
  EXPECT_EQ(Database(path_).get_text(key(1)), "new");
}

TEST_F(DatabaseTest, BrokenPagesAreFoundWhileReading) {
  constexpr int kRows = 300;
  {
    Database database(path_);
    for (int i = 0; i < kRows; ++i) database.put_object(key(i), object(i));
  }
  std::string bytes = read_file(path_);
  for (size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  write_file(path_, bytes);
  {
    Database database(path_);
    int found = 0;
    for (int i = 0; i < kRows; ++i) found += database.get_object(key(i)).has_value();
    EXPECT_EQ(found, 0);
    EXPECT_EQ(database.take_warnings().size(), 1u);
    database.put_object(key(1), object(1));
  }
  EXPECT_TRUE(file_exists(path_ + ".corrupt-1"));
  EXPECT_EQ(Database(path_).get_object(key(1)), object(1));
}

TEST_F(DatabaseTest, TruncatedFileIsSurvived) {
  {
    Database database(path_);
    for (int i = 0; i < 300; ++i) database.put_object(key(i), object(i));
  }
  const std::string bytes = read_file(path_);
  for (const size_t size : {size_t{0}, size_t{100}, size_t{4096}, bytes.size() / 2}) {
    write_file(path_, bytes.substr(0, size));
    Database database(path_);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(database.get_object(key(i)).value_or(object(i)), object(i));
    database.put_text(key(1), "after");
    database.commit();
    EXPECT_EQ(database.get_text(key(1)), "after") << size;
    EXPECT_LE(database.take_warnings().size(), 1u) << size;
  }
}

TEST_F(DatabaseTest, OlderSchemaIsSetAsideWhole) {
  { Database(path_).put_text(key(1), "old"); }
  run_sql(path_, "PRAGMA user_version = 0");
  {
    Database database(path_);
    const std::vector<std::string> warnings = database.take_warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("older version"), std::string::npos) << warnings[0];
    EXPECT_FALSE(database.get_text(key(1)));
    database.put_cost(key(1), {1, 1, 1, 1});
  }
  EXPECT_TRUE(Database(path_).get_cost(key(1)));
  run_sql(path_ + ".older-1", "PRAGMA user_version = 2");
  EXPECT_EQ(Database(path_ + ".older-1").get_text(key(1)), "old");
}

TEST_F(DatabaseTest, NewerSchemaIsLeftAlone) {
  { Database(path_).put_text(key(1), "new"); }
  run_sql(path_, "PRAGMA user_version = 99");
  run_sql(path_, "PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string before = read_file(path_);
  {
    Database database(path_);
    EXPECT_EQ(database.take_warnings().size(), 1u);
    EXPECT_FALSE(database.get_text(key(1)));
    database.put_text(key(2), "here");
    database.commit();
    EXPECT_EQ(database.get_text(key(2)), "here");
  }
  EXPECT_EQ(read_file(path_), before);
}

TEST_F(DatabaseTest, ALinkStaysWhenItsFileIsSetAside) {
  const std::string link = folder_.path() + "/link.db";
  std::filesystem::create_symlink(path_, link);
  { Database(path_).put_text(key(1), "old"); }
  std::string bytes = read_file(path_);
  for (size_t i = 100; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  write_file(path_, bytes);
  { Database(link).put_text(key(1), "new"); }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(file_exists(path_ + ".corrupt-1"));
  EXPECT_EQ(Database(path_).get_text(key(1)), "new");
}

class DatabaseOfOthers : public DatabaseTest {
 protected:
  void SetUp() override {
    Database database(path_);
    database.put_object(key(1), object(1));
    database.put_text(key(1), "plan");
  }
  void expect_without_objects() {
    Database database(path_);
    EXPECT_FALSE(database.get_object(key(1)));
    EXPECT_EQ(database.get_text(key(1)), "plan");
    database.put_object(key(2), object(2));
    EXPECT_EQ(database.take_warnings().size(), 1u);
  }
  void expect_objects() {
    Database database(path_);
    EXPECT_EQ(database.get_object(key(1)), object(1));
    EXPECT_FALSE(database.get_object(key(2)));
    EXPECT_TRUE(database.take_warnings().empty());
  }
};

TEST_F(DatabaseOfOthers, WritableFile) {
  for (const mode_t mode : {0664, 0646}) {
    chmod(path_.c_str(), mode);
    expect_without_objects();
  }
  chmod(path_.c_str(), 0644);
  expect_objects();
}

TEST_F(DatabaseOfOthers, WritableFolder) {
  const std::string folder = folder_.path() + "/below";
  chmod(folder.c_str(), 0777);
  expect_without_objects();
  chmod(folder.c_str(), 01777);
  expect_objects();
}

TEST_F(DatabaseOfOthers, AnotherUsersFile) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(chown(path_.c_str(), kNobody, kNobody), 0);
  expect_without_objects();
  ASSERT_EQ(chown(path_.c_str(), 0, 0), 0);
  expect_objects();
}

TEST_F(DatabaseTest, RowsThatSayNothingSensibleAreMisses) {
  constexpr int kRows = 6;
  const char* values[kRows] = {
      "'-1 0 0 1 quick'",  "'1 0 nan 1 quick'", "'1 1 1 -4 quick'", "'1e999 1 1 1 quick'", "''",
      "zeroblob(70000000)"};
  {
    Database database(path_);
    for (int i = 0; i < kRows; ++i) database.put_cost(key(i), {i + 1.0, 1, 1, 1});
  }
  // Their checksums are in order: whoever can write the file can write those.
  for (int i = 0; i < kRows - 1; ++i) {
    std::string text = std::string(values[i]).substr(1);
    text.pop_back();
    std::string all = "costs";
    for (int byte = 0; byte < 16; ++byte)
      all += static_cast<char>((byte < 8 ? key(i).high : key(i).low) >> (56 - 8 * (byte % 8)));
    all += text;
    run_sql(path_, "UPDATE costs SET checksum = " + std::to_string(static_cast<int64_t>(hash_text(all).low)) +
                       ", value = CAST(" + values[i] + " AS BLOB) WHERE rowid = " + std::to_string(i + 1));
  }
  run_sql(path_, std::string("UPDATE costs SET value = ") + values[kRows - 1] + " WHERE rowid = 6");
  Database database(path_);
  for (int i = 0; i < kRows; ++i) EXPECT_FALSE(database.get_cost(key(i))) << values[i];
  EXPECT_EQ(database.take_warnings().size(), 1u);
  database.put_cost(key(0), {1, 1, 1, 1});
  EXPECT_TRUE(database.get_cost(key(0)));
}

// The same file with every text replaced, checksums in order.
void replace_texts(const std::string& path, const std::string& value) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  std::vector<std::string> keys;
  const auto note = [](void* user, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(user)->emplace_back(values[0]);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(handle, "SELECT hex(key) FROM texts", note, &keys, nullptr), SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_FALSE(keys.empty());
  for (const std::string& hex : keys) {
    std::string all = "texts";
    for (size_t i = 0; i < hex.size(); i += 2)
      all += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    all += value;
    run_sql(path, "UPDATE texts SET value = CAST('" + value +
                      "' AS BLOB), checksum = " + std::to_string(static_cast<int64_t>(hash_text(all).low)) +
                      " WHERE hex(key) = '" + hex + "'");
  }
}

TEST_F(DatabaseTest, PeaksThatSayNothingSensibleAreMeasuredAnew) {
  const Device target = detect_device("native", 1);
  const MadeUpBackend backend;
  {
    Database database(path_);
    machine_peaks(target, &database, &backend);
  }
  for (const char* text :
       {"[]", "{\"flops\":1}", "{\"flops\":1,\"l2\":1,\"l3\":1,\"dram\":1,\"launch\":1}"}) {
    replace_texts(path_, text);
    Database database(path_);
    const Peaks peaks = peaks_of(machine_peaks(target, &database, &backend).device);
    EXPECT_GT(peaks.flops_per_us, 10) << text;
    EXPECT_GT(peaks.bytes_per_us.back(), 10) << text;
  }
}

TEST_F(DatabaseTest, CodeInTheFileIsNotRun) {
  { Database(path_).put_text(key(1), "old"); }
  run_sql(path_, "CREATE TRIGGER grow AFTER INSERT ON texts BEGIN DELETE FROM texts WHERE rowid = 1; END");
  { Database(path_).put_text(key(2), "new"); }
  EXPECT_EQ(Database(path_).get_text(key(1)), "old");
  EXPECT_EQ(Database(path_).get_text(key(2)), "new");
}

TEST_F(DatabaseTest, PlaceThatCannotBeAFolderStaysInMemory) {
  write_file(folder_.path() + "/file", "");
  Database database(folder_.path() + "/file/kernels.db");
  EXPECT_EQ(database.take_warnings().size(), 1u);
  database.put_text(key(1), "here");
  database.commit();
  EXPECT_EQ(database.get_text(key(1)), "here");
  EXPECT_TRUE(database.take_warnings().empty());
}

// As another user: root may write everywhere.
bool drop_privileges() {
  constexpr uid_t kNobody = 65534;
  return geteuid() != 0 || setuid(kNobody) == 0;
}

TEST_F(DatabaseTest, ReadOnlyFolderStaysInMemory) {
  chmod(folder_.path().c_str(), 0555);
  EXPECT_TRUE(succeeds(start_child([&] {
    if (!drop_privileges()) return false;
    Database database(path_);
    if (database.take_warnings().size() != 1) return false;
    database.put_text(key(1), "here");
    database.commit();
    return database.get_text(key(1)) == "here" && database.take_warnings().empty();
  })));
  chmod(folder_.path().c_str(), 0755);
  EXPECT_FALSE(file_exists(path_));
}

TEST_F(DatabaseTest, FullDiskStaysInMemoryAndTheOldRowsAreStillRead) {
  { Database(path_).put_text(key(1), "old"); }
  EXPECT_TRUE(succeeds(start_child([&] {
    Database database(path_);
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {64 << 10, 64 << 10};  // bytes per file: stands for the end of the disk
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    for (int i = 2; i < 1000; ++i) database.put_object(key(i), object(i));
    database.commit();
    if (database.take_warnings().size() != 1) return false;
    for (int i = 2; i < 1000; ++i)
      if (database.get_object(key(i)) != object(i)) return false;
    return database.get_text(key(1)) == "old" && database.take_warnings().empty();
  })));
  Database database(path_);
  EXPECT_EQ(database.get_text(key(1)), "old");
  EXPECT_TRUE(database.take_warnings().empty());
}

TEST_F(DatabaseTest, LockedByAnotherProcessDoesNotLoseWhatWasPut) {
  Database database(path_);
  database.put_text(key(1), "first");
  database.commit();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(database.get_text(key(1)), "first");  // readers do not wait
  std::thread release([&] { sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr); });
  database.put_text(key(2), "second");
  database.commit();
  release.join();
  sqlite3_close(other);
  EXPECT_EQ(Database(path_).get_text(key(2)), "second");
  EXPECT_TRUE(database.take_warnings().empty());
}

}  // namespace
}  // namespace korch
