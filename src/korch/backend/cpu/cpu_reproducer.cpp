#include <fmt/format.h>

#include "korch/backend/cpu/compiler.h"
#include "korch/backend/cpu/cpu_parts.h"
#include "korch/base/error.h"

namespace korch {
namespace {

// The type of C++ that values are compared in.
const char* cpp_type(DType type) {
  if (type == DType::f32) return "float";
  if (type == DType::f64) return "double";
  if (type == DType::f16) return "_Float16";
  if (type == DType::bf16) return "__bf16";
  if (type == DType::i8) return "int8_t";
  if (type == DType::i16) return "int16_t";
  if (type == DType::i32) return "int32_t";
  if (type == DType::i64) return "int64_t";
  if (type == DType::u8) return "uint8_t";
  if (type == DType::u16) return "uint16_t";
  if (type == DType::u32) return "uint32_t";
  if (type == DType::u64) return "uint64_t";
  if (type == DType::bool_) return "uint8_t";
  KORCH_ASSERT(false, std::string("a kernel on ") + name(type));
  return "";
}

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
static std::string content(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
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
// Says where the difference is the largest multiple of what is allowed, and whether it is allowed.
template <typename T>
static bool compare(int output, const void* memory, const std::string& wanted, const std::string& tolerance) {
  const T* a = reinterpret_cast<const T*>(wanted.data());
  const T* b = static_cast<const T*>(memory);
  const float* allowed = reinterpret_cast<const float*>(tolerance.data());
  double worst = -1, largest = 0;
  size_t at = 0;
  for (size_t i = 0; i < wanted.size() / sizeof(T); ++i) {
    const double x = double(a[i]), y = double(b[i]);
    if (std::isinf(allowed[i])) continue;
    const bool same = a[i] == b[i] || (std::isnan(x) && std::isnan(y));
    const double difference = same                                   ? 0
                              : std::isfinite(x) && std::isfinite(y) ? std::fabs(x - y)
                                                                     : INFINITY;
    const double share = same ? 0 : allowed[i] > 0 ? difference / allowed[i] : INFINITY;
    if (share > worst) worst = share, largest = difference, at = i;
  }
  if (worst < 0) return true;
  std::printf("output %d: largest difference %g, at element %zu in memory: %g instead of %g, allowed %g: %s\n",
              output, largest, at, double(b[at]), double(a[at]), allowed[at], worst <= 1 ? "right" : "wrong");
  return worst <= 1;
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
    checks += fmt::format(
        "  right &= compare<{}>({}, args[{}], content(\"expected_{}.bin\"), "
        "content(\"allowed_{}.bin\"));\n",
        cpp_type(shown.outputs[i].type), i, shown.inputs + shown.constants + i, i, i);
  return kHead + declarations + kFunctions +
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
