// The shared folder: whose it must be, and that what moves in it is seen whole.
#include "korch/fleet/folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/fleet/heartbeat.h"

namespace korch {
namespace {

class Folder : public ::testing::Test {
 protected:
  std::string refused(const std::string& path) {
    try {
      const FleetFolder folder(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
      return error.what();
    }
    return "taken";
  }
  const TempDir temp_;
  const std::string path_ = temp_.path() + "/a/fleet";
};

TEST_F(Folder, IsMadeForThisUserAlone) {
  const mode_t mask = ::umask(0);
  const FleetFolder folder(path_);
  ::umask(mask);
  struct stat info;
  for (const std::string& made : {path_, path_ + "/offer", path_ + "/beats"}) {
    ASSERT_EQ(::stat(made.c_str(), &info), 0) << made;
    EXPECT_EQ(info.st_mode & 0777, 0700u) << made;
  }
  EXPECT_EQ(refused(path_), "taken");  // again
}

TEST_F(Folder, OthersThingsAreNotTouched) {
  const std::string own = temp_.path() + "/logs";
  ASSERT_EQ(::mkdir(own.c_str(), 0700), 0);
  write_file(own + "/diary", "mine");
  write_file(temp_.path() + "/model", "mine, too");
  EXPECT_NE(refused(temp_.path()).find("holds 'model'"), std::string::npos);
  EXPECT_EQ(read_file(own + "/diary"), "mine");
}

TEST_F(Folder, ForeignOnesAreRefusedByName) {
  { const FleetFolder folder(path_); }
  for (const mode_t mode : {0770, 0707, 01777}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    const std::string message = refused(path_);
    EXPECT_NE(message.find("group or others can write to it"), std::string::npos) << message;
    EXPECT_NE(message.find(path_), std::string::npos) << message;
  }
  ASSERT_EQ(::chmod(path_.c_str(), 0700), 0);
  const std::string done = path_ + "/done";
  ASSERT_EQ(::chmod(done.c_str(), 0722), 0);
  EXPECT_NE(refused(path_).find(done), std::string::npos);
  ASSERT_EQ(::rmdir(done.c_str()), 0);
  ASSERT_EQ(::symlink(temp_.path().c_str(), done.c_str()), 0);
  EXPECT_NE(refused(path_).find("it is no folder"), std::string::npos);
  ASSERT_EQ(::unlink(done.c_str()), 0);
  write_file(done, "");
  EXPECT_NE(refused(path_).find("it is no folder"), std::string::npos);
  ASSERT_EQ(::unlink(done.c_str()), 0);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(path_.c_str(), 12345, -1), 0);
  EXPECT_NE(refused(path_).find("it belongs to user 12345"), std::string::npos);
}

TEST_F(Folder, FilesOfOthersAreNotRead) {
  const FleetFolder folder(path_);
  folder.write(Room::offer, "a", "text");
  EXPECT_EQ(folder.read(Room::offer, "a"), "text");
  ASSERT_EQ(::chmod(folder.path_of(Room::offer, "a").c_str(), 0622), 0);
  EXPECT_EQ(folder.read(Room::offer, "a"), std::nullopt);
  ASSERT_EQ(::symlink("/etc/hostname", folder.path_of(Room::offer, "b").c_str()), 0);
  EXPECT_EQ(folder.read(Room::offer, "b"), std::nullopt);
  ASSERT_EQ(::mkfifo(folder.path_of(Room::offer, "c").c_str(), 0600), 0);
  EXPECT_EQ(folder.read(Room::offer, "c"), std::nullopt);
  EXPECT_EQ(folder.read(Room::offer, "d"), std::nullopt);
}

TEST_F(Folder, AClaimHasOneWinner) {
  const FleetFolder folder(path_), other(path_);
  folder.write(Room::offer, "key", "work");
  EXPECT_TRUE(folder.move(Room::offer, "key", Room::claimed, claim_name("key", "one")));
  EXPECT_FALSE(other.move(Room::offer, "key", Room::claimed, claim_name("key", "two")));
  EXPECT_EQ(other.names(Room::claimed), std::vector<std::string>{"key@one"});
  const std::optional<Claim> claim = parse_claim("key@one");
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->key + " " + claim->worker, "key one");
  for (const char* wrong : {"key", "@", "key@", "@one", "key@a/b", "../x@one", "key@one@two"})
    EXPECT_FALSE(parse_claim(wrong)) << wrong;
}

TEST_F(Folder, ShowsNothingThatIsHalfWritten) {
  const FleetFolder folder(path_);
  write_file(path_ + "/done/key.AbCdEf", "half");  // as temporaries are called
  EXPECT_TRUE(folder.names(Room::done).empty());
  EXPECT_TRUE(folder.write_new(Room::done, "key", "first"));
  EXPECT_FALSE(folder.write_new(Room::done, "key", "second"));
  EXPECT_EQ(folder.read(Room::done, "key"), "first");
  folder.write(Room::done, "key", "third");
  EXPECT_EQ(folder.read(Room::done, "key"), "third");
}

TEST_F(Folder, RemovesOnlyWhatIsEmpty) {
  const FleetFolder folder(path_);
  folder.write(Room::notes, "somebody", "note");
  folder.remove_all();
  EXPECT_EQ(refused(path_), "taken");
  EXPECT_TRUE(file_exists(path_ + "/offer"));
  folder.remove(Room::notes, "somebody");
  folder.remove_all();
  EXPECT_FALSE(file_exists(path_));
}

// Whatever any clock says: a look counts as one.
TEST_F(Folder, HeartsAreLookedAt) {
  const FleetFolder folder(path_);
  BeatWatch watch;
  folder.write(Room::beats, "x", "1");
  EXPECT_EQ(watch.look(folder, "x"), 0);
  EXPECT_EQ(watch.look(folder, "x"), 1);
  EXPECT_EQ(watch.look(folder, "x"), 2);
  ASSERT_TRUE(folder.overwrite(Room::beats, "x", "2"));
  EXPECT_EQ(watch.look(folder, "x"), 0);
  struct timespec long_ago[2] = {{1, 0}, {1, 0}};  // files' times say nothing
  ASSERT_EQ(::utimensat(AT_FDCWD, folder.path_of(Room::beats, "x").c_str(), long_ago, 0), 0);
  EXPECT_EQ(watch.look(folder, "x"), 1);
  folder.remove(Room::beats, "x");
  EXPECT_EQ(watch.look(folder, "x"), 0);  // that is a change too
  EXPECT_EQ(watch.look(folder, "x"), 1);
}

}  // namespace
}  // namespace korch
