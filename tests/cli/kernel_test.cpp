// korch kernel: tile graphs that compile --dump-dir wrote, printed, run and compared.
#include "cli.h"

namespace korch {
namespace {

class Kernel : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ASSERT_EQ(compile("m.onnx", "--dump-dir " + path("stages")), 0) << err_;
  }
  std::string tile() const { return path("stages/kernel-000.tile"); }
  void rewrite(const std::string& from, const std::string& to) {
    std::string text = read_file(tile());
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    write_file(tile(), text.replace(at, from.size(), to));
  }
};

TEST_F(Kernel, RunsAlone) {
  ASSERT_EQ(run("kernel run " + tile()), 0) << err_;
  EXPECT_TRUE(says("out0: error ")) << out_;
  EXPECT_TRUE(says(" us (quartiles ")) << out_;
  ASSERT_EQ(run("kernel run " + path("stages/kernel-000.lowered.tile")), 0) << err_;
}

TEST_F(Kernel, IsShownInEveryForm) {
  for (const auto& [form, word] : {std::pair{"tiles", "f32 exp("},
                                   {"lowered", " lanes "},
                                   {"cpp", "extern \"C\" int32_t k0("},
                                   {"cuda", "__global__"}}) {
    ASSERT_EQ(run("kernel print " + tile() + " --as " + form), 0) << err_;
    EXPECT_TRUE(says(word)) << out_;
  }
}

TEST_F(Kernel, DiffersFromAnother) {
  ASSERT_EQ(run("kernel diff " + tile() + " " + tile()), 0);
  EXPECT_EQ(out_, "");
  write_file(path("other.tile"), read_file(tile()));
  rewrite("exp", "neg");
  ASSERT_EQ(run("kernel diff " + path("other.tile") + " " + tile()), 0);
  EXPECT_TRUE(says("f32 exp(") && says("f32 neg(")) << out_;
}

TEST_F(Kernel, BadGraphsAreRefused) {
  rewrite("in0: f32[10]", "in0: f32[9]");
  expect_refused("kernel run " + tile(), 3, {"kernel-000.tile", "line ", "reads ", "which has 9 elements"});
  expect_refused("kernel run " + path("m.onnx"), 3, {"m.onnx", "line 1"});
  expect_refused("kernel diff " + tile(), 2, {"2 files, not 1"});
  expect_refused("kernel run " + path("none.tile"), 7, {"none.tile"});
}

}  // namespace
}  // namespace korch
