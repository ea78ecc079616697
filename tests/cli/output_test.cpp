// What verbs write and print for people: saved inputs, latency and throughput, what differs.

#include "cli.h"
#include "korch/base/json.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

using Json = nlohmann::json;

// y = softmax(relu(x w)), with names to find in a diff.
class Output : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ModelBuilder b;
    b.input("in/x", {8, 64}).output("y");
    b.floats("w", {64, 32}, std::vector<float>(64 * 32, 0.5f));
    b.node("MatMul", {"in/x", "w"}, {"product"}, "matmul");
    b.node("Relu", {"product"}, {"positive"}, "relu");
    set_attribute(b.node("Softmax", {"positive"}, {"y"}, "softmax"), "axis", int64_t{1});
    write_model("net.onnx", b);
  }
  int compile_to(const std::string& output, const std::string& more) {
    return run("compile " + path("net.onnx") + " -o " + path(output) +
               " --threads 1 --no-measure --profile-db " + path("k.db") + " " + more);
  }
};

TEST_F(Output, SavedInputsRunTheExecutable) {
  ASSERT_EQ(compile_to("n.so", "--save-inputs " + path("inputs")), 0) << err_;
  const HostTensor x = read_npy(path("inputs/in_x.npy"));
  EXPECT_EQ(x.type(), (TensorType{DType::f32, {8, 64}}));
  EXPECT_NE(x.data<float>()[0], x.data<float>()[1]);
  EXPECT_EQ(run("run " + path("n.so") + " --input in/x=" + path("inputs/in_x.npy")), 0) << err_;
}

TEST_F(Output, SavedInputsAreWrittenOverNothing) {
  make_directories(path("inputs"));
  write_file(path("inputs/in_x.npy"), read_file(path("net.onnx")));
  expect_refused("compile " + path("inputs/in_x.npy") + " -o " + path("n.so") +
                     " --no-profile-db --quiet --save-inputs " + path("inputs"),
                 2, {"the input 'in/x'", "the same file"});
  EXPECT_EQ(read_file(path("inputs/in_x.npy")), read_file(path("net.onnx")));
  EXPECT_FALSE(file_exists(path("n.so")));
}

TEST_F(Output, BenchTellsThroughputAndLatency) {
  ASSERT_EQ(compile_to("n.so", ""), 0) << err_;
  ASSERT_EQ(run("bench --rounds 20 --export-json " + path("bench.json") + " " + path("n.so")), 0) << err_;
  for (const char* part :
       {"throughput ", " inferences/s", "latency ", "median ", "mean ", "min ", "max ", "p90 ", "p99 "})
    EXPECT_TRUE(says(part)) << part << " in: " << out_;
  const Json row = Json::parse(read_file(path("bench.json")))["rows"][0];
  EXPECT_EQ(row["path"], path("n.so"));
  double least = row["min_us"];
  EXPECT_GT(least, 0);
  for (const char* key : {"p10_us", "median_us", "p90_us", "p99_us", "max_us"}) {
    EXPECT_GE(row[key], least) << key;
    least = row[key];
  }
  EXPECT_GE(row["mean_us"], row["min_us"]);
  EXPECT_LE(row["mean_us"], row["max_us"]);
  EXPECT_NEAR(row["inferences_per_s"].get<double>() * row["mean_us"].get<double>(), 1e6, 1);
}

TEST_F(Output, BenchWritesJsonOverNothingThatItReads) {
  ASSERT_EQ(compile_to("n.so", ""), 0) << err_;
  const std::string before = read_file(path("n.so"));
  expect_refused("bench --export-json " + path("n.so") + " " + path("n.so"), 2,
                 {"the executable", "the same file"});
  expect_refused("bench --export-json " + path("none/b.json") + " " + path("n.so"), 7, {"none"});
  EXPECT_EQ(read_file(path("n.so")), before);
}

TEST_F(Output, DiffTellsKernelsAndTimes) {
  ASSERT_EQ(compile_to("greedy.so", "--strategy greedy"), 0) << err_;
  ASSERT_EQ(compile_to("unfused.so", "--strategy unfused"), 0) << err_;
  ASSERT_EQ(run("diff --json " + path("greedy.so") + " " + path("greedy.so")), 0) << err_;
  Json json = Json::parse(out_);
  EXPECT_TRUE(json["parts"].empty()) << json;
  EXPECT_FALSE(json["same"].empty()) << json;
  EXPECT_EQ(json["a_us"], json["b_us"]);

  ASSERT_EQ(run("diff --json " + path("greedy.so") + " " + path("unfused.so")), 0) << err_;
  json = Json::parse(out_);
  EXPECT_EQ(json["times"], "predicted");
  ASSERT_FALSE(json["parts"].empty()) << json;
  double a_us = 0, b_us = 0;
  for (const Json& part : json["parts"]) {
    EXPECT_FALSE(part["a"].empty() && part["b"].empty());
    a_us += part["a_us"].get<double>();
    b_us += part["b_us"].get<double>();
  }
  for (const Json& pair : json["same"]) {
    a_us += pair["a_us"].get<double>();
    b_us += pair["b_us"].get<double>();
  }
  EXPECT_NEAR(a_us, json["a_us"].get<double>(), 1e-6);
  EXPECT_NEAR(b_us, json["b_us"].get<double>(), 1e-6);
  EXPECT_GT(json["b_us"], json["a_us"]);  // more kernels, more bytes

  ASSERT_EQ(run("diff --profile " + path("greedy.so") + " " + path("unfused.so")), 0) << err_;
  EXPECT_TRUE(says("- " + path("greedy.so")) && says("+ " + path("unfused.so"))) << out_;
  for (const char* part : {" kernels, measured ", "strategy unfused", "relu", "softmax", "  - ", "  + "})
    EXPECT_TRUE(says(part)) << part << " in: " << out_;
  EXPECT_FALSE(says("not the same network")) << out_;
  expect_refused("diff " + path("greedy.so") + " " + path("net.onnx"), 7, {"net.onnx"});
}

TEST_F(Output, DiffTellsWhereNetworksDiffer) {
  const auto one_layer = [&](const std::string& name, const std::string& node, int64_t rows, float weight) {
    ModelBuilder b;
    b.input("x", {rows, 64}).output("y");
    b.floats("w", {64, 32}, std::vector<float>(64 * 32, weight));
    b.node("MatMul", {"x", "w"}, {"y"}, node);
    write_model(name + ".onnx", b);
    ASSERT_EQ(run("compile " + path(name + ".onnx") + " -o " + path(name + ".so") +
                  " --threads 1 --no-measure --profile-db " + path("k.db")),
              0)
        << err_;
  };
  one_layer("first", "layer", 8, 0.5f);
  one_layer("trained", "layer", 8, 0.25f);
  one_layer("longer", "layer", 9, 0.5f);
  one_layer("another", "head", 9, 0.5f);
  const auto differences = [&](const std::string& other) {
    EXPECT_EQ(run("diff --json " + path("first.so") + " " + path(other)), 0) << err_;
    return Json::parse(out_)["different_networks"].get<std::vector<std::string>>();
  };
  EXPECT_EQ(differences("first.so"), std::vector<std::string>{});
  EXPECT_EQ(differences("trained.so"),
            std::vector<std::string>{"operators or weights differ, inputs and outputs do not"});
  EXPECT_EQ(differences("longer.so").size(), 2u);
  ASSERT_EQ(run("diff " + path("first.so") + " " + path("longer.so")), 0) << err_;
  EXPECT_TRUE(says("not the same network: input 'x' is f32[8x64] in the first and f32[9x64] in the second"))
      << out_;
  expect_refused("diff " + path("first.so") + " " + path("another.so"), 3,
                 {"different networks", "without one ONNX node in common"});
}

TEST_F(Output, DoctorIsReadByPeople) {
  ASSERT_EQ(run("doctor --threads 1"), 0) << err_;
  for (const char* part :
       {"Processor ", "1 thread\n", "Arithmetic ", "L3 ", "GFLOP/s", "Compiler ", "GPU  ", "Database "})
    EXPECT_TRUE(says(part)) << part << " in: " << out_;
  EXPECT_FALSE(says("flops_per_us")) << out_;
}

}  // namespace
}  // namespace korch
