// Caches of GroupQueryAttention as states: those that grow, and those of one size, which have room for all
// tokens.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "../onnx/model_builder.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

constexpr int64_t kRoom = 12, kMostFresh = 3, kHeads = 4, kKeyHeads = 2, kSize = 4;

// Of `past` positions; -1: as many as runs tell. Lengths and total come from a mask, as exporters write them.
std::string written_network(const TempDir& folder, int64_t past) {
  ModelBuilder b(17);
  auto& domain = *b.model.add_opset_import();
  domain.set_domain("com.microsoft");
  domain.set_version(1);
  const Shape cache = {1, kKeyHeads, past, -1};  // the last extent is known from the new keys
  const std::string name = past < 0 ? "past" : "";
  b.input("past.key", cache, 1, {"", "", name, "size"}).input("past.value", cache, 1, {"", "", name, "size"});
  b.input("q", {1, -1, kHeads * kSize}, 1, {"", "seq", ""});
  b.input("k", {1, -1, kKeyHeads * kSize}, 1, {"", "seq", ""});
  b.input("mask", {1, -1}, 7, {"", "total"});
  b.ints("one", {1});
  b.initializer("place", HostTensor::of<int64_t>(DType::i64, {}, {1}));
  b.node("ReduceSum", {"mask", "one"}, {"count"});
  b.node("Sub", {"count", "one"}, {"less"});
  set_attribute(b.node("Cast", {"less"}, {"lengths"}), "to", 6);
  b.node("Shape", {"mask"}, {"shape"});
  b.node("Gather", {"shape", "place"}, {"keys"});
  set_attribute(b.node("Cast", {"keys"}, {"total"}), "to", 6);
  b.node("Neg", {"k"}, {"v"});
  auto& node = b.node("GroupQueryAttention", {"q", "k", "v", "past.key", "past.value", "lengths", "total"},
                      {"y", "present.key", "present.value"});
  node.set_domain("com.microsoft");
  set_attribute(node, "num_heads", kHeads);
  set_attribute(node, "kv_num_heads", kKeyHeads);
  b.output("y").output("present.key").output("present.value");
  write_file(folder.path() + "/network.onnx", b.bytes());
  return folder.path() + "/network.onnx";
}

HostTensor random_numbers(const Shape& shape, std::mt19937& random) {
  HostTensor tensor(TensorType{DType::f32, shape});
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(random() % 9) / 4 - 1;
  return tensor;
}

// With a state runs give what those without give, which take what the runs before gave.
void expect_states(const std::string& network, CompileOptions options, bool grows) {
  const TempDir folder;
  options.threads = 2;
  options.measure = Measure::none;
  options.shapes["seq"] = {kMostFresh};
  options.least_shapes["seq"] = {1};
  const std::string output = folder.path() + "/network.so";
  EXPECT_EQ(compile_model(network, output, options).plan.states,
            (std::vector<StatePair>{{0, 1, 2}, {1, 2, 2}}));
  const auto code = std::make_shared<const LoadedCode>(read_executable(output));
  LoadedExecutable executable(code, 2);
  LoadedState state(code);
  const HostTensor nothing(TensorType{DType::f32, {1, kKeyHeads, grows ? 0 : kRoom, kSize}});
  std::vector<HostTensor> given = {nothing, nothing, {}, {}, {}};
  std::mt19937 random(7);
  int64_t length = 0;
  for (int run = 0; run < 40; ++run) {
    const auto rows = static_cast<int64_t>(1 + random() % kMostFresh);
    if (length + rows > kRoom) {  // another text
      length = 0;
      state.reset();
      given[0] = given[1] = nothing;
    }
    length += rows;
    given[2] = random_numbers({1, rows, kHeads * kSize}, random);
    given[3] = random_numbers({1, rows, kKeyHeads * kSize}, random);
    given[4] = HostTensor::of<int64_t>(DType::i64, {1, length},
                                       std::vector<int64_t>(static_cast<size_t>(length), 1));
    const std::vector<HostTensor> wanted = executable.run(given);
    const void* inputs[] = {nullptr, nullptr, given[2].raw(), given[3].raw(), given[4].raw()};
    const int64_t* dims[] = {nullptr, nullptr, given[2].shape().data(), given[3].shape().data(),
                             given[4].shape().data()};
    HostTensor y(code->outputs[0].type);
    void* outputs[] = {y.mutable_raw(), nullptr, nullptr};
    executable.run_on(inputs, outputs, nullptr, dims, state.get());
    ASSERT_EQ(executable.output_shape(0), wanted[0].shape());
    ASSERT_EQ(std::memcmp(y.raw(), wanted[0].raw(), static_cast<size_t>(wanted[0].bytes())), 0) << run;
    ASSERT_EQ(executable.output_shape(1), wanted[1].shape());
    ASSERT_EQ(state.length(), grows ? length : 0);
    given[0] = wanted[1];
    given[1] = wanted[2];
  }
}

TEST(GroupedStates, Grow) {
  const TempDir folder;
  CompileOptions options;
  options.shapes = {{"past", {kRoom}}};
  options.least_shapes = {{"past", {0}}};
  expect_states(written_network(folder, -1), options, true);
}

TEST(GroupedStates, HaveRoomForAllFromTheBeginning) {
  const TempDir folder;
  CompileOptions options;
  options.shapes = {{"total", {kRoom}}};
  options.least_shapes = {{"total", {1}}};
  expect_states(written_network(folder, kRoom), options, false);
}

}  // namespace
}  // namespace korch
