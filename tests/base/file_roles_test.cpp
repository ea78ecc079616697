#include "korch/base/file_roles.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "korch/base/error.h"
#include "korch/base/files.h"

namespace korch {
namespace {

class FileRolesTest : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_.path() + "/" + name; }
  FileRoles roles_;

 private:
  TempDir folder_;
};

TEST_F(FileRolesTest, OneFileUnderTwoNamesIsNotWrittenOver) {
  write_file(path("model"), "m");
  std::filesystem::create_hard_link(path("model"), path("link"));
  roles_.reads("the model", path("model"));
  roles_.reads("the same", path("link"));
  EXPECT_THROW(roles_.writes("the output", path("link")), Error);
  roles_.writes("the output", path("new"));
  EXPECT_THROW(roles_.writes("the report", path("new")), Error);
  EXPECT_THROW(roles_.reads("the input", path("new")), Error);
}

// What is written replaces the file, whose number the file system gives to the next one.
TEST_F(FileRolesTest, NumbersOfReplacedFilesMeanNothing) {
  write_file(path("first"), "1");
  roles_.writes("the first", path("first"));
  std::filesystem::rename(path("first"), path("second"));
  write_file(path("first"), "new");
  roles_.writes("the second", path("second"));
  EXPECT_THROW(roles_.writes("the third", path("first")), Error);
  EXPECT_THROW(roles_.writes("the third", path("second")), Error);
}

}  // namespace
}  // namespace korch
