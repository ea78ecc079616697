// The row of a backend that the build leaves out: it compiles, runs and writes nothing, and says so.
#pragma once

#include "korch/backend/backend.h"

namespace korch {

class StubBackend : public Backend {
 public:
  // "the CPU backend", and the CMake option that builds it.
  StubBackend(std::string what, std::string option) : what_(std::move(what)), option_(std::move(option)) {}

  std::string missing() const override;
  std::string obstacle(const Device& device) const override;
  std::vector<BackendPart> parts() const override;
  std::string compiler() const override { return ""; }
  std::string compile_command(const Device& device) const override;
  std::vector<TextFile> reproducer(const ReproducedKernel& shown, const Device& device) const override;
  std::vector<Result<std::string>> compile(const std::vector<std::string>& sources,
                                           const Device& device) const override;
  std::unique_ptr<Meter> meter(const Device& device, int64_t footprint_bytes) const override;
  PeakSamples sample_peaks(const Device& device, int workers) const override;
  PackageReport write(const PackageInput& input, const std::string& path,
                      const std::function<void()>& constants_are_written) const override;

 private:
  [[noreturn]] void refuse(const char* to_do) const;

  const std::string what_, option_;
};

}  // namespace korch
