#include "nvrtc.h"

namespace korch::testing {

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
    if (Nvrtc::get().compile(as_one_program(waiting_), architecture).ok()) continue;
    for (const CudaKernel& kernel : waiting_) {  // which of them?
      const Result<std::string> alone = Nvrtc::get().compile(kernel.source, architecture);
      if (!alone.ok())
        problems_ += alone.refusal().detail + kernel.source.substr(kernel.source.find("extern \"C\""));
    }
  }
  compiled_ += waiting_.size();
  waiting_.clear();
}

}  // namespace korch::testing
