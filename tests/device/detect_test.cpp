// What a machine says of itself.
#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/temporary.h"
#include "korch/device/device.h"

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
  const Device target = detect_device("native", 1);
  EXPECT_GT(target.memory[0].bytes, 4 << 10);
  EXPECT_GT(target.own_bytes(), target.memory[0].bytes);
  EXPECT_GE(target.cache_bytes(), target.own_bytes());
}

TEST(Targets, AreTakenByTheNamesThatAreListed) {
  const std::vector<std::string> names = target_names();
  EXPECT_EQ(names.size(), std::size(kIsas) + std::size(kGpus) + 1);  // cuda; native instead of x86-64
  for (const std::string& listed : names) {
    EXPECT_NE(targets_text().find(listed), std::string::npos) << targets_text();
    if (listed == "cuda") continue;  // backend/device_named.h
    const Device target = detect_device(listed, gpu_named(listed) ? 0 : 2);
    EXPECT_TRUE(listed == "native" || listed == target.code || target.is_gpu()) << listed;
    EXPECT_EQ(target.vector_bytes, 4 * target.lanes());
  }
  try {
    detect_device("x86-64-v5", 1);
    ADD_FAILURE() << "an unknown target is taken";
  } catch (const Error& error) {
    for (const std::string& listed : names)
      EXPECT_NE(std::string(error.what()).find(listed), std::string::npos) << error.what();
  }
}

TEST(NominalSpeeds, GrowWithVectorsAndWorkersAndFallWithDistance) {
  for (const IsaRow& level : kIsas) {
    const Device one = with_nominal_speeds(cpu_device(level.isa));
    for (size_t at = 1; at < one.memory.size(); ++at) {
      EXPECT_GT(one.memory[at].bytes_per_us, 0);
      if (at < 2) continue;
      EXPECT_LE(one.memory[at].bytes_per_us, one.memory[at - 1].bytes_per_us) << level.name;
    }
    EXPECT_GT(one.launch_us, 0);
    EXPECT_NEAR(with_nominal_speeds(cpu_device(level.isa, 8)).flops_per_us, 8 * one.flops_per_us, 1e-6);
  }
  EXPECT_NEAR(with_nominal_speeds(cpu_device(Isa::x86_64_v4)).flops_per_us,
              2 * with_nominal_speeds(cpu_device(Isa::x86_64_v3)).flops_per_us, 1e-6);
}

TEST(Device, IsATextAndBack) {
  const Device here = with_nominal_speeds(detect_device("native", 3));
  EXPECT_EQ(device_from_text(to_text(here)), here);
  Device gpu = here;
  gpu.kind = "cuda";
  gpu.code = "sm_90";
  EXPECT_EQ(device_from_text(to_text(gpu)), gpu);
}

// Each by its name; what hardware cannot have is none.
TEST(Device, AbsurdTextsAreRefused) {
  const auto refuse = [](const std::string& text, const std::string& why) {
    try {
      device_from_text(text);
      ADD_FAILURE() << "taken: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid);
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  const std::string good = to_text(cpu_device(Isa::x86_64_v4, 2));
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    return text.replace(text.find(what), what.size(), instead);
  };
  refuse("", "JSON");
  refuse("[]", "JSON");
  refuse(good.substr(0, good.size() / 2), "JSON");
  refuse(with("\"workers\":2", "\"workers\":0"), "'workers' is 0");
  refuse(with("\"workers\":2", "\"workers\":1e300"), "'workers'");
  refuse(with("\"workers\":2,", ""), "'workers' is missing");
  refuse(with("\"vector_bytes\":64", "\"vector_bytes\":-64"), "'vector_bytes'");
  refuse(with("\"vector_bytes\":64", "\"vector_bytes\":48"), "power of two");
  refuse(with("\"vector_bytes\":64", "\"vector_bytes\":128"), "'vector_bytes' is 128");
  refuse(with("\"vector_registers\":32", "\"vector_registers\":33"), "'vector_registers' is 33");
  refuse(with("\"multiplies_bytes\":false", "\"multiplies_bytes\":true"), "'multiplies_bytes'");
  refuse(with("\"workers\":2", "\"workers\":\"two\""), "'workers' is a string");
  refuse(with("\"bytes\":32768", "\"bytes\":-1"), "'bytes'");
  refuse(with("\"launch_us\":0.0", "\"launch_us\":1e99"), "'launch_us'");
  refuse(with("x86-64-v4", "z80"), "z80");
  refuse(with("\"memory\":[", "\"memory\":[7,"), "memory level");
  const size_t list = good.find("\"memory\":[") + 10, end = good.find(']', list);
  refuse(good.substr(0, list) + good.substr(end), "memory levels");
}

}  // namespace
}  // namespace korch
