#include "nvrtc.h"

#include <dlfcn.h>

#include <filesystem>

namespace korch::testing {
namespace {

const std::string kInstalled = KORCH_SOURCE_DIR "/third_party/nvrtc/nvidia/cuda_nvrtc/lib/";

void* open_library() {
  // The library looks for its built-in headers by their name: with them loaded it need not search, which
  // under the address sanitizer fails.
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(kInstalled, none))
    if (file.path().filename().string().starts_with("libnvrtc-builtins.so"))
      dlopen(file.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
  for (const std::string& path : {kInstalled + "libnvrtc.so.12", std::string("libnvrtc.so"),
                                  std::string("/usr/local/cuda/lib64/libnvrtc.so")})
    if (void* library = dlopen(path.c_str(), RTLD_NOW)) return library;
  return nullptr;
}

template <typename F>
bool find(void* library, F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Nvrtc::Nvrtc() : library_(open_library()) {
  if (library_ == nullptr) return;
  complete_ =
      find(library_, create_, "nvrtcCreateProgram") && find(library_, compile_, "nvrtcCompileProgram") &&
      find(library_, destroy_, "nvrtcDestroyProgram") &&
      find(library_, log_size_, "nvrtcGetProgramLogSize") && find(library_, log_, "nvrtcGetProgramLog") &&
      find(library_, cubin_size_, "nvrtcGetCUBINSize") && find(library_, cubin_, "nvrtcGetCUBIN");
}

std::string Nvrtc::log(void* program) const {
  size_t size = 0;
  log_size_(program, &size);
  std::string text(size, '\0');
  log_(program, text.data());
  return text;
}

Result<std::string> Nvrtc::compile(const std::string& source, const std::string& architecture,
                                   std::string* report) const {
  void* program = nullptr;
  if (create_(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0)
    return Refusal{RefusalReason::compile_failed, "NVRTC makes no program"};
  const std::string option = "--gpu-architecture=" + architecture;
  const char* options[] = {option.c_str(), "--std=c++17", "-w", "--ptxas-options=-v"};
  const bool compiled = compile_(program, report != nullptr ? 4 : 3, options) == 0;
  const std::string text = log(program);
  if (report != nullptr) *report = text;
  size_t size = 0;
  if (compiled) cubin_size_(program, &size);
  std::string cubin(size, '\0');
  if (compiled) cubin_(program, cubin.data());
  destroy_(&program);
  if (!compiled) return Refusal{RefusalReason::compile_failed, "NVRTC: " + text};
  return cubin;
}

std::string as_one_program(const std::vector<CudaKernel>& kernels) {
  std::string text;
  for (const CudaKernel& kernel : kernels)
    text += "namespace of_" + kernel.phases[0].symbol + " {\n" + kernel.source + "}\n";
  return text;
}

void Compilation::add(CudaKernel kernel) {
  constexpr size_t kBatch = 32;
  waiting_.push_back(std::move(kernel));
  if (waiting_.size() == kBatch) finish();
}

void Compilation::finish() {
  for (const char* architecture : kArchitectures) {
    if (nvrtc_.compile(as_one_program(waiting_), architecture).ok()) continue;
    for (const CudaKernel& kernel : waiting_) {  // which of them?
      const Result<std::string> alone = nvrtc_.compile(kernel.source, architecture);
      if (!alone.ok())
        problems_ += alone.refusal().detail + kernel.source.substr(kernel.source.find("extern \"C\""));
    }
  }
  compiled_ += waiting_.size();
  waiting_.clear();
}

}  // namespace korch::testing
