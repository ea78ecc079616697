// What a machine says of itself.
#include <gtest/gtest.h>

#include "korch/base/files.h"
#include "korch/base/temporary.h"
#include "korch/target/target.h"

namespace korch {
namespace {

void describe(const std::string& folder, int index, const std::string& level, const std::string& type,
              const std::string& size) {
  const std::string cache = folder + "/index" + std::to_string(index);
  make_directories(cache);
  write_file(cache + "/level", level + "\n");
  write_file(cache + "/type", type + "\n");
  write_file(cache + "/size", size + "\n");
}

TEST(Caches, AreReadPerLevel) {
  TempDir folder;
  describe(folder.path(), 0, "1", "Instruction", "64K");
  describe(folder.path(), 1, "1", "Data", "32K");
  describe(folder.path(), 2, "2", "Unified", "1024K");
  describe(folder.path(), 3, "3", "Unified", "32M");
  EXPECT_EQ(cache_bytes(folder.path(), 1), 32 << 10);
  EXPECT_EQ(cache_bytes(folder.path(), 2), 1 << 20);
  EXPECT_EQ(cache_bytes(folder.path(), 3), 32 << 20);
  EXPECT_EQ(cache_bytes(folder.path(), 4), 0);
}

TEST(Caches, WhatMakesNoSenseIsNotSaid) {
  TempDir folder;
  EXPECT_EQ(cache_bytes(folder.path(), 1), 0);
  for (const std::string size :
       {"", "K", "-32K", "0K", "32X", "32KB", "99999999999999999999K", "9999999999G"}) {
    describe(folder.path(), 0, "1", "Data", size);
    EXPECT_EQ(cache_bytes(folder.path(), 1), 0) << size;
  }
}

TEST(Caches, GrowWithTheirLevel) {
  const Target target = detect_target("native", 1);
  EXPECT_GT(target.l1_bytes, 4 << 10);
  EXPECT_GT(target.l2_bytes, target.l1_bytes);
  EXPECT_GE(target.l3_bytes, target.l2_bytes);
}

}  // namespace
}  // namespace korch
