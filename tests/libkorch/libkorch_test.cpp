// The C++ face over the C interface, with the compiler of this build.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <korch/korch.hpp>
#include <stdexcept>
#include <thread>

#include "korch/base/files.h"
#include "korch/options/option_table.h"
#include "korch/package/seal.h"
#include "model_builder.h"

namespace korch {
namespace {

class Libkorch : public testing::Test {
 protected:
  Libkorch() {
    bytes_ = model_with(0.25f);
    write_file(path("m.onnx"), bytes_);
    options_.program = KORCH_PROGRAM;
    options_.use_database = options_.measure = options_.verify = false;
    options_.threads = 2;
  }
  // y = relu(x w), every weight the same.
  static std::string model_with(float weight) {
    ModelBuilder b;
    b.input("x", {4, 8}).output("y");
    b.floats("w", {8, 8}, std::vector<float>(64, weight));
    b.node("MatMul", {"x", "w"}, {"p"});
    b.node("Relu", {"p"}, {"y"});
    return b.bytes();
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  korch_error kind_of_failure(const std::function<void()>& work, const std::string& word) const {
    try {
      work();
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(word), std::string::npos) << failure.what();
      return failure.kind();
    }
    return KORCH_ERROR_NONE;
  }
  korch_error kind_of_compiling(const std::string& word) const {
    return kind_of_failure([&] { compile(path("m.onnx"), path("m.so"), options_); }, word);
  }
  void expect_right(Instance& instance, const korch_run_options* options = nullptr, float right = 4) const {
    const std::vector<float> x(32, 2.f);
    std::vector<float> y(32);
    const void* inputs[] = {x.data()};
    void* outputs[] = {y.data()};
    if (options != nullptr)
      instance.run(inputs, outputs, *options);
    else
      instance.run(inputs, outputs);
    EXPECT_EQ(y, std::vector<float>(32, right));
  }
  // A program in the compiler's place.
  void pretend(const std::string& script) {
    options_.program = path("compiler");
    write_file(options_.program, "#!/bin/sh\n" + script);
    std::filesystem::permissions(options_.program, std::filesystem::perms::owner_all);
  }

  TempDir folder_;
  std::string bytes_;
  CompilerOptions options_;
};

TEST_F(Libkorch, CompilesFilesAndBytesAndRunsThem) {
  compile(path("m.onnx"), path("file.so"), options_);
  compile_bytes(bytes_.data(), bytes_.size(), path("bytes.so"), options_);
  for (const char* name : {"file.so", "bytes.so"}) {
    const Executable code(path(name));
    EXPECT_STREQ(code.model().inputs[0].name, "x");
    EXPECT_EQ(code.model().threads, 2u);
    EXPECT_EQ(code.functions().check(), KORCH_OK);
    Instance first(code), moved(std::move(first)), second(code, 1);
    expect_right(moved);
    expect_right(second);
    const Pool pool(code, 3);
    korch_options options{};
    options.struct_size = sizeof options;
    options.pool = pool.get();
    Instance shared(code, options);
    expect_right(shared);
    int64_t dims[2] = {};
    EXPECT_EQ(code.functions().output_dims(shared.get(), 0, dims), KORCH_OK);
    EXPECT_EQ(dims[0], 4);
    EXPECT_EQ(dims[1], 8);
  }
}

TEST_F(Libkorch, TellsProgress) {
  std::vector<std::string> stages;
  const std::thread::id caller = std::this_thread::get_id();
  options_.progress = [&](const std::string& stage, int64_t, int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    stages.push_back(stage);
    return true;
  };
  compile(path("m.onnx"), path("m.so"), options_);
  EXPECT_NE(std::find(stages.begin(), stages.end(), "import"), stages.end());
}

TEST_F(Libkorch, EndsWhenTheCallerWantsIt) {
  options_.progress = [](const std::string&, int64_t, int64_t) { return false; };
  EXPECT_EQ(kind_of_compiling("interrupted"), KORCH_ERROR_INTERRUPTED);
  options_.progress = [](const std::string&, int64_t, int64_t) -> bool { throw 7; };
  EXPECT_THROW(compile(path("m.onnx"), path("m.so"), options_), int);
  EXPECT_FALSE(file_exists(path("m.so")));
}

TEST_F(Libkorch, CompilesFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (const char* name : {"a.so", "b.so"})
    threads.emplace_back([this, name] { compile(path("m.onnx"), path(name), options_); });
  for (std::thread& thread : threads) thread.join();
  for (const char* name : {"a.so", "b.so"}) {
    Instance instance{Executable(path(name))};
    expect_right(instance);
  }
}

TEST_F(Libkorch, AnExecutableThatReplacesALoadedOneIsLoaded) {
  compile(path("m.onnx"), path("m.so"), options_);
  Instance before{Executable(path("m.so"))};
  const std::string other = model_with(0.5f);
  compile_bytes(other.data(), other.size(), path("m.so"), options_);
  Instance after{Executable(path("m.so"))};
  expect_right(before);
  expect_right(after, nullptr, 8);
}

// As written before version 3: its functions are not there, and the number is 2.
TEST_F(Libkorch, ExecutablesOfAnOlderVersionRunWithoutTheRest) {
  options_.threads = 31;
  compile(path("m.onnx"), path("m.so"), options_);
  std::string bytes = read_file(path("m.so"));
  const auto replace = [&](const std::string& before, const std::string& after) {
    const size_t at = bytes.find(before);
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, after.size(), after);
  };
  const auto numbers = [](std::initializer_list<uint32_t> values) {
    return std::string(reinterpret_cast<const char*>(values.begin()), 4 * values.size());
  };
  // korch_model_info: version, isa (relocated), threads, inputs, outputs.
  replace(numbers({KORCH_API_VERSION, 0, 0, 0, 31, 1, 1}), numbers({2}));
  for (const char* name : {"create_with", "run_with", "output_dims", "pool_create", "pool_free"})
    replace(std::string("korch_") + name + '\0', "absent");
  write_file(path("m.so"), bytes);
  seal_executable(path("m.so"));

  const Executable code(path("m.so"));
  EXPECT_EQ(code.model().api_version, 2u);
  EXPECT_EQ(code.functions().create_with, nullptr);
  EXPECT_EQ(code.functions().run_with, nullptr);
  EXPECT_EQ(code.functions().output_dims, nullptr);
  EXPECT_EQ(code.functions().pool_create, nullptr);
  EXPECT_EQ(code.functions().pool_free, nullptr);
  Instance instance(code, 2);
  expect_right(instance);
  const korch_options options{sizeof options, 1, 0, nullptr, nullptr, nullptr, 0, 0, 0, nullptr, 0};
  korch_run_options run_options{};
  run_options.struct_size = sizeof run_options;
  const auto both = "needs version 3 of the C interface, the executable has version 2";
  EXPECT_EQ(kind_of_failure([&] { Pool{code}; }, both), KORCH_ERROR_IO);
  EXPECT_EQ(kind_of_failure([&] { Instance(code, options); }, both), KORCH_ERROR_IO);
  EXPECT_EQ(kind_of_failure([&] { expect_right(instance, &run_options); }, both), KORCH_ERROR_IO);
}

TEST_F(Libkorch, OneExecutableForARangeOfShapes) {
  options_.shapes["x"] = {4, 8};
  options_.least_shapes["x"] = {2, 8};
  compile(path("m.onnx"), path("m.so"), options_);
  const Executable code(path("m.so"));
  Instance instance(code);
  const std::vector<float> x(32, 2.f);
  for (const int64_t rows : {2, 3, 4}) {
    std::vector<float> y(32);
    const void* inputs[] = {x.data()};
    void* outputs[] = {y.data()};
    const int64_t dims[] = {rows, 8};
    const int64_t* const input_dims[] = {dims};
    korch_run_options options{};
    options.struct_size = sizeof options;
    options.input_dims = input_dims;
    instance.run(inputs, outputs, options);
    int64_t got[2];
    EXPECT_EQ(code.functions().output_dims(instance.get(), 0, got), KORCH_OK);
    EXPECT_EQ(got[0], rows);
    for (int64_t i = 0; i < rows * 8; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], 4);
  }
  options_.least_shapes["x"] = {5, 8};
  EXPECT_EQ(kind_of_compiling("5"), KORCH_ERROR_USAGE);
  options_.least_shapes["x"] = {2};
  EXPECT_EQ(kind_of_compiling("least shape of 'x'"), KORCH_ERROR_USAGE);
  options_.least_shapes = {{"y", {1}}};
  EXPECT_EQ(kind_of_compiling("least shape of 'y'"), KORCH_ERROR_USAGE);
}

TEST_F(Libkorch, WarnsOfWhatTheCompilerWarnedOf) {
  pretend("read request; echo '{\"result\": {\"warnings\": [\"one\", \"two\"]}}'");
  EXPECT_EQ(compile(path("m.onnx"), path("m.so"), options_), (std::vector<std::string>{"one", "two"}));
}

TEST_F(Libkorch, EveryOptionReachesTheCompiler) {
  pretend("read -r request; echo \"$request\" >" + path("request") +
          "; echo '{\"result\": {\"warnings\": []}}'");
  CompilerOptions all;
  all.program = options_.program;
  for (const OptionRow& row : option_rows(kLibrary))
    all.options.emplace_back(row.name, row.kind == OptionKind::word ? row.words[0] : row.preset);
  compile(path("m.onnx"), path("m.so"), all);
  const std::string request = read_file(path("request"));
  for (const auto& [name, value] : all.options)
    EXPECT_NE(request.find("\"" + name + "\":\"" + value + "\""), std::string::npos) << request;
}

TEST_F(Libkorch, WrongArguments) {
  for (const int threads : {-1, 1025}) {
    options_.threads = threads;
    EXPECT_EQ(kind_of_compiling("threads"), KORCH_ERROR_USAGE);
  }
  options_.threads = 2;
  options_.budget_s = -1;
  EXPECT_EQ(kind_of_compiling("option budget: a time"), KORCH_ERROR_USAGE);
  options_.budget_s = 0;
  options_.accuracy = "sloppy";
  EXPECT_EQ(kind_of_compiling("sloppy"), KORCH_ERROR_USAGE);
  options_.accuracy = "standard";
  options_.options = {{"treads", "2"}};
  EXPECT_EQ(kind_of_compiling("no option 'treads'; there are target, threads"), KORCH_ERROR_USAGE);
  options_.options = {{"schedule", "static"}};
  EXPECT_EQ(kind_of_compiling("option schedule: barrier or dynamic, not 'static'"), KORCH_ERROR_USAGE);
  options_.options = {{"threads", "1"}};
  EXPECT_EQ(kind_of_compiling("option threads is given twice"), KORCH_ERROR_USAGE);
  options_.options.clear();
  options_.shapes["nothing"] = {1};
  EXPECT_EQ(kind_of_compiling("nothing"), KORCH_ERROR_USAGE);
  options_.shapes.clear();
  EXPECT_EQ(kind_of_failure([&] { compile(path("m.onnx"), path("\xff.so"), options_); }, "UTF-8"),
            KORCH_ERROR_USAGE);

  char message[64];
  EXPECT_EQ(korch_compile(nullptr, message, sizeof message), KORCH_ERROR_USAGE);
  struct Newer {
    korch_compile_options known;
    uint64_t more;
  } newer{};
  newer.known.struct_size = sizeof newer;
  newer.more = 1;
  EXPECT_EQ(korch_compile(&newer.known, message, sizeof message), KORCH_ERROR_USAGE);
  EXPECT_NE(std::string(message).find("does not know"), std::string::npos) << message;
  newer.more = 0;
  newer.known.model_path = "m.onnx";
  newer.known.output_path = "m.so";
  const int64_t extent = 1;
  const korch_shape twice[] = {{"x", &extent, 1}, {"x", &extent, 1}};
  newer.known.shapes = twice;
  newer.known.shape_count = 2;
  EXPECT_EQ(korch_compile(&newer.known, message, sizeof message), KORCH_ERROR_USAGE);
  EXPECT_NE(std::string(message).find("twice"), std::string::npos) << message;
  newer.known.reserved[1] = 1;
  EXPECT_EQ(korch_compile(&newer.known, message, sizeof message), KORCH_ERROR_USAGE);
  EXPECT_NE(std::string(message).find("reserved"), std::string::npos) << message;
  newer.known = {};
  newer.known.struct_size = sizeof newer;
  EXPECT_EQ(korch_compile(&newer.known, message, 5), KORCH_ERROR_USAGE);
  EXPECT_STREQ(message, "give");
  newer.known.struct_size = offsetof(korch_compile_options, output_path);
  newer.known.model_path = "m.onnx";
  newer.known.output_path = "m.so";  // behind the end of the struct
  EXPECT_EQ(korch_compile(&newer.known, message, sizeof message), KORCH_ERROR_USAGE);
  EXPECT_NE(std::string(message).find("output_path"), std::string::npos) << message;
}

// In C++ a callback may throw anything, though it should not.
TEST_F(Libkorch, WhatACallbackThrowsStopsAtTheBorder) {
  korch_compile_options options{};
  options.struct_size = sizeof options;
  options.model_bytes = bytes_.data();
  options.model_size_bytes = bytes_.size();
  const std::string output = path("m.so");
  options.output_path = output.c_str();
  options.program = KORCH_PROGRAM;
  char message[64];
  options.progress = [](void*, const char*, int64_t, int64_t) -> int32_t { throw 7; };
  EXPECT_EQ(korch_compile(&options, message, sizeof message), KORCH_ERROR_INTERNAL);
  EXPECT_STREQ(message, "a callback threw");
  options.progress = [](void*, const char*, int64_t, int64_t) -> int32_t { throw std::runtime_error("why"); };
  EXPECT_EQ(korch_compile(&options, message, sizeof message), KORCH_ERROR_INTERNAL);
  EXPECT_STREQ(message, "why");
}

TEST_F(Libkorch, KindsOfFailures) {
  EXPECT_EQ(kind_of_failure([&] { compile(path("m.onnx"), path("none/m.so"), options_); }, "none/m.so"),
            KORCH_ERROR_IO);
  EXPECT_EQ(kind_of_failure([&] { compile(path("m.onnx"), folder_.path(), options_); }, folder_.path()),
            KORCH_ERROR_USAGE);
  write_file(path("m.onnx"), "no model");
  EXPECT_EQ(kind_of_compiling("not an ONNX model"), KORCH_ERROR_INVALID);
  std::filesystem::remove(path("m.onnx"));
  EXPECT_EQ(kind_of_compiling("m.onnx"), KORCH_ERROR_IO);
  ModelBuilder b;
  b.input("x", {4}).output("y");
  b.node("Unheard", {"x"}, {"y"});
  write_file(path("m.onnx"), b.bytes());
  EXPECT_EQ(kind_of_compiling("Unheard"), KORCH_ERROR_UNSUPPORTED);
}

// The system forgets the exit code, not the reason.
TEST_F(Libkorch, InAProcessThatIgnoresItsChildren) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  compile(path("m.onnx"), path("m.so"), options_);
  std::filesystem::remove(path("m.onnx"));
  EXPECT_EQ(kind_of_compiling("m.onnx"), KORCH_ERROR_INTERNAL);
  ::signal(SIGCHLD, before);
  Instance instance{Executable(path("m.so"))};
  expect_right(instance);
}

// A caller without standard streams: what the compiler gets for them has their numbers here.
TEST_F(Libkorch, WithoutStandardStreams) {
  const int saved[] = {::dup(0), ::dup(1), ::dup(2)};
  for (int stream = 0; stream < 3; ++stream) ::close(stream);
  std::string failure;
  try {
    compile(path("m.onnx"), path("m.so"), options_);
  } catch (const Failure& thrown) {
    failure = thrown.what();
  }
  for (int stream = 0; stream < 3; ++stream) {
    ::dup2(saved[stream], stream);
    ::close(saved[stream]);
  }
  EXPECT_EQ(failure, "");
  Instance instance{Executable(path("m.so"))};
  expect_right(instance);
}

TEST_F(Libkorch, ACompilerThatFailsIsAnErrorHere) {
  options_.program = path("none");
  EXPECT_EQ(kind_of_compiling("cannot be started"), KORCH_ERROR_IO);
  pretend("kill -SEGV $$");
  EXPECT_EQ(kind_of_compiling("died of signal 11"), KORCH_ERROR_INTERNAL);
  pretend("read request; kill -KILL $$");
  EXPECT_EQ(kind_of_compiling("died of signal 9"), KORCH_ERROR_INTERNAL);
  pretend("exec >&-; echo noise >&2; echo 'korch: the reason' >&2; exit 6");
  EXPECT_EQ(kind_of_compiling("the reason"), KORCH_ERROR_RESOURCE);
  pretend("echo \"$0: error while loading shared libraries: libx.so.1: cannot open\" >&2; exit 127");
  EXPECT_EQ(kind_of_compiling("needs libx.so.1, which"), KORCH_ERROR_IO);
  pretend("echo nonsense; sleep 60");
  EXPECT_EQ(kind_of_compiling("do not understand each other"), KORCH_ERROR_INTERNAL);
  pretend("exit 0");
  EXPECT_EQ(kind_of_compiling("no answer"), KORCH_ERROR_INTERNAL);
  // More than a pipe takes, of which nothing is wanted.
  pretend("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo 'korch: the reason' >&2; exit 6");
  EXPECT_EQ(kind_of_compiling("the reason"), KORCH_ERROR_RESOURCE);
}

// No compiler, linker or shell of the system is asked.
TEST_F(Libkorch, NeedsNoProgramOnThePath) {
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", path("none").c_str(), 1);
  options_.measure = true;
  compile(path("m.onnx"), path("m.so"), options_);
  ::setenv("PATH", before.c_str(), 1);
  Instance instance{Executable(path("m.so"))};
  expect_right(instance);
}

TEST_F(Libkorch, RefusesDamagedExecutables) {
  compile(path("m.onnx"), path("m.so"), options_);
  std::string damaged = read_file(path("m.so"));
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  write_file(path("damaged.so"), damaged);
  const auto load = [&](const std::string& name) {
    return kind_of_failure([&] { const Executable code(path(name)); }, name);
  };
  EXPECT_EQ(load("m.so"), KORCH_ERROR_NONE);
  EXPECT_EQ(load("damaged.so"), KORCH_ERROR_IO);
  EXPECT_EQ(load("none.so"), KORCH_ERROR_IO);
  EXPECT_EQ(load("m.onnx"), KORCH_ERROR_IO);
  korch_executable executable{};
  for (const uint64_t size : {uint64_t{0}, uint64_t{8}, UINT64_MAX}) {  // never set
    executable.struct_size = size;
    EXPECT_EQ(korch_load(path("m.so").c_str(), &executable, nullptr, 0), KORCH_ERROR_USAGE) << size;
  }
  executable.struct_size = sizeof executable;
  executable.library = &executable;
  EXPECT_EQ(korch_load(path("damaged.so").c_str(), &executable, nullptr, 0), KORCH_ERROR_IO);
  EXPECT_EQ(executable.library, nullptr);
  struct Newer {
    korch_executable known;
    void* more;
  } newer{{}, &newer};
  newer.known.struct_size = sizeof newer;
  ASSERT_EQ(korch_load(path("m.so").c_str(), &newer.known, nullptr, 0), KORCH_ERROR_NONE);
  EXPECT_EQ(newer.more, nullptr);
  EXPECT_EQ(newer.known.struct_size, sizeof newer);
  korch_unload(&newer.known);
  EXPECT_EQ(newer.known.library, nullptr);
  korch_unload(&executable);
  korch_unload(nullptr);
}

TEST_F(Libkorch, ARunIsCancelledThroughOptions) {
  compile(path("m.onnx"), path("m.so"), options_);
  Instance instance{Executable(path("m.so"))};
  const int32_t cancel = 1;
  korch_run_options options{};
  options.struct_size = sizeof options;
  options.cancel = &cancel;
  try {
    expect_right(instance, &options);
    FAIL() << "not cancelled";
  } catch (const RunFailure& failure) {
    EXPECT_EQ(failure.status(), KORCH_CANCELLED);
  }
  expect_right(instance);
}

// Nothing of LLVM, protobuf or the solver comes with it, and it shows nothing else.
TEST_F(Libkorch, ShowsItsInterfaceAlone) {
  const std::string nm = "nm -D --defined-only --extern-only " KORCH_LIBRARY " | awk '{print $3}' | sort > ";
  ASSERT_EQ(std::system((nm + path("symbols")).c_str()), 0);
  EXPECT_EQ(read_file(path("symbols")), "korch_compile\nkorch_load\nkorch_unload\n");
  const std::string needed =
      "readelf -d " KORCH_LIBRARY " | grep -c 'NEEDED.*\\(LLVM\\|clang\\|protobuf\\|highs\\)'";
  EXPECT_NE(std::system((needed + " > /dev/null").c_str()), 0);
}

TEST_F(Libkorch, StatesKeepWhatRunsLeave) {
  ModelBuilder b;
  b.input("past", {-1, 2}, 1, {"n", ""}).input("fresh", {1, 2}).output("negative").output("present");
  onnx::proto::NodeProto& concat = b.node("Concat", {"past", "fresh"}, {"present"});
  set_attribute(concat, "axis", int64_t{0});
  b.node("Neg", {"present"}, {"negative"});
  write_file(path("cache.onnx"), b.bytes());
  options_.shapes = {{"n", {3}}};
  options_.least_shapes = {{"n", {0}}};
  compile(path("cache.onnx"), path("cache.so"), options_);
  const Executable code(path("cache.so"));
  ASSERT_EQ(code.model().state_count, 1u);
  Instance instance(code);
  State state(code), other(code);
  for (int run = 0; run < 4; ++run) {
    const float fresh[] = {static_cast<float>(run), 7};
    float negative[8] = {};
    const void* const inputs[] = {nullptr, fresh};
    void* const outputs[] = {negative, nullptr};
    instance.run(inputs, outputs, state);
    EXPECT_EQ(state.length(), run + 1);
    for (int row = 0; row <= run; ++row) EXPECT_EQ(negative[2 * row], -row);
    if (run == 1) other.copy_from(state);
    if (run < 3) continue;
    EXPECT_THROW(instance.run(inputs, outputs, state), RunFailure);  // it is full
    state.rewind(1);
    instance.run(inputs, outputs, state);
    EXPECT_EQ(negative[2], -3);
    instance.run(inputs, outputs, other);
    EXPECT_EQ(negative[2], -1);
    EXPECT_EQ(other.length(), 3);
    state.reset();
    EXPECT_EQ(state.length(), 0);
    EXPECT_THROW(state.rewind(1), RunFailure);
  }
  options_.shapes = options_.least_shapes = {};
  compile(path("m.onnx"), path("m.so"), options_);
  const Executable plain(path("m.so"));
  EXPECT_THROW(State{plain}, RunFailure);
}

}  // namespace
}  // namespace korch
