// Run lines: what they ask for, and that a wrong one is refused by name.
#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "stages.h"

namespace korch {
namespace {

TEST(RunLine, IsRead) {
  const RunLine line =
      parse_run_line("tiles matmul --threads 5 --target x86-64-v4 --layouts rm->p021 --strict odd_rows");
  EXPECT_EQ(line.stage, "tiles");
  EXPECT_EQ(line.family, "matmul");
  EXPECT_EQ(line.name, "odd_rows");
  EXPECT_EQ(line.layouts, "rm->p021");
  EXPECT_EQ(line.target.code, name(Isa::x86_64_v4));
  EXPECT_EQ(line.target.workers, 5);
  EXPECT_EQ(line.accuracy(), Accuracy::strict);
  EXPECT_EQ(parse_run_line("parse").name, "");
  EXPECT_EQ(parse_run_line("alternatives --only a --only b").only, (std::vector<std::string>{"a", "b"}));
}

TEST(RunLine, OfNoTargetIsTheSameOnEveryMachine) {
  const Device target = parse_run_line("plan").target;
  EXPECT_EQ(target.code, name(Isa::x86_64_v3));
  EXPECT_EQ(target.workers, 2);
}

TEST(RunLine, IsRefusedByName) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "no stage is named"},
      {"tile matmul", "unknown stage 'tile'"},
      {"tiles", "tiles needs the name of a family"},
      {"columns --fast", "--fast needs a value"},
      {"columns --fast yes", "unknown option '--fast'"},
      {"columns --target", "--target needs a value"},
      {"columns --target native", "unknown target 'native'"},
      {"columns --threads 0", "--threads 0: from 1 to 1024"},
      {"columns --threads 2x", "--threads 2x: from 1 to 1024"},
      {"columns two names", "more than one name of a case: columns two names"},
  };
  for (const auto& [text, message] : wrong) try {
      parse_run_line(text);
      ADD_FAILURE() << "not refused: " << text;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), message);
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
}

TEST(RunLine, NamesAFamilyThatMakesNoSuchKernel) {
  const char* graph = "graph {\n  input %x : f32[4] \"x\"\n  %y = Relu(%x)\n  output %y \"y\"\n}\n";
  EXPECT_EQ(run_stage(parse_run_line("tiles matmul"), graph).substr(0, 41),
            "no such kernel; others: loop() rm->rm;\nre");
}

}  // namespace
}  // namespace korch
