#include "korch/backend/stub/stub_backend.h"

#include <fmt/format.h>

#include "korch/base/error.h"

namespace korch {

std::string StubBackend::missing() const {
  return fmt::format("this korch was built without {} (cmake -D{}=ON builds it)", what_, option_);
}

std::string StubBackend::obstacle(const Device&) const {
  return missing();
}

std::vector<BackendPart> StubBackend::parts() const {
  return {{"Compiler", "compiler", "none: " + missing()}};
}

void StubBackend::refuse(const char* to_do) const {
  throw Error(ErrorKind::unsupported, fmt::format("{}, and cannot {}", missing(), to_do));
}

std::string StubBackend::compile_command(const Device&) const {
  refuse("name a compiler");
}

std::vector<TextFile> StubBackend::reproducer(const ReproducedKernel&, const Device&) const {
  refuse("show a kernel by itself");
}

std::vector<Result<std::string>> StubBackend::compile(const std::vector<std::string>&, const Device&) const {
  refuse("compile kernels");
}

std::unique_ptr<Meter> StubBackend::meter(const Device&, int64_t) const {
  refuse("run or measure kernels");
}

PeakSamples StubBackend::sample_peaks(const Device&, int) const {
  refuse("measure this machine's speeds");
}

PackageReport StubBackend::write(const PackageInput&, const std::string&,
                                 const std::function<void()>&) const {
  refuse("write executables");
}

}  // namespace korch
