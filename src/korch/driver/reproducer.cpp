#include "korch/driver/reproducer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "korch/base/files.h"
#include "korch/codegen/cpu/compiler.h"

namespace korch {
namespace {

std::string about(const FaultyKernel& faulty) {
  std::string text = fmt::format("step {}: {}\n{}\n\nprimitives:\n", faulty.step, faulty.name, faulty.reason);
  for (const std::string& line : faulty.primitives) text += "  " + line + "\n";
  const LibraryCall& call = faulty.kernel.call;
  if (!call.library.empty())
    text += fmt::format("\ncall: {} {}\nparams: {}\nfloats: {}\n", call.library, call.function,
                        fmt::join(call.params, " "), fmt::join(call.floats, " "));
  text += "\nlaunch:\n";
  for (const KernelPhase& phase : faulty.kernel.phases)
    text += fmt::format("  {} on {} slices\n", phase.symbol, phase.grid);
  return text;
}

// Runs the phases on one thread, slice after slice.
std::string harness(const FaultyKernel& faulty) {
  const Kernel& kernel = faulty.kernel;
  const StepData& data = faulty.data;
  std::string loads, launches, checks;
  const auto load = [&](const char* what, size_t count) {
    for (size_t i = 0; i < count; ++i)
      loads += fmt::format("  args.push_back(load(\"{}_{}.bin\"));\n", what, i);
  };
  load("input", data.inputs.size());
  load("constant", data.constants.size());
  for (const std::string& output : data.got)
    loads += fmt::format("  args.push_back(zeros({}));\n", output.size());
  for (int64_t bytes : kernel.temporary_bytes) loads += fmt::format("  args.push_back(zeros({}));\n", bytes);
  std::string declarations;
  for (const KernelPhase& phase : kernel.phases) {
    declarations += fmt::format("extern \"C\" int32_t {}(const korch_kernel_context*, int64_t, int64_t);\n",
                                phase.symbol);
    launches += fmt::format("  for (int64_t slice = 0; slice < {}; ++slice)\n", phase.grid);
    launches += fmt::format("    if (const int code = {}(&context, slice, slice + 1)) return failed(code);\n",
                            phase.symbol);
  }
  for (size_t i = 0; i < data.got.size(); ++i)
    checks += fmt::format("  compare<{}>({}, args[{}], \"expected_{}.bin\", {});\n",
                          faulty.output_types[i].dtype == DType::f32   ? "float"
                          : faulty.output_types[i].dtype == DType::f64 ? "double"
                                                                       : "unsigned char",
                          i, data.inputs.size() + data.constants.size() + i, i, data.got[i].size());
  return fmt::format(R"(// Compares the kernel's results with what they should be.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

struct korch_kernel_context {{
  void* const* args;
  void* scratch;
  const void* state;
  int32_t worker;
}};
{}
static void* zeros(size_t bytes) {{
  const size_t rounded = (bytes + 127) / 64 * 64;
  char* memory = static_cast<char*>(std::aligned_alloc(64, rounded));
  for (size_t i = 0; i < rounded; ++i) memory[i] = 0;
  return memory;
}}
static std::string content(const char* file) {{
  std::ifstream in(file, std::ios::binary);
  return {{std::istreambuf_iterator<char>(in), {{}}}};
}}
static void* load(const char* file) {{
  const std::string bytes = content(file);
  char* memory = static_cast<char*>(zeros(bytes.size()));
  bytes.copy(memory, bytes.size());
  return memory;
}}
static int failed(int code) {{
  std::printf("the kernel returns %d\n", code);
  return 1;
}}
template <typename T>
static void compare(int output, const void* memory, const char* file, size_t bytes) {{
  const std::string wanted = content(file);
  const T* a = reinterpret_cast<const T*>(wanted.data());
  const T* b = static_cast<const T*>(memory);
  double largest = 0;
  size_t at = 0;
  for (size_t i = 0; i < bytes / sizeof(T); ++i) {{
    const double difference = std::fabs(double(a[i]) - double(b[i]));
    if (difference > largest || std::isnan(difference)) largest = difference, at = i;
  }}
  std::printf("output %d: largest difference %g, at element %zu in memory: %g instead of %g\n", output,
              largest, at, double(b[at]), double(a[at]));
}}

int main() {{
  std::vector<void*> args;
{}  korch_kernel_context context{{args.data(), zeros({}), nullptr, 0}};
{}{}}}
)",
                     declarations, loads, kernel.scratch_bytes, launches, checks);
}

}  // namespace

void write_reproducer(const FaultyKernel& faulty, Isa isa, const std::string& folder) {
  make_directories(folder);
  const auto write = [&](const std::string& file, const std::string& text) {
    write_file(folder + "/" + file, text);
  };
  write("about.txt", about(faulty));
  if (faulty.kernel.source.empty()) return;
  write("kernel.cpp", faulty.kernel.source);
  write("main.cpp", harness(faulty));
  write("run.sh",
        fmt::format("set -e\n{} kernel.cpp -o kernel.o\nclang++-19 -std=c++20 -O1 main.cpp kernel.o "
                    "-o reproducer\n./reproducer\n",
                    compile_command(isa)));
  const auto write_all = [&](const char* what, const std::vector<std::string>& items) {
    for (size_t i = 0; i < items.size(); ++i) write(fmt::format("{}_{}.bin", what, i), items[i]);
  };
  write_all("input", faulty.data.inputs);
  write_all("constant", faulty.data.constants);
  write_all("expected", faulty.data.expected);
  write_all("got", faulty.data.got);
}

}  // namespace korch
