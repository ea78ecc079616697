#include <fmt/format.h>

#include "korch/backend/cpu/compiler.h"
#include "korch/backend/cpu/cpu_parts.h"
#include "korch/backend/reproducer_text.h"

namespace korch {
namespace {

constexpr const char* kHead = R"(// Compares the kernel's results with what they should be.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

struct korch_kernel_context {
  void* const* args;
  void* scratch;
  const void* state;
  int32_t worker;
};
)";

constexpr const char* kFunctions = R"(
static void* zeros(size_t bytes) {
  const size_t rounded = (bytes + 127) / 64 * 64;
  char* memory = static_cast<char*>(std::aligned_alloc(64, rounded));
  for (size_t i = 0; i < rounded; ++i) memory[i] = 0;
  return memory;
}
static void* load(const char* file) {
  const std::string bytes = content(file);
  char* memory = static_cast<char*>(zeros(bytes.size()));
  bytes.copy(memory, bytes.size());
  return memory;
}
static int failed(int code) {
  std::printf("the kernel returns %d\n", code);
  return 1;
}
)";

// Runs the phases on one thread, slice after slice.
std::string harness(const ReproducedKernel& shown) {
  const Kernel& kernel = shown.kernel;
  std::string loads, launches, checks;
  const auto load = [&](const char* what, size_t count) {
    for (size_t i = 0; i < count; ++i)
      loads += fmt::format("  args.push_back(load(\"{}_{}.bin\"));\n", what, i);
  };
  load("input", shown.inputs);
  load("constant", shown.constants);
  for (const auto& [type, bytes] : shown.outputs)
    loads += fmt::format("  args.push_back(zeros({}));\n", bytes);
  for (int64_t bytes : kernel.temporary_bytes) loads += fmt::format("  args.push_back(zeros({}));\n", bytes);
  std::string declarations;
  for (const KernelPhase& phase : kernel.phases) {
    declarations += fmt::format("extern \"C\" int32_t {}(const korch_kernel_context*, int64_t, int64_t);\n",
                                phase.symbol);
    launches += fmt::format("  for (int64_t slice = 0; slice < {}; ++slice)\n", phase.slices());
    launches += fmt::format("    if (const int code = {}(&context, slice, slice + 1)) return failed(code);\n",
                            phase.symbol);
  }
  for (size_t i = 0; i < shown.outputs.size(); ++i)
    checks += compared_output(shown, i, fmt::format("args[{}]", shown.inputs + shown.constants + i));
  return kHead + declarations + comparing_functions() + kFunctions +
         fmt::format(R"(
int main() {{
  std::vector<void*> args;
{}  korch_kernel_context context{{args.data(), zeros({}), nullptr, 0}};
{}  bool right = true;
{}  return right ? 0 : 1;
}}
)",
                     loads, kernel.scratch_bytes, launches, checks);
}

}  // namespace

std::vector<TextFile> cpu_reproducer(const ReproducedKernel& shown, const Device& device) {
  const std::string compile =
      fmt::format("set -e\n{} kernel.cpp -o kernel.o\n", compile_command(device.code));
  const TextFile source{"kernel.cpp", shown.kernel.source};
  if (shown.outputs.empty())
    return {source, {"run.sh", compile + "echo \"compiled; the arguments were not kept\"\nexit 2\n"}};
  return {source,
          {"main.cpp", harness(shown)},
          {"run.sh", compile + "clang++-19 -std=c++20 -O1 main.cpp kernel.o -o reproducer\n./reproducer\n"}};
}

}  // namespace korch
