#include "korch/base/usable_cpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "korch/base/files.h"

namespace korch {
namespace {

class Groups {
 public:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.path() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int quota(const std::string& groups) {
    write("self/cgroup", groups);
    return quota_of_process(folder_.path().c_str(), (folder_.path() + "/mount").c_str());
  }

 private:
  TempDir folder_;
};

TEST(UsableCpus, SmallestQuotaOfAGroupAndThoseAround) {
  Groups groups;
  groups.write("mount/a/cpu.max", "350000 100000\n");
  groups.write("mount/a/b/cpu.max", "max 100000\n");
  groups.write("mount/c/cpu.max", "50000 100000\n");
  EXPECT_EQ(groups.quota("0::/a/b\n"), 4);
  EXPECT_EQ(groups.quota("0::/c\n"), 1);
  EXPECT_EQ(groups.quota("0::/\n"), 0);
  groups.write("mount/cpu.max", "200000 100000\n");  // what a container sees of its own group
  EXPECT_EQ(groups.quota("0::/not/seen\n"), 2);
}

TEST(UsableCpus, FirstVersionOfControlGroups) {
  Groups groups;
  groups.write("mount/cpu,cpuacct/docker/cpu.cfs_quota_us", "150000\n");
  groups.write("mount/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
  groups.write("mount/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  groups.write("mount/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(groups.quota("5:memory:/docker\n4:cpu,cpuacct:/docker\n"), 2);
  EXPECT_EQ(groups.quota("5:memory:/docker\n4:cpu,cpuacct:/other\n"), 0);
}

TEST(UsableCpus, WhatIsNoQuotaIsNone) {
  Groups groups;
  EXPECT_EQ(quota_of_process("/no/such/file", "/no/such/mount"), 0);
  groups.write("mount/cpu.max", "nonsense");
  EXPECT_EQ(groups.quota("0::/\nnonsense\n::\n"), 0);
  groups.write("mount/cpu.max", "9223372036854775807 1");
  EXPECT_EQ(groups.quota("0::/\n"), 0);
  EXPECT_GE(usable_cpus(), 1);
}

}  // namespace
}  // namespace korch
