// Executables that keep states: what runs leave in place is what they would give and take.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "../onnx/model_builder.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/package/executable.h"
#include "korch/package/loaded.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

constexpr int64_t kBatch = 2, kHeads = 3, kWidth = 4, kPast = 9, kFresh = 3;

// keys = past[b, 3, n, 4] with fresh[b, 3, s, 4] joined along the axis 2, as long as `capacity`; y = x keys^T
// with 0 beyond; a state h of three numbers that becomes h + sum(x).
Graph cache(int64_t past_bound, int64_t fresh_bound, int64_t capacity) {
  Graph g;
  const Shape past_shape = {kBatch, kHeads, past_bound, kWidth},
              fresh_shape = {kBatch, kHeads, fresh_bound, kWidth};
  const ValueId past = g.add_input({DType::f32, past_shape}, "past"),
                fresh = g.add_input({DType::f32, fresh_shape}, "fresh"),
                h = g.add_input({DType::f32, {3}}, "h"), b = g.add_input({DType::i64, {}}, "b"),
                n = g.add_input({DType::i64, {}}, "n"), s = g.add_input({DType::i64, {}}, "s");
  const ValueId doubled = g.add(Op::Add, NoAttrs{}, {fresh, fresh});
  const ValueId all = g.add(Op::Append, AppendAttrs{2, capacity}, {past, doubled, n, s, n}, {}, "present");
  const ValueId total = g.add(Op::Add, NoAttrs{}, {n, s});
  const int64_t bound = past_bound + fresh_bound;
  ValueId keys = all;
  if (bound < capacity)
    keys = g.add(Op::Slice, SliceAttrs{{0, 0, 0, 0}, {kBatch, kHeads, bound, kWidth}, {1, 1, 1, 1}}, {all});
  HostTensor positions(TensorType{DType::i64, {bound, 1}});
  for (int64_t i = 0; i < bound; ++i) positions.mutable_data<int64_t>()[i] = i;
  const ValueId counts = g.add(Op::Less, NoAttrs{}, {g.add_constant(positions), total});
  const ValueId zero = g.add_constant(HostTensor(TensorType{DType::f32, {}}));
  keys = g.add(Op::Where, NoAttrs{}, {counts, keys, zero});
  const ValueId y = g.add(Op::MatMul, MatMulAttrs{false, true}, {doubled, keys});
  const ValueId next = g.add(Op::Add, NoAttrs{}, {h, g.add(Op::Abs, NoAttrs{}, {h})});
  const ValueId one = g.add_constant(HostTensor::of<float>(DType::f32, {}, {1}));
  g.set_outputs({all, y, g.add(Op::Add, NoAttrs{}, {next, one}), b, total, b, s},
                {"present", "y", "h_next", "b0", "n", "b1", "s"}, {{0, 0}, {0, 2}, {1, 0}, {1, 2}});
  g.set_open_dimensions(
      {{"b", 1, kBatch, {{0, 0}, {1, 0}}}, {"n", 0, past_bound, {{0, 2}}}, {"s", 1, fresh_bound, {{1, 2}}}});
  g.set_states({{0, 0, 2}, {2, 2, -1}});
  return g;
}

// The rows of each run with a state.
struct Model {
  std::vector<HostTensor> fresh;

  int64_t length() const {
    int64_t rows = 0;
    for (const HostTensor& rows_of : fresh) rows += rows_of.shape()[2];
    return rows;
  }
};

class StatesTest : public testing::Test {
 protected:
  StatesTest() {
    CompileOptions options;
    options.threads = 2;
    options.measure = Measure::none;
    path_ = folder_.path() + "/cache.so";
    const Graph graph = cache(kPast, kFresh, kPast + kFresh);
    verify(graph, GraphForm::imported);
    compile_graph(graph, "cache", path_, options);
    plan_ = plan_from_json(read_plan_json(path_));  // of all extents
    code_ = std::make_shared<const LoadedCode>(read_executable(path_));
  }

  static HostTensor random_rows(int64_t batch, int64_t rows, std::mt19937& random) {
    HostTensor tensor(TensorType{DType::f32, {batch, kHeads, rows, kWidth}});
    for (int64_t i = 0; i < tensor.elements(); ++i)
      tensor.mutable_data<float>()[i] = static_cast<float>(random() % 17) - 8;
    return tensor;
  }

  // Runs with the state and returns y.
  HostTensor run(LoadedExecutable& executable, LoadedState& state, const HostTensor& fresh) {
    const void* inputs[] = {nullptr, fresh.raw(), nullptr};
    const int64_t* dims[] = {nullptr, fresh.shape().data(), nullptr};
    HostTensor y(code_->outputs[1].type);
    void* outputs[] = {nullptr, y.mutable_raw(), nullptr};
    executable.run_on(inputs, outputs, nullptr, dims, state.get());
    HostTensor dense(TensorType{DType::f32, executable.output_shape(1)});
    std::memcpy(dense.mutable_raw(), y.raw(), static_cast<size_t>(dense.bytes()));
    return dense;
  }

  // y of the last run of the model.
  static void expect_result(const Model& model, const HostTensor& y) {
    const HostTensor& last = model.fresh.back();
    const int64_t batch = last.shape()[0], rows = last.shape()[2], all = model.length();
    ASSERT_EQ(y.shape()[0], batch);
    ASSERT_EQ(y.shape()[2], rows);
    for (int64_t i = 0; i < batch * kHeads; ++i)
      for (int64_t r = 0; r < rows; ++r) {
        int64_t key = 0;
        for (const HostTensor& fresh : model.fresh)
          for (int64_t k = 0; k < fresh.shape()[2]; ++k, ++key) {
            float sum = 0;
            for (int64_t w = 0; w < kWidth; ++w)
              sum += 4 * last.data<float>()[(i * rows + r) * kWidth + w] *
                     fresh.data<float>()[(i * fresh.shape()[2] + k) * kWidth + w];
            ASSERT_EQ(y.data<float>()[(i * rows + r) * y.shape()[3] + key], sum)
                << i << " " << r << " " << key;
          }
        ASSERT_EQ(key, all);
        for (; key < y.shape()[3]; ++key) ASSERT_EQ(y.data<float>()[(i * rows + r) * y.shape()[3] + key], 0);
      }
  }

  template <typename F>
  static std::string error_of(const F& f) {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  TempDir folder_;
  std::string path_;
  Plan plan_;
  std::shared_ptr<const LoadedCode> code_;
};

// Runs, resets, goes back, copies, in any order.
TEST_F(StatesTest, HoldWhatRunsLeave) {
  std::mt19937 random(1);
  LoadedExecutable executable(code_, 2);
  LoadedState state(code_), other(code_);
  Model model, other_model;
  const auto batch_of = [&](const Model& m) {
    return m.fresh.empty() ? static_cast<int64_t>(1 + random() % kBatch) : m.fresh[0].shape()[0];
  };
  for (int step = 0; step < 300; ++step) {
    ASSERT_EQ(state.length(), model.length());
    const uint32_t what = random() % 12;
    if (what == 0 || model.length() > kPast) {
      state.reset();
      model = {};
    } else if (what == 1) {
      other.copy_from(state);
      other_model = model;
    } else if (what == 2) {
      state.copy_from(other);
      model = other_model;
    } else {
      model.fresh.push_back(
          random_rows(batch_of(model), 1 + static_cast<int64_t>(random() % kFresh), random));
      expect_result(model, run(executable, state, model.fresh.back()));
    }
  }
}

// A run without a state gives what a run with one leaves, and takes it.
TEST_F(StatesTest, RunsWithoutOneGiveTheSame) {
  std::mt19937 random(2);
  LoadedExecutable executable(code_, 2);
  LoadedState state(code_);
  std::vector<HostTensor> given = {HostTensor(TensorType{DType::f32, {kBatch, kHeads, 0, kWidth}}),
                                   {},
                                   HostTensor(TensorType{DType::f32, {3}})};
  for (int64_t rows : {3, 1, 2, 3, 1}) {
    given[1] = random_rows(kBatch, rows, random);
    const HostTensor y = run(executable, state, given[1]);
    const std::vector<HostTensor> made = executable.run(given);
    ASSERT_EQ(made[1].shape(), y.shape());
    EXPECT_EQ(std::memcmp(made[1].raw(), y.raw(), static_cast<size_t>(y.bytes())), 0);
    given[0] = made[0];
    given[2] = made[2];
    EXPECT_EQ(given[0].shape()[2], state.length());
  }
  EXPECT_EQ(given[2].data<float>()[0], 31);  // five times twice and one
}

// The kernel gets one address for what there is and for the result, in all runs the same: no old row is
// copied.
TEST_F(StatesTest, AppendsWhereTheStateLies) {
  std::mt19937 random(5);
  LoadedState state(code_);
  korch_instance* instance = nullptr;
  ASSERT_EQ(code_->create(1, &instance), KORCH_OK);
  struct Seen {
    const Plan* plan;
    std::vector<void*> old, result;
  } seen{&plan_, {}, {}};
  for (int64_t rows : {2, 1, 3}) {
    const HostTensor fresh = random_rows(kBatch, rows, random);
    const void* inputs[] = {nullptr, fresh.raw(), nullptr};
    const int64_t* dims[] = {nullptr, fresh.shape().data(), nullptr};
    HostTensor y(code_->outputs[1].type);
    void* outputs[] = {nullptr, y.mutable_raw(), nullptr};
    korch_run_options options{};
    options.struct_size = sizeof options;
    options.state = state.get();
    options.input_dims = dims;
    options.user = &seen;
    options.observe = [](void* user, uint32_t step, void* const* args) {
      Seen& now = *static_cast<Seen*>(user);
      if (step >= now.plan->steps.size()) return;  // a copy
      const LibraryCall& call = now.plan->kernels[static_cast<size_t>(now.plan->steps[step].kernel)].call;
      if (call.function != "append") return;
      now.old.push_back(args[call.params[5]]);
      now.result.push_back(args[call.params[10]]);
    };
    ASSERT_EQ(code_->run_with(instance, inputs, outputs, &options), KORCH_OK);
  }
  code_->free(instance);
  ASSERT_EQ(seen.old.size(), 3u);
  EXPECT_EQ(seen.old, seen.result);
  EXPECT_EQ(std::vector<void*>(3, seen.old[0]), seen.old);
}

TEST_F(StatesTest, MistakesChangeNothing) {
  std::mt19937 random(3);
  LoadedExecutable executable(code_, 1);
  LoadedState state(code_);
  Model model;
  for (int i = 0; i < 4; ++i) {
    model.fresh.push_back(random_rows(2, i < 3 ? 3 : 1, random));
    expect_result(model, run(executable, state, model.fresh.back()));
  }
  const HostTensor one = random_rows(2, 1, random), other_batch = random_rows(1, 1, random);
  EXPECT_NE(error_of([&] { run(executable, state, one); }).find("input 'past', axis 2: n is 0 to 9, not 10"),
            std::string::npos);
  EXPECT_NE(error_of([&] { run(executable, state, other_batch); }).find("not 10"), std::string::npos);
  LoadedState shorter(code_);
  run(executable, shorter, one);
  EXPECT_NE(error_of([&] { run(executable, shorter, other_batch); }).find("b is 1 here and 2 before"),
            std::string::npos);
  EXPECT_EQ(state.length(), 10);
  EXPECT_EQ(error_of([&] { state.rewind(3); }),
            "the state goes back to no length of 3: it has 10, and goes back only if runs append to all that "
            "it holds");
  // A state of another executable; one that a run has; one that is freed then.
  CompileOptions options;
  options.measure = Measure::none;
  compile_graph(cache(4, 1, 5), "other", folder_.path() + "/other.so", options);
  LoadedState foreign(std::make_shared<const LoadedCode>(read_executable(folder_.path() + "/other.so")));
  EXPECT_NE(error_of([&] { run(executable, foreign, one); }).find("the state is none of this executable"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { state.copy_from(foreign); }), "the states are of different executables");
  const void* inputs[] = {nullptr, one.raw(), nullptr};
  const int64_t* dims[] = {nullptr, one.shape().data(), nullptr};
  HostTensor y(code_->outputs[1].type);
  void* outputs[] = {nullptr, y.mutable_raw(), nullptr};
  struct Seen {
    const LoadedCode* code;
    korch_state* state;
    korch_instance* second;
    const void* const* inputs;
    void* const* outputs;
    const int64_t* const* dims;
    int steps;
  } seen{code_.get(), shorter.get(), nullptr, inputs, outputs, dims, 0};
  korch_instance* first = nullptr;
  ASSERT_EQ(code_->create(1, &first), KORCH_OK);
  ASSERT_EQ(code_->create(1, &seen.second), KORCH_OK);
  korch_run_options watched{};
  watched.struct_size = sizeof watched;
  watched.state = shorter.get();
  watched.input_dims = dims;
  watched.user = &seen;
  watched.observe = [](void* user, uint32_t, void* const*) {
    Seen& in_run = *static_cast<Seen*>(user);
    ++in_run.steps;
    EXPECT_EQ(in_run.code->state_free(in_run.state), KORCH_BUSY);
    EXPECT_EQ(in_run.code->state_reset(in_run.state), KORCH_BUSY);
    EXPECT_EQ(in_run.code->state_rewind(in_run.state, 0), KORCH_BUSY);
    korch_run_options again{};
    again.struct_size = sizeof again;
    again.state = in_run.state;
    again.input_dims = in_run.dims;
    EXPECT_EQ(in_run.code->run_with(in_run.second, in_run.inputs, in_run.outputs, &again), KORCH_BUSY);
    EXPECT_STREQ(in_run.code->last_error(in_run.second), "another run has the state");
  };
  EXPECT_EQ(code_->run_with(first, inputs, outputs, &watched), KORCH_OK);
  EXPECT_GT(seen.steps, 1);
  EXPECT_EQ(shorter.length(), 2);
  code_->free(first);
  code_->free(seen.second);
}

// Attention of `seq` queries to all keys so far, in plans for up to 16 and fewer of them.
std::string written_decoder(const TempDir& folder) {
  ModelBuilder b(17);
  b.input("past.key", {1, 2, -1, 4}, 1, {"", "", "n", ""})
      .input("past.value", {1, 2, -1, 4}, 1, {"", "", "n", ""});
  b.input("x", {1, 2, -1, 4}, 1, {"", "", "seq", ""});
  b.output("y").output("present.key").output("present.value");
  b.floats("half", {}, {0.5F});
  b.node("Mul", {"x", "half"}, {"k"});
  b.node("Neg", {"x"}, {"v"});
  set_attribute(b.node("Concat", {"past.key", "k"}, {"present.key"}), "axis", 2);
  set_attribute(b.node("Concat", {"past.value", "v"}, {"present.value"}), "axis", 2);
  set_attribute(b.node("Transpose", {"present.key"}, {"keys"}), "perm", std::vector<int64_t>{0, 1, 3, 2});
  b.node("MatMul", {"x", "keys"}, {"scores"});
  set_attribute(b.node("Softmax", {"scores"}, {"weights"}), "axis", 3);
  b.node("MatMul", {"weights", "present.value"}, {"y"});
  write_file(folder.path() + "/decoder.onnx", b.bytes());
  return folder.path() + "/decoder.onnx";
}

TEST(States, LieWhereTheyAreInAllPlans) {
  const TempDir folder;
  CompileOptions options;
  options.threads = 2;
  options.measure = Measure::none;
  options.shapes = {{"n", {16}}, {"seq", {4}}};
  options.least_shapes = {{"n", {0}}, {"seq", {1}}};
  const std::string file = written_decoder(folder), output = folder.path() + "/decoder.so";
  const Plan plan = compile_model(file, output, options).plan;
  ASSERT_GT(plan.shape_plans.size(), 3u);
  EXPECT_EQ(plan.states, (std::vector<StatePair>{{0, 1, 2}, {1, 2, 2}}));
  EXPECT_EQ(plan_from_json(plan_to_json(plan)).states, plan.states);
  const auto code = std::make_shared<const LoadedCode>(read_executable(output));
  LoadedExecutable executable(code, 2);
  LoadedState state(code);
  const HostTensor empty(TensorType{DType::f32, {1, 2, 0, 4}});
  std::vector<HostTensor> given = {empty, empty, {}};
  std::mt19937 random(4);
  for (int run = 0; run < 60; ++run) {
    if (state.length() > 16) {
      const auto length = static_cast<int64_t>(random() % 17);
      state.rewind(length);
      for (int i : {0, 1})
        given[static_cast<size_t>(i)] = given[static_cast<size_t>(i)].cropped({1, 2, length, 4});
    }
    const auto rows = static_cast<int64_t>(1 + random() % 4);
    HostTensor& x = given[2] = HostTensor(TensorType{DType::f32, {1, 2, rows, 4}});
    for (int64_t i = 0; i < x.elements(); ++i)
      x.mutable_data<float>()[i] = static_cast<float>(random() % 9) / 4 - 1;
    const std::vector<HostTensor> wanted = executable.run(given);
    const void* inputs[] = {nullptr, nullptr, x.raw()};
    const int64_t* dims[] = {nullptr, nullptr, x.shape().data()};
    HostTensor y(code->outputs[0].type);
    void* outputs[] = {y.mutable_raw(), nullptr, nullptr};
    executable.run_on(inputs, outputs, nullptr, dims, state.get());
    ASSERT_EQ(executable.output_shape(0), wanted[0].shape());
    ASSERT_EQ(std::memcmp(y.raw(), wanted[0].raw(), static_cast<size_t>(wanted[0].bytes())), 0) << run;
    given[0] = wanted[1];
    given[1] = wanted[2];
    ASSERT_EQ(state.length(), given[0].shape()[2]);
  }
}

}  // namespace
}  // namespace korch
