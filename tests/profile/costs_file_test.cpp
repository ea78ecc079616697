#include "korch/profile/costs_file.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/profile/kernel_bank.h"
#include "korch/profile/peak_row.h"
#include "made_up_backend.h"

namespace korch {
namespace {

CostConditions conditions_of(Database& database, const std::string& spec) {
  CostConditions conditions;
  conditions.protocol = 6;
  const std::string device = to_text(with_peaks(detect_device("native", 1), {.flops_per_us = 1e5}));
  for (const std::string& text : {device, spec, std::string("clang")})
    database.put_text(hash_text(text), text);
  conditions.device = hash_text(device).hex();
  conditions.spec = hash_text(spec).hex();
  conditions.implementation = "loop() row_major->row_major";
  conditions.primitives = "Add+Relu";
  conditions.arguments = "f32[4],";
  conditions.compiler = hash_text("clang").hex();
  conditions.footprint_bytes = 4096;
  conditions.flops = 1e20;  // larger than an int64_t
  conditions.bytes = 0.1;
  conditions.bound_us = 1.0 / 3;
  conditions.disturbed = "other programs used 1.0 of 2 processors";
  conditions.measured_at_s = 1'700'000'000;
  return conditions;
}

void put(Database& database, const std::string& name, const Cost& cost) {
  database.put_cost(hash_text(name), cost);
  database.put_conditions(hash_text(name), conditions_of(database, "kernel " + name));
}

std::string exported(Database& database) {
  std::string text;
  export_costs(database, [&](std::string_view line) { text += line; });
  return text;
}

class CostsFile : public testing::Test {
 protected:
  CostsImported import(const std::string& text, Database& database) {
    write_file(path_, text);
    return import_costs(database, path_);
  }
  // Refused, and nothing of it is there.
  void refuse(const std::string& text, const std::string& why) {
    Database database(":memory:");
    try {
      import(text, database);
      ADD_FAILURE() << "taken: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid);
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
    EXPECT_TRUE(database.described_costs().empty());
  }

  const TempDir folder_;
  const std::string path_ = folder_.path() + "/costs.jsonl";
};

TEST_F(CostsFile, WhatWasExportedComesBack) {
  Database from(folder_.path() + "/from.db"), to(folder_.path() + "/to.db");
  put(from, "one", {1.0 / 3, 0.25, 1e9, 40, Care::twice});
  put(from, "other", {7, 6, 8, 3, Care::quick});
  from.put_cost(hash_text("a plan"), {1, 1, 1, 1});  // tells no conditions
  const std::string text = exported(from);
  const CostsImported count = import(text, to);
  EXPECT_EQ(count.added, 2);
  EXPECT_EQ(exported(to), text);
  const Cost cost = *to.get_cost(hash_text("one"));
  EXPECT_EQ(cost.us, 1.0 / 3);
  EXPECT_EQ(cost.care, Care::twice);
  EXPECT_EQ(to_text(*to.get_conditions(hash_text("one"))), to_text(conditions_of(from, "kernel one")));
  EXPECT_EQ(import(text, to).known, 2);
}

TEST_F(CostsFile, MoreCareReplacesLess) {
  Database careful(":memory:"), quick(":memory:");
  put(careful, "one", {5, 5, 5, 40, Care::thorough});
  put(quick, "one", {3, 3, 3, 4, Care::quick});
  EXPECT_EQ(import(exported(quick), careful).known, 1);
  EXPECT_EQ(careful.get_cost(hash_text("one"))->us, 5);
  EXPECT_EQ(import(exported(careful), quick).replaced, 1);
  EXPECT_EQ(quick.get_cost(hash_text("one"))->us, 5);
}

TEST_F(CostsFile, BadFilesAreRefusedWhole) {
  Database from(":memory:");
  put(from, "one", {1, 1, 1, 4});
  const std::string good = exported(from);
  refuse("", "empty");
  refuse("a,b,c\n", "line 1");
  refuse("{\"korch_costs\": 2}\n", "newer");
  refuse("{\"korch_costs\": 1e300}\n", "line 1");
  refuse(good.substr(0, good.size() - 9), "line 5");
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    return text.replace(text.find(what), what.size(), instead);
  };
  refuse(with("\"us\":1.0", "\"us\":-1.0"), "no time");
  refuse(with("\"samples\":4", "\"samples\":1e99"), "line 5");
  refuse(with("\"care\":\"quick\"", "\"care\":\"great\""), "care");
  refuse(with("\"spec\":\"", "\"spec\":\"0"), "missing");
  refuse(with("kernel one", "kernel two"), "missing");  // the hash tells
  refuse(with("\"protocol\":6,", ""), "conditions");
  refuse(with("\"cost\":\"", "\"cost\":\"x"), "hash");
}

// What a kernel measures tells what it was.
TEST_F(CostsFile, MeasuredKernelsDescribeThemselves) {
  Database database(":memory:");
  const Graph graph;
  const Device target = with_peaks(detect_device("native", 1), {.flops_per_us = 12345});
  const MadeUpBackend backend;
  KernelBank bank(graph, target, &database, 1 << 20, nullptr, &backend);
  const TensorType type{DType::f32, {1, 8, 6, 6}};
  KernelRequest request{hash_text("a"),          nullptr, nullptr, type, Layout::row_major(),
                        Layout::channels_last(4)};
  request.bound_us = 0.5;
  bank.measure({request});
  const std::vector<Hash> keys = database.described_costs();
  ASSERT_EQ(keys.size(), 1u);
  const CostConditions conditions = *database.get_conditions(keys[0]);
  EXPECT_EQ(conditions.primitives, "reorder");
  EXPECT_EQ(conditions.bound_us, 0.5);
  EXPECT_EQ(conditions.bytes, 2.0 * 8 * 36 * 4);
  EXPECT_EQ(*database.get_text(*hash_from_hex(conditions.spec)), print(*bank.spec(request).value()));
  const std::string device = *database.get_text(*hash_from_hex(conditions.device));
  EXPECT_NE(device.find("12345"), std::string::npos) << device;
}

}  // namespace
}  // namespace korch
