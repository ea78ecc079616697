#include "korch/backend/cpu/compiler.h"

#include <gtest/gtest.h>

#include <thread>

#include "korch/codegen/cpu/shared_function.h"
#include "korch/device/device.h"

namespace korch {
namespace {

using Function = float (*)(float);

std::string source(const std::string& body) {
  return "extern \"C\" float sinf(float);\nextern \"C\" float run(float x) { return " + body + "; }\n";
}

Function load(LoadedKernels& kernels, const std::string& text) {
  const Result<std::string> object = compile_object(text, name(Isa::portable));
  return reinterpret_cast<Function>(kernels.load(object.value(), {"run"}).value()[0]);
}

TEST(Compiler, CompiledCodeRuns) {
  LoadedKernels kernels;
  const Function twice = load(kernels, source("x * 2"));
  const Function sine = load(kernels, source("sinf(x)"));  // same symbol; libm from this process
  EXPECT_EQ(twice(21), 42);
  EXPECT_EQ(sine(0.5f), __builtin_sinf(0.5f));
}

TEST(Compiler, SameSourceSameBytesInEveryThread) {
  const std::string text = source("x * x + 1");
  const std::string expected = compile_object(text, name(Isa::x86_64_v3)).value();
  std::vector<std::string> objects(4);
  std::vector<std::thread> threads;
  for (std::string& object : objects)
    threads.emplace_back([&] { object = compile_object(text, name(Isa::x86_64_v3)).value(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& object : objects) EXPECT_TRUE(object == expected);
}

// Sixteen multiply-adds: two roundings on the portable target, two instructions on v3, one on v4.
TEST(Compiler, TargetsDiffer) {
  const std::string text =
      "typedef float v16 __attribute__((vector_size(64)));\n"
      "extern \"C\" void run(v16* x) { *x = *x * *x + *x; }\n";
  const std::string portable = compile_object(text, name(Isa::portable)).value();
  const std::string v3 = compile_object(text, name(Isa::x86_64_v3)).value();
  const std::string v4 = compile_object(text, name(Isa::x86_64_v4)).value();
  EXPECT_FALSE(portable == v3);
  EXPECT_FALSE(v3 == v4);
}

TEST(Compiler, RefusesWithTheCompilersWords) {
  const Result<std::string> object = compile_object("int run() { return y; }", name(Isa::portable));
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.refusal().reason, RefusalReason::compile_failed);
  EXPECT_NE(object.refusal().detail.find("undeclared identifier 'y'"), std::string::npos)
      << object.refusal().detail;
}

TEST(Compiler, ReadsNoFiles) {
  EXPECT_FALSE(compile_object("#include \"/etc/hostname\"\n", name(Isa::portable)).ok());
  EXPECT_FALSE(compile_object("#include <math.h>\n", name(Isa::portable)).ok());
}

std::string shared(const std::string& name, const std::string& rest) {
  return kSharedFunction + ("static __attribute__((noinline)) void " + name + rest) + kEndOfSharedFunction;
}

TEST(Compiler, SharedFunctionsServeSeveralSources) {
  const std::string triple =
      "(const float* x, float* y, bool again){ *y = *x + *x + *x; if (again) *y += *x; }\n";
  // What it refers to stands elsewhere: stays text.
  const std::string tenth = shared("tenth", "(const float* x, float* y){ *y = *x * 0.1f; }\n");
  const auto text = [&](const std::string& name, const std::string& value) {
    return shared(name, triple) + tenth + "extern \"C\" float run(float x) { float y, z; " + name +
           "(&x, &y, true); tenth(&x, &z); return " + value + "; }\n";
  };
  LoadedKernels kernels;
  EXPECT_EQ(load(kernels, text("triple", "y"))(5), 20);
  EXPECT_EQ(load(kernels, text("other", "y + 1"))(5), 21);  // under another name
  EXPECT_EQ(load(kernels, text("triple", "z"))(5), 0.5f);
  const std::string source = text("triple", "y");
  EXPECT_TRUE(compile_object(source, name(Isa::x86_64_v3)).value() ==
              compile_object(source, name(Isa::x86_64_v3)).value());
}

TEST(Compiler, SharedFunctionIsRefusedWithTheCompilersWords) {
  const Result<std::string> object =
      compile_object(shared("broken", "(float* y){ *y = nothing; }\n"), name(Isa::portable));
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.refusal().detail.find("undeclared identifier 'nothing'"), std::string::npos)
      << object.refusal().detail;
}

TEST(LoadedKernels, RefusesMissingSymbols) {
  LoadedKernels kernels;
  const std::string object = compile_object(source("x"), name(Isa::portable)).value();
  EXPECT_FALSE(kernels.load(object, {"walk"}).ok());
  const std::string unresolved =
      compile_object(
          "extern \"C\" float nowhere(float);\nextern \"C\" float run(float x) { return nowhere(x); }",
          name(Isa::portable))
          .value();
  EXPECT_FALSE(kernels.load(unresolved, {"run"}).ok());
  EXPECT_FALSE(kernels.load("not an object", {"run"}).ok());
  EXPECT_EQ(load(kernels, source("x + 1"))(1), 2);  // still usable
}

}  // namespace
}  // namespace korch
