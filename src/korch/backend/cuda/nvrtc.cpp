#include "korch/backend/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "korch/backend/cuda/ptx_scan.h"

namespace korch {
namespace {

constexpr const char* kOptions[] = {"--std=c++17", "-w"};

// Where scripts/install-deps puts it, and where CUDA's toolkit and its packages do.
std::vector<std::string> folders() {
  std::vector<std::string> found = {KORCH_NVRTC_FOLDER};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) found.push_back(std::string(home) + "/lib64");
  found.push_back("");  // the dynamic loader's own
  found.push_back("/usr/local/cuda/lib64");
  return found;
}

void* open_library(const std::string& folder) {
  // The library looks for its built-in headers by their name: with them loaded it need not search, which
  // under the address sanitizer fails.
  std::error_code none;
  if (!folder.empty())
    for (const auto& file : std::filesystem::directory_iterator(folder, none))
      if (file.path().filename().string().starts_with("libnvrtc-builtins.so"))
        dlopen(file.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    if (void* library = dlopen((folder.empty() ? name : folder + "/" + name).c_str(), RTLD_NOW))
      return library;
  return nullptr;
}

template <typename F>
bool find(void* library, F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::string nvrtc_options() {
  std::string text;
  for (const char* option : kOptions) text += std::string(" ") + option;
  return text;
}

const Nvrtc& Nvrtc::get() {
  static const Nvrtc* the = new Nvrtc;  // stays loaded: other threads may compile when the program ends
  return *the;
}

Nvrtc::Nvrtc() {
  constexpr const char* kInstall =
      "install CUDA's toolkit, or NVIDIA's package nvidia-cuda-nvrtc-cu12 (scripts/install-deps does)";
  const char* chosen = std::getenv("KORCH_NVRTC");
  void* library = chosen != nullptr ? dlopen(chosen, RTLD_NOW) : nullptr;
  if (chosen != nullptr && library == nullptr) {
    missing_ = fmt::format("KORCH_NVRTC names '{}', which cannot be loaded", chosen);
    return;
  }
  for (const std::string& folder : folders())
    if (library == nullptr) library = open_library(folder);
  if (library == nullptr) {
    missing_ = fmt::format("NVRTC, the compiler for GPUs (libnvrtc.so.12), is not here: {}", kInstall);
    return;
  }
  if (!find(library, version_, "nvrtcVersion") || !find(library, create_, "nvrtcCreateProgram") ||
      !find(library, compile_, "nvrtcCompileProgram") || !find(library, destroy_, "nvrtcDestroyProgram") ||
      !find(library, log_size_, "nvrtcGetProgramLogSize") || !find(library, log_, "nvrtcGetProgramLog") ||
      !find(library, cubin_size_, "nvrtcGetCUBINSize") || !find(library, cubin_, "nvrtcGetCUBIN") ||
      !find(library, ptx_size_, "nvrtcGetPTXSize") || !find(library, ptx_, "nvrtcGetPTX")) {
    missing_ = fmt::format("the NVRTC that is here makes no machine code: {}", kInstall);
    return;
  }
  // Earlier ones extend negative sums of indices with zeros (docs/results/cuda.md).
  int major = 0, minor = 0;
  if (version_(&major, &minor) != 0 || major < 12 || (major == 12 && minor < 2))
    missing_ = fmt::format("NVRTC {}.{} computes some indices wrongly: {}", major, minor, kInstall);
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  if (version_ == nullptr || version_(&major, &minor) != 0) return "";
  return fmt::format("{}.{}", major, minor);
}

std::string Nvrtc::output(void* program, int (*size_of)(void*, size_t*), int (*get)(void*, char*)) {
  size_t size = 0;
  size_of(program, &size);
  std::string bytes(size, '\0');
  get(program, bytes.data());
  return bytes;
}

Result<std::string> Nvrtc::compile(const std::string& source, const std::string& code,
                                   std::string* report) const {
  void* program = nullptr;
  if (create_(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0)
    return Refusal{RefusalReason::compile_failed, "NVRTC makes no program"};
  const std::string architecture = "--gpu-architecture=" + code;
  std::vector<const char*> options = {architecture.c_str()};
  options.insert(options.end(), std::begin(kOptions), std::end(kOptions));
  if (report != nullptr) options.push_back("--ptxas-options=-v");
  const bool compiled = compile_(program, static_cast<int>(options.size()), options.data()) == 0;
  const std::string text = output(program, log_size_, log_).c_str();
  if (report != nullptr) *report = text;
  std::string cubin, ptx;
  if (compiled) {
    cubin = output(program, cubin_size_, cubin_);
    ptx = output(program, ptx_size_, ptx_);
  }
  destroy_(&program);
  if (!compiled) return Refusal{RefusalReason::compile_failed, "NVRTC: " + text};
  if (const std::string fault = ptx_fault(ptx); !fault.empty())
    return Refusal{RefusalReason::miscompiled, fmt::format("NVRTC {}: {}", version(), fault)};
  return cubin;
}

}  // namespace korch
