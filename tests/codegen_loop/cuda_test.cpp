// The same loop programs spelled as CUDA C++ compile with NVRTC for sm_90. Needs the library, not a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "cases.h"
#include "kernel_runner.h"
#include "korch/codegen/loop/loop_family.h"
#include "korch/ir/text.h"

namespace korch::testing {
namespace {

constexpr int kRandomGraphs = 15;

class Nvrtc {
 public:
  Nvrtc() {
    for (const char* path : {"libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (library_ == nullptr) library_ = dlopen(path, RTLD_NOW);
    if (library_ == nullptr) return;
    find(create_, "nvrtcCreateProgram");
    find(compile_, "nvrtcCompileProgram");
    find(destroy_, "nvrtcDestroyProgram");
    find(log_size_, "nvrtcGetProgramLogSize");
    find(log_, "nvrtcGetProgramLog");
  }

  bool loaded() const { return library_ != nullptr && create_ && compile_ && destroy_ && log_size_ && log_; }

  // Empty when the source compiles, else what the compiler says.
  std::string errors(const std::string& source) const {
    void* program = nullptr;
    if (create_(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) return "no program";
    const char* options[] = {"--gpu-architecture=sm_90", "--std=c++17", "-w"};
    const int status = compile_(program, 3, options);
    size_t size = 0;
    log_size_(program, &size);
    std::string log(size, '\0');
    log_(program, log.data());
    destroy_(&program);
    return status == 0 ? "" : "NVRTC: " + log;
  }

 private:
  template <typename F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  int (*destroy_)(void**) = nullptr;
  int (*log_size_)(void*, size_t*) = nullptr;
  int (*log_)(void*, char*) = nullptr;
};

void expect_compiles(const Nvrtc& nvrtc, const Graph& graph, int& compiled) {
  const Candidate candidate = whole_graph(graph);
  for (const Implementation& way :
       implementations(graph, candidate, test_target(Isa::portable), Accuracy::strict)) {
    if (way.family != "loop") continue;
    const Result<std::string> source = generate_loop_cuda(graph, candidate, way);
    if (!source.ok()) continue;
    const std::string errors = nvrtc.errors(source.value());
    EXPECT_EQ(errors, "") << print(graph) << source.value().substr(source.value().find("extern \"C\""));
    ++compiled;
    break;  // layouts change offsets only
  }
}

TEST(Cuda, EveryProgramCompilesForSm90) {
  const Nvrtc nvrtc;
  if (!nvrtc.loaded()) GTEST_SKIP() << "libnvrtc.so is not installed";
  int compiled = 0;
  for (const Case& c : hand_written()) expect_compiles(nvrtc, parse_graph(c.text), compiled);
  EXPECT_EQ(compiled, static_cast<int>(hand_written().size()));
  for (uint64_t seed = 0; seed < kRandomGraphs && !HasFailure(); ++seed)
    expect_compiles(nvrtc, random_graph(seed), compiled);
}

}  // namespace
}  // namespace korch::testing
