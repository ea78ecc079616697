#include <fmt/format.h>

#include <algorithm>

#include "korch/backend/cuda/cuda_parts.h"
#include "korch/backend/reproducer_text.h"
#include "korch/base/error.h"
#include "korch/codegen/cuda/print_cuda.h"

namespace korch {
namespace {

constexpr const char* kHead =
    R"(// Runs the kernel on the GPU, and compares its results with what they should be.
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
)";

constexpr const char* kFunctions = R"(
static void* driver;
template <typename... Arguments>
static void call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, name));
  const int code = function == nullptr ? -1 : function(arguments...);
  if (code == 0) return;
  std::printf("%s gives %d\n", name, code);
  std::exit(1);
}
static std::vector<uint64_t> arguments;
static void add(const std::string& bytes) {
  uint64_t address = 0;
  call("cuMemAlloc_v2", &address, bytes.size() + 1);
  call("cuMemcpyHtoD_v2", address, static_cast<const void*>(bytes.data()), bytes.size());
  arguments.push_back(address);
}
static std::string result(size_t argument, size_t bytes) {
  std::string result(bytes, 0);
  call("cuMemcpyDtoH_v2", static_cast<void*>(result.data()), arguments[argument], bytes);
  return result;
}
static void* open_module() {
  const char* named = std::getenv("KORCH_CUDA_DRIVER");
  driver = dlopen(named == nullptr ? "libcuda.so.1" : named, RTLD_NOW);
  if (driver == nullptr) {
    std::printf("there is no NVIDIA driver (libcuda.so.1)\n");
    std::exit(3);
  }
  int device = 0;
  char name[256] = "";
  void *context = nullptr, *module = nullptr;
  call("cuInit", 0U);
  call("cuDeviceGet", &device, 0);
  call("cuDeviceGetName", static_cast<char*>(name), 255, device);
  call("cuDevicePrimaryCtxRetain", &context, device);
  call("cuCtxSetCurrent", context);
  const bool emulated = std::strncmp(name, "emulated", 8) == 0;
  const std::string image = content(emulated ? "kernel.emulated" : "kernel.cubin");
  call("cuModuleLoadData", &module, static_cast<const void*>(image.data()));
  return module;
}
static void launch(void* module, const char* symbol, unsigned blocks) {
  void* function = nullptr;
  call("cuModuleGetFunction", &function, module, symbol);
  std::vector<void*> places;
  for (uint64_t& argument : arguments) places.push_back(&argument);
  call("cuLaunchKernel", function, blocks, 1U, 1U, THREADS, 1U, 1U, 0U, static_cast<void*>(nullptr), places.data(),
       static_cast<void**>(nullptr));
}
)";

std::string program(const ReproducedKernel& shown) {
  const Kernel& kernel = shown.kernel;
  std::string loads, launches, checks;
  const auto load = [&](const char* what, size_t count) {
    for (size_t i = 0; i < count; ++i) loads += fmt::format("  add(content(\"{}_{}.bin\"));\n", what, i);
  };
  const auto add_room = [&](int64_t bytes) { loads += fmt::format("  add(std::string({}, 0));\n", bytes); };
  load("input", shown.inputs);
  load("constant", shown.constants);
  for (const auto& [type, bytes] : shown.outputs) add_room(static_cast<int64_t>(bytes));
  for (int64_t bytes : kernel.temporary_bytes) add_room(bytes);
  int64_t most_blocks = 1;
  for (const KernelPhase& phase : kernel.phases) {
    most_blocks = std::max(most_blocks, phase.grid);
    launches += fmt::format("  launch(module, \"{}\", {});\n", phase.symbol, phase.grid);
  }
  const size_t status = shown.inputs + shown.constants + shown.outputs.size() + kernel.temporary_bytes.size();
  add_room(sizeof(int32_t));
  add_room(kernel.scratch_bytes * most_blocks);
  for (size_t i = 0; i < shown.outputs.size(); ++i)
    checks += compared_output(
        shown, i,
        fmt::format("result({}, {}).data()", shown.inputs + shown.constants + i, shown.outputs[i].bytes));
  std::string functions = kFunctions;
  functions.replace(functions.find("THREADS"), 7, fmt::format("{}U", tile::kCudaThreads));
  return kHead + comparing_functions() + functions +
         fmt::format(R"(
int main() {{
  void* module = open_module();
{}{}  call("cuCtxSynchronize");
  if (result({}, 4) != std::string(4, 0)) {{
    std::printf("an index is out of range\n");
    return 1;
  }}
  bool right = true;
{}  return right ? 0 : 1;
}}
)",
                     loads, launches, status, checks);
}

}  // namespace

std::vector<TextFile> cuda_reproducer(const ReproducedKernel& shown, const std::string& cubin,
                                      const std::string& compile_command) {
  std::vector<TextFile> files = {{"kernel.cu", shown.kernel.source}, {"kernel.cubin", cubin}};
  try {
    files.push_back({"kernel.emulated", emulated_image(shown.kernel)});
  } catch (const Error&) {  // this build makes none: the folder is for GPUs alone
  }
  const std::string about = fmt::format(
      "# kernel.cubin is kernel.cu by NVRTC; anew: {} kernel.cu -o kernel.cubin\n", compile_command);
  if (shown.outputs.empty()) {
    files.push_back(
        {"run.sh", about + "echo \"kernel.cubin is compiled; the arguments were not kept\"\nexit 2\n"});
    return files;
  }
  files.push_back({"main.cpp", program(shown)});
  files.push_back(
      {"run.sh", about + "set -e\n${CXX:-c++} -std=c++17 -O1 main.cpp -o reproducer -ldl\n./reproducer\n"});
  return files;
}

}  // namespace korch
