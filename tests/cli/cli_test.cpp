// The program from outside: what works, and what each verb refuses.
#include "cli.h"

#include "korch/tensor/npy.h"

namespace korch {
namespace {

TEST_F(Cli, CompileRunVerifyBenchExplain) {
  ASSERT_EQ(compile("m.onnx"), 0) << err_;
  EXPECT_EQ(run("verify " + path("m.onnx") + " " + path("m.so")), 0) << err_;
  EXPECT_EQ(run("bench --rounds 5 " + path("m.so")), 0) << err_;
  EXPECT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("Exp")) << err_;
  write_npy(path("x.npy"), HostTensor::of<float>(DType::f32, {2, 5}, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  EXPECT_EQ(run("run " + path("m.so") + " --input x=" + path("x.npy") + " --output-dir " + path("out")), 0)
      << err_;
  EXPECT_NEAR(read_npy(path("out/out_y.npy")).data<float>()[1], 2.7182818f, 1e-5);
}

TEST_F(Cli, EquivTellsNetworksApart) {
  for (const char* op : {"Tanh", "Sigmoid"}) {
    ModelBuilder b;
    b.input("x", {2, 5}).output("y");
    b.node(op, {"x"}, {"y"});
    write_model(std::string(op) + ".onnx", b);
  }
  EXPECT_EQ(run("equiv " + path("Tanh.onnx") + " " + path("Tanh.onnx")), 0) << err_;
  EXPECT_TRUE(says("equal")) << out_;
  EXPECT_EQ(run("equiv " + path("Tanh.onnx") + " " + path("Sigmoid.onnx")), 5);
  EXPECT_TRUE(says("the networks differ")) << err_;
  EXPECT_TRUE(says("float64: outputs differ by")) << out_;
  EXPECT_EQ(run("equiv " + path("Tanh.onnx") + " " + path("m.onnx")), 3);
  EXPECT_TRUE(says("the outputs differ")) << err_;
}

TEST_F(Cli, EquivTellsKernelsApart) {
  const auto kernel = [&](const std::string& name, const std::string& fn) {
    write_file(path(name),
               "// of two numbers\nkernel {\n  in0: f32[2]\n  out0: f32[1]\n  phase {\n    map {\n"
               "      %0 = in0[0]\n      %1 = in0[1]\n      %2 = f32 " +
                   fn + "\n      out0[0] <- %2\n    }\n  }\n}\n");
    return path(name);
  };
  const std::string sum = kernel("sum.kt", "add(%0, %1)"), other = kernel("other.kt", "add(%1, %0)"),
                    product = kernel("product.kt", "mul(%0, %1)");
  EXPECT_EQ(run("equiv " + sum + " " + other), 0) << err_;
  EXPECT_TRUE(says("a difference passes with probability")) << out_;
  EXPECT_EQ(run("equiv " + sum + " " + product), 5);
  EXPECT_TRUE(says("the kernels differ")) << err_;
  EXPECT_EQ(run("equiv " + sum + " " + other + " --shape x=1"), 2);
  EXPECT_EQ(run("equiv " + sum + " " + path("m.onnx")), 2);
  EXPECT_TRUE(says("give two of a kind")) << err_;
  EXPECT_EQ(run("equiv " + sum + " " + path("none.kt")), 7);
  EXPECT_TRUE(says("cannot read '" + path("none.kt"))) << err_;
}

TEST_F(Cli, SearchFindsStructuresAndChecksThem) {
  write_file(path("softmax.kt"),
             "graph {\n  input %q : f32[64x8] \"q\"\n  input %k : f32[8x64] \"k\"\n  input %v : f32[64x8] "
             "\"v\"\n  %s = MatMul(%q, %k)\n  %m = ReduceMax(%s) {axes=[1]}\n  %d = Sub(%s, %m)\n"
             "  %e = Exp(%d)\n  %l = ReduceSum(%e) {axes=[1]}\n  %w = Div(%e, %l)\n  %y = MatMul(%w, %v)\n"
             "  output %y \"y\"\n}\n");
  EXPECT_EQ(run("search " + path("softmax.kt")), 0) << err_;
  EXPECT_TRUE(says("saturated after")) << out_;
  EXPECT_TRUE(says("the same in 64 tests over a field")) << out_;
  const size_t begin = out_.find("block {");
  ASSERT_NE(begin, std::string::npos);
  const std::string found = out_.substr(begin, out_.find("}\n", out_.find("result", begin)) + 2 - begin);
  write_file(path("found.kt"), found);
  EXPECT_EQ(run("search " + path("softmax.kt") + " --check " + path("found.kt")), 0) << out_ << err_;
  EXPECT_EQ(run("search " + path("softmax.kt") + " --write " + path("mine.kt")), 0) << out_ << err_;
  const std::string mine = read_file(path("mine.kt"));
  EXPECT_TRUE(mine.starts_with("group {\n")) << mine;
  EXPECT_EQ(run("search " + path("softmax.kt") + " --write " + path("mine.kt")), 0) << out_ << err_;
  EXPECT_EQ(read_file(path("mine.kt")), mine);  // its group is known
  EXPECT_EQ(compile("m.onnx", "--no-measure --block-graphs " + path("mine.kt")), 0) << err_;
  write_file(path("cut.kt"), mine.substr(0, mine.size() / 2));
  EXPECT_EQ(compile("m.onnx", "--no-measure --block-graphs " + path("cut.kt")), 3);
  EXPECT_TRUE(says("cut.kt: line ")) << err_;
  EXPECT_EQ(run("search " + path("softmax.kt") + " --write " + path("cut.kt")), 3);
  EXPECT_EQ(read_file(path("cut.kt")), mine.substr(0, mine.size() / 2));
  std::string wrong = found;
  const size_t quotient = wrong.find("Div(");
  ASSERT_NE(quotient, std::string::npos);
  write_file(path("wrong.kt"), wrong.replace(quotient, 3, "Mul"));
  EXPECT_EQ(run("search " + path("softmax.kt") + " --check " + path("wrong.kt")), 5);
  EXPECT_TRUE(says("refused: not equal by the laws")) << out_;
  write_file(path("half.kt"), found.substr(0, found.size() / 2));
  EXPECT_EQ(run("search " + path("softmax.kt") + " --check " + path("half.kt")), 3);
  EXPECT_TRUE(says("line ")) << err_;
  EXPECT_EQ(run("search " + path("none.onnx")), 7);
  EXPECT_EQ(run("search " + path("m.onnx")), 0) << err_;
  EXPECT_TRUE(says("no group around a value that memory bounds")) << out_;
}

TEST_F(Cli, UsageErrors) {
  EXPECT_EQ(run(""), 2);
  EXPECT_EQ(run("frobnicate"), 2);
  EXPECT_EQ(run("compile -"), 2);
  EXPECT_EQ(compile("m.onnx", "--target z80"), 2);
  EXPECT_EQ(compile("m.onnx", "--shape x"), 2);
  EXPECT_EQ(compile("m.onnx", "--budget soon"), 2);
  EXPECT_EQ(compile("m.onnx", "--accuracy relaxed"), 2);
  EXPECT_FALSE(file_exists(path("m.so")));
  EXPECT_EQ(run("--help"), 0);
  EXPECT_EQ(run("compile --help"), 0);
}

TEST_F(Cli, NamesThatAreNotUtf8) {
  ModelBuilder b;
  b.input("x\xff", {2, 5}).output("y\xfe");
  b.node("Exp", {"x\xff"}, {"y\xfe"}, "node\xfd");
  write_model("names.onnx", b);
  ASSERT_EQ(compile("names.onnx"), 0) << err_;
  EXPECT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_EQ(run("run --json " + path("m.so")), 0) << err_;
}

TEST_F(Cli, AGraphWithoutOperators) {
  ModelBuilder b;
  b.input("x", {2, 5}).output("y");
  b.node("Identity", {"x"}, {"y"});
  write_model("identity.onnx", b);
  ASSERT_EQ(compile("identity.onnx"), 0) << err_;
  write_npy(path("x.npy"), HostTensor::of<float>(DType::f32, {2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(run("run " + path("m.so") + " --input x=" + path("x.npy") + " --output-dir " + path("out")), 0)
      << err_;
  EXPECT_EQ(read_npy(path("out/y.npy")).data<float>()[9], 9);
}

TEST_F(Cli, TwoProcessesShareADatabase) {
  std::vector<std::unique_ptr<RunningProgram>> programs;
  for (const char* output : {"a.so", "b.so"})
    programs.push_back(std::make_unique<RunningProgram>(
        "compile " + path("m.onnx") + " -o " + path(output) + " --threads 1 --profile-db " + path("k.db"),
        temporary_folder()));
  for (auto& program : programs) {
    EXPECT_EQ(program->wait(300), 0) << program->terminal();
    EXPECT_EQ(program->terminal().find("warning: kernel database"), std::string::npos) << program->terminal();
  }
  ASSERT_EQ(compile("m.onnx"), 0);
  EXPECT_TRUE(says("0 kernels compiled and 0 measured now")) << out_;
}

}  // namespace
}  // namespace korch
