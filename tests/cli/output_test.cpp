// What verbs write and print for people: saved inputs.
#include "cli.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

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

}  // namespace
}  // namespace korch
