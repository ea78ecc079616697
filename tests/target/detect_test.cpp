// What a machine says of itself.
#include <gtest/gtest.h>

#include "korch/base/error.h"
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

TEST(Targets, AreTakenByTheNamesThatAreListed) {
  const std::vector<std::string> names = target_names();
  EXPECT_EQ(names.size(), std::size(kIsas));  // native instead of x86-64
  for (const std::string& listed : names) {
    EXPECT_NE(targets_text().find(listed), std::string::npos) << targets_text();
    const Target target = detect_target(listed, 2);
    EXPECT_TRUE(listed == "native" || listed == name(target.isa)) << listed;
    EXPECT_EQ(target.vector_bytes(), 4 * target.vector_lanes());
  }
  try {
    detect_target("x86-64-v5", 1);
    ADD_FAILURE() << "an unknown target is taken";
  } catch (const Error& error) {
    for (const std::string& listed : names)
      EXPECT_NE(std::string(error.what()).find(listed), std::string::npos) << error.what();
  }
}

TEST(NominalPeaks, GrowWithVectorsAndWorkersAndFallWithDistance) {
  for (const IsaRow& level : kIsas) {
    Target target;
    target.isa = level.isa;
    const Peaks one = nominal_peaks(target);
    EXPECT_GT(one.l1_bytes_per_us, 0);
    EXPECT_LE(one.l3_bytes_per_us, one.l2_bytes_per_us) << level.name;
    EXPECT_LE(one.memory_bytes_per_us, one.l3_bytes_per_us) << level.name;
    EXPECT_GT(one.launch_us, 0);
    target.threads = 8;
    EXPECT_NEAR(nominal_peaks(target).flops_per_us, 8 * one.flops_per_us, 1e-6);
  }
  Target narrow, wide;
  narrow.isa = Isa::x86_64_v3;
  wide.isa = Isa::x86_64_v4;
  EXPECT_NEAR(nominal_peaks(wide).flops_per_us, 2 * nominal_peaks(narrow).flops_per_us, 1e-6);
}

}  // namespace
}  // namespace korch
