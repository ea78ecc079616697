// Folders of processes that were killed.
#include "korch/base/temporary.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "korch/base/files.h"

namespace korch {
namespace {

void make_older(const std::string& path) {
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

std::string only_folder(const std::string& parent) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(parent)) found = entry.path().string();
  return found;
}

TEST(Temporary, FoldersOfKilledProcessesAreRemoved) {
  const TempDir parent;
  const std::string prefix = parent.path() + "/work";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string folder = make_temporary(prefix, TemporaryKind::folder);
    write_file(folder + "/kernel.o", "x");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string left = only_folder(parent.path());
  ASSERT_TRUE(std::filesystem::exists(left + "/kernel.o"));
  remove_dead_temporaries(prefix);
  EXPECT_TRUE(std::filesystem::exists(left)) << "a young one may be about to be locked";
  make_older(left);
  remove_dead_temporaries(prefix);
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST(Temporary, OthersStay) {
  const TempDir parent;
  const std::string prefix = parent.path() + "/work";
  const std::string alive = make_temporary(prefix, TemporaryKind::folder);
  ASSERT_FALSE(alive.empty());
  make_older(alive);
  // A link to a folder, a file, and names that are not of the pattern.
  const std::string target = parent.path() + "/target", link = prefix + ".abcdef", file = prefix + ".ghijkl";
  const std::string longer = prefix + ".mnopqrs", other = parent.path() + "/wok.abcdef";
  for (const std::string& folder : {target, longer, other}) {
    std::filesystem::create_directory(folder);
    make_older(folder);
  }
  std::filesystem::create_directory_symlink(target, link);
  write_file(file, "x");
  make_older(file);
  remove_dead_temporaries(prefix);
  for (const std::string& path : {alive, target, link, file, longer, other})
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
  remove_temporary(alive);
  EXPECT_FALSE(std::filesystem::exists(alive));
}

}  // namespace
}  // namespace korch
