#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "korch/backend/backend.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/package/arena_use.h"
#include "korch/package/loaded.h"
#include "korch/package/seal.h"
#include "korch/package/sources.h"
#include "test_plan.h"

namespace korch {
namespace {

HostTensor input_of(float seed) {
  HostTensor x(TensorType{DType::f32, {kElements}});
  for (int64_t i = 0; i < kElements; ++i)
    x.mutable_data<float>()[i] = static_cast<float>((i * 7) % 11) - seed;
  return x;
}

// Small integers: exact in any order of summation.
void expect_outputs(const HostTensor& x, const std::vector<HostTensor>& outputs) {
  const std::vector<float> scale = test_scale();
  float total = 0;
  for (int64_t i = 0; i < kElements; ++i) total += x.data<float>()[i] * scale[static_cast<size_t>(i)];
  for (int64_t i = 0; i < kElements; ++i) {
    const float scaled = x.data<float>()[i] * scale[static_cast<size_t>(i)];
    ASSERT_EQ(outputs[0].data<float>()[i], std::max(scaled, 0.0f) - total) << i;
    if (i >= 40 && i < 50) {
      ASSERT_EQ(outputs[1].data<float>()[i - 40], scaled) << i;
    }
  }
}

class ExecutableTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempDir;
    plan_ = new Plan(test_plan());
    report_ = write_executable(test_package(*plan_, Isa::portable), path());
  }
  static void TearDownTestSuite() {
    delete folder_;
    delete plan_;
  }
  static std::string path() { return folder_->path() + "/model.so"; }
  static inline TempDir* folder_;
  static inline Plan* plan_;
  static inline PackageReport report_;
};

TEST_F(ExecutableTest, RunsWithAnyNumberOfThreads) {
  for (int threads : {0, 1, 2, 3}) {
    LoadedExecutable model(path(), threads);
    const HostTensor x = input_of(3);
    expect_outputs(x, model.run({x}));
    expect_outputs(x, model.run({x}));
  }
}

// What was checked before is what is written: buffers that were placed elsewhere are there.
TEST_F(ExecutableTest, HasItsBuffersWhereTheyWerePlaced) {
  PackageInput input = test_package(*plan_, Isa::portable);
  constexpr int64_t kBy = 4096;
  MemoryPlan& memory = input.placements[0].memory;
  ASSERT_GT(memory.arena_bytes, 0);
  memory.arena_bytes += kBy;
  const auto shift = [](rt::BufferRef& ref) {
    if (ref.memory == rt::kArena) ref.offset += kBy;
  };
  for (rt::BufferRef& ref : memory.tensors) shift(ref);
  for (std::vector<rt::BufferRef>& step : memory.temporaries) std::for_each(step.begin(), step.end(), shift);
  for (OutputCopy& copy : memory.copies) shift(copy.source);
  const std::string file = folder_->path() + "/placed.so";
  EXPECT_EQ(write_executable(input, file).arena_bytes, report_.arena_bytes + kBy);
  LoadedExecutable model(file);
  const HostTensor x = input_of(3);
  expect_outputs(x, model.run({x}));
  input.placements.clear();
  EXPECT_THROW(write_executable(input, file), Error);
}

// `scaled` lives until its copy is an output; the temporary for its step. As they were placed, not anew.
TEST_F(ExecutableTest, TellsWhatItsArenaHolds) {
  PackageInput input = test_package(*plan_, Isa::portable);
  MemoryPlan& memory = input.placements[0].memory;
  memory.arena_bytes += 4096;
  memory.temporaries[1][0].offset += 4096;
  const std::string file = folder_->path() + "/arena.so";
  write_executable(input, file);
  const ArenaUse use = read_arena(file, *plan_);
  EXPECT_EQ(use.arena_bytes, 448 + 64 + 4096);
  EXPECT_EQ(use.weights_bytes, 448);
  ASSERT_EQ(use.buffers.size(), 2u);
  const ArenaBuffer &scaled = use.buffers[0], &temporary = use.buffers[1];
  EXPECT_EQ(scaled.tensor, 2);
  EXPECT_EQ(scaled.first_step, 0);
  EXPECT_EQ(scaled.last_step, 1);
  EXPECT_EQ(scaled.size_bytes, 400);
  EXPECT_EQ(scaled.offset_bytes, static_cast<int64_t>(memory.tensors[2].offset));
  EXPECT_EQ(temporary.tensor, -1);
  EXPECT_EQ(temporary.first_step, 1);
  EXPECT_EQ(temporary.last_step, 1);
  EXPECT_EQ(temporary.size_bytes, 4);
  EXPECT_EQ(temporary.offset_bytes, static_cast<int64_t>(memory.temporaries[1][0].offset));
  Plan other = *plan_;
  other.steps.push_back(other.steps[1]);
  EXPECT_EQ(kind_of_failure([&] { read_arena(path(), other); }), ErrorKind::io);
}

TEST_F(ExecutableTest, DescribesItself) {
  const LoadedExecutable model(path());
  EXPECT_EQ(model.inputs()[0].name, "x");
  EXPECT_EQ(model.outputs()[1].name, "middle");
  EXPECT_EQ(model.outputs()[1].type, (TensorType{DType::f32, {2, 5}}));
  EXPECT_EQ(model.model().threads, 2u);
  EXPECT_STREQ(model.model().step_names[0], "Mul \"scale\"");
  EXPECT_EQ(model.model().step_count, 3u);  // two steps and a copy of `middle`
  EXPECT_EQ(model.model().arena_bytes, static_cast<uint64_t>(report_.arena_bytes));
  EXPECT_EQ(report_.arena_bytes, 448 + 64);  // `scaled` and a temporary; outputs live with the caller
  EXPECT_EQ(report_.weights_bytes, 448);
  EXPECT_EQ(read_plan_json(path()), "{\"test\": true}");
  EXPECT_EQ(read_executable(path()).needed, (std::vector<std::string>{"libm.so.6", "libc.so.6"}));
}

TEST_F(ExecutableTest, InstancesShareCodeAndRunOnTheCallersBuffers) {
  const auto code = std::make_shared<const LoadedCode>(read_executable(path()));
  const auto first = std::make_unique<LoadedExecutable>(code, 1);
  LoadedExecutable second(code, 2);
  EXPECT_EQ(&first->model(), &second.model());
  const HostTensor x = input_of(3);
  std::vector<HostTensor> outputs = second.allocate_outputs();
  const void* const inputs[] = {x.raw()};
  std::vector<void*> made;
  for (HostTensor& output : outputs) made.push_back(output.mutable_raw());
  first->run_on(inputs, made.data());
  expect_outputs(x, outputs);
  std::vector<double> step_us(code->model->step_count, -1);
  second.run_on(inputs, made.data(), step_us.data());
  for (double us : step_us) EXPECT_GE(us, 0);
}

// The loader takes what it knows by a name; the file of that name may be another one by now.
TEST_F(ExecutableTest, AFileThatReplacesALoadedOneIsLoaded) {
  const std::string file = folder_->path() + "/replaced.so", next = folder_->path() + "/next.so";
  std::filesystem::copy_file(path(), file);
  const LoadedCode before(read_executable(file)), again(read_executable(file));
  EXPECT_EQ(before.model, again.model);
  std::filesystem::copy_file(path(), next);
  std::filesystem::rename(next, file);
  const LoadedCode after(read_executable(file));
  EXPECT_NE(before.model, after.model);
}

TEST_F(ExecutableTest, ProfilesAndObservesSteps) {
  LoadedExecutable model(path());
  std::vector<HostTensor> outputs = model.allocate_outputs();
  EXPECT_EQ(model.profile({input_of(1)}, outputs).size(), 3u);
  std::vector<float> scaled;
  model.run_observed({input_of(1)}, outputs, [&](int step, void* const* args) {
    if (step == 0) scaled.assign(static_cast<float*>(args[2]), static_cast<float*>(args[2]) + 3);
  });
  EXPECT_EQ(scaled, (std::vector<float>{2, -6, 0}));
  EXPECT_THROW(model.run_observed({input_of(1)}, outputs, [](int, void* const*) { throw 7; }), int);
}

TEST_F(ExecutableTest, TwoInstancesInTwoThreads) {
  auto work = [&](float seed) {
    LoadedExecutable model(path());
    const HostTensor x = input_of(seed);
    for (int round = 0; round < 200; ++round) expect_outputs(x, model.run({x}));
  };
  std::thread other(work, 1.0f);
  work(5.0f);
  other.join();
}

TEST_F(ExecutableTest, SameInputSameBytes) {
  const std::string second = folder_->path() + "/second.so";
  write_executable(test_package(*plan_, Isa::portable), second);
  EXPECT_TRUE(read_file(path()) == read_file(second));
}

TEST_F(ExecutableTest, UsableFromCWithoutKorch) {
  const std::string program = folder_->path() + "/run_model";
  const std::string compile = std::string(KORCH_C_COMPILER) + " -Wall -Wextra -Werror -I" + KORCH_SOURCE_DIR +
                              "/src/korch/runtime " + KORCH_SOURCE_DIR + "/examples/run_model.c " + path() +
                              " -o " + program;
  ASSERT_EQ(std::system(compile.c_str()), 0) << compile;
  ASSERT_EQ(std::system((program + " > " + program + ".txt").c_str()), 0);
  EXPECT_EQ(read_file(program + ".txt"), "y f32: 0 0 0 0\nmiddle f32: -0 -0 0 0\n");
}

struct Library {
  explicit Library(const std::string& file) : handle(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() { ::dlclose(handle); }
  template <typename Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(::dlsym(handle, symbol));
  }
  void* handle;
};

// Each brings a runtime of its own.
TEST_F(ExecutableTest, APoolOfOneExecutableServesAnother) {
  const std::string copy = folder_->path() + "/copy.so";
  write_file(copy, read_file(path()));
  const Library first(path()), second(copy);
  ASSERT_NE(first.find<decltype(korch_run)>("korch_run"), second.find<decltype(korch_run)>("korch_run"));
  korch_options options{};
  options.struct_size = sizeof options;
  ASSERT_EQ(first.find<decltype(korch_pool_create)>("korch_pool_create")(3, &options.pool), KORCH_OK);
  const auto work = [&](const Library& library, float seed) {
    korch_instance* instance = nullptr;
    ASSERT_EQ(library.find<decltype(korch_create_with)>("korch_create_with")(&options, &instance), KORCH_OK);
    const HostTensor x = input_of(seed);
    const void* const inputs[] = {x.raw()};
    std::vector<HostTensor> outputs = LoadedExecutable(path()).allocate_outputs();
    std::vector<void*> made;
    for (HostTensor& output : outputs) made.push_back(output.mutable_raw());
    for (int round = 0; round < 100; ++round) {
      ASSERT_EQ(library.find<decltype(korch_run)>("korch_run")(instance, inputs, made.data()), KORCH_OK);
      expect_outputs(x, outputs);
    }
    library.find<decltype(korch_free)>("korch_free")(instance);
  };
  std::thread other([&] { work(first, 1); });
  work(second, 5);
  other.join();
  first.find<decltype(korch_pool_free)>("korch_pool_free")(options.pool);
}

TEST_F(ExecutableTest, RefusesWrongInputs) {
  LoadedExecutable model(path());
  EXPECT_EQ(kind_of_failure([&] { model.run({}); }), ErrorKind::invalid);
  EXPECT_EQ(kind_of_failure([&] { model.run({HostTensor({DType::f32, {7}})}); }), ErrorKind::invalid);
  EXPECT_EQ(kind_of_failure([&] { model.run({HostTensor({DType::i32, {kElements}})}); }), ErrorKind::invalid);
}

TEST_F(ExecutableTest, KernelFailureIsAnErrorThatNamesTheStep) {
  LoadedExecutable model(path());
  try {
    model.run({input_of(-2000)});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_NE(std::string(error.what()).find("Mul \"scale\""), std::string::npos) << error.what();
  }
  expect_outputs(input_of(2), model.run({input_of(2)}));
}

TEST_F(ExecutableTest, RefusesWhatIsNotAnExecutable) {
  const std::string file = folder_->path() + "/other";
  auto refused = [&] { return kind_of_failure([&] { LoadedExecutable model(file); }); };
  EXPECT_EQ(refused(), ErrorKind::io);  // missing
  for (const std::string content : {"", "text",
                                    "\x7f"
                                    "ELF"}) {
    write_file(file, content);
    EXPECT_EQ(refused(), ErrorKind::io);
  }
  write_file(file, read_file("/proc/self/exe").substr(0, 100000));
  EXPECT_EQ(refused(), ErrorKind::io);
  const std::string whole = read_file(path());
  for (size_t size = 0; size < whole.size(); size += 997) {
    write_file(file, whole.substr(0, size));
    ASSERT_EQ(refused(), ErrorKind::io) << size;
  }
  // Another CPU: the machine of the ELF header, then our own target section.
  std::string other = whole;
  other[18] = 40;
  write_file(file, other);
  EXPECT_EQ(refused(), ErrorKind::io);
  other = whole;
  const size_t target = other.find("{\"test\": true}x86-64");
  ASSERT_NE(target, std::string::npos);
  other.replace(target + 14, 6, "arm64!");
  write_file(file, other);
  seal_executable(file);
  EXPECT_EQ(refused(), ErrorKind::io);
}

TEST_F(ExecutableTest, KeepsTheSourcesOfItsKernels) {
  const std::vector<std::string> sources = read_sources(path());
  EXPECT_EQ(sources, (std::vector<std::string>{plan_->kernels[0].source, plan_->kernels[1].source}));

  const std::string file = folder_->path() + "/older", whole = read_file(path());
  std::string older = whole;  // a section of this name did not exist
  older.replace(older.find(kSourcesSection), std::string(kSourcesSection).size(), ".korch.nothing");
  write_file(file, older);
  seal_executable(file);
  EXPECT_TRUE(read_sources(file).empty());

  const std::string packed = pack_sources(*plan_);
  const size_t at = whole.find(packed);
  ASSERT_NE(at, std::string::npos);
  for (const std::string damage : {"x", "99999999999", "0\n", "1\n"}) {
    std::string damaged = whole;
    damaged.replace(at, damage.size(), damage);
    write_file(file, damaged);
    seal_executable(file);
    EXPECT_EQ(kind_of_failure([&] { read_sources(file); }), ErrorKind::io) << damage;
  }
}

// Damaged headers are refused; never a crash.
TEST_F(ExecutableTest, ReadingSurvivesDamage) {
  const std::string file = folder_->path() + "/damaged";
  const std::string whole = read_file(path());
  uint64_t state = 1;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (int change = 0; change < 8; ++change) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const size_t header = (state >> 40) % 64, tail = whole.size() - 1 - (state >> 33) % 2000;
      damaged[change % 2 == 0 ? header : tail] = static_cast<char>(state >> 56);
    }
    write_file(file, damaged);
    ASSERT_EQ(kind_of_failure([&] { read_executable(file); }), ErrorKind::io) << round;
  }
}

TEST_F(ExecutableTest, RefusesAnotherCpu) {
  if (runs_here(Isa::x86_64_v4_vnni)) GTEST_SKIP() << "this CPU offers every instruction set korch knows";
  const std::string file = folder_->path() + "/vnni.so";
  write_executable(test_package(*plan_, Isa::x86_64_v4_vnni), file);
  EXPECT_EQ(kind_of_failure([&] { LoadedExecutable model(file); }), ErrorKind::io);
}

TEST_F(ExecutableTest, UnwritablePlaceIsAnErrorAndLeavesNothing) {
  EXPECT_EQ(kind_of_failure([&] {
              write_executable(test_package(*plan_, Isa::portable), folder_->path() + "/no/such/folder/m.so");
            }),
            ErrorKind::io);
}

}  // namespace
}  // namespace korch
