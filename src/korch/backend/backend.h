// A backend compiles, runs, measures and writes code for one kind of Device. Code above this folder reaches
// compilers and processors through a row of one table (target_rows.cpp), and knows none by
// name. A build that leaves a backend out has a stub in its row (stub/): it takes part in planning and says
// what is missing. Text of kernels needs no compiler: spell.h is in every build.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "korch/backend/meter.h"
#include "korch/backend/peak_samples.h"
#include "korch/base/result.h"
#include "korch/codegen/kernel_spec.h"
#include "korch/device/device.h"
#include "korch/package/package_input.h"

namespace korch {

struct BackendPart {
  const char *name, *key;  // "Compiler" for people, "compiler" in JSON
  std::string state;       // its version, or why it is not there
};

// A kernel that is shown by itself, with the results that it should have, as files beside those of
// Backend::reproducer: input_0.bin, ..., constant_0.bin, expected_0.bin, allowed_0.bin. No outputs: there are
// none.
struct ReproducedKernel {
  struct Output {
    DType type;
    size_t bytes;
  };
  const Kernel& kernel;
  size_t inputs, constants;  // their numbers
  std::vector<Output> outputs;
};

struct TextFile {
  std::string name, text;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // What this build lacks to compile anything: "this korch was built without ..."; "": nothing.
  virtual std::string missing() const = 0;
  // Why this process cannot run and measure the device's code: "this machine cannot ..."; "": it can.
  virtual std::string obstacle(const Device& device) const = 0;
  // For `korch doctor`.
  virtual std::vector<BackendPart> parts() const = 0;

  // Whether there is a model of the device, for plans that are made where nothing can be measured; else
  // bounds stand for costs.
  virtual bool has_model() const { return false; }
  // Microseconds of a kernel by that model. `resources`: of its phases, once it is compiled; else empty.
  virtual double modelled_us(const KernelSpec&, const std::vector<FunctionResources>& /*resources*/,
                             const Device&) const {
    return 0;
  }

  // If something is missing(), the functions below throw Error{unsupported} with its text, except compiler(),
  // which is empty.

  // Version and options of the compiler: part of cost keys.
  virtual std::string compiler() const = 0;
  // The shell command that compiles a kernel's text to the same code; the file's name follows it.
  virtual std::string compile_command(const Device& device) const = 0;
  // Of a folder whose `sh run.sh` compiles the kernel, runs it, and ends with 1 where its results are too far
  // from what they should be; where there are none it compiles alone, and ends with 2. Without korch.
  virtual std::vector<TextFile> reproducer(const ReproducedKernel& shown, const Device& device) const = 0;
  // The object of each source, in their order, made on as many threads as the device has workers. The same
  // source gives the same bytes.
  virtual std::vector<Result<std::string>> compile(const std::vector<std::string>& sources,
                                                   const Device& device) const = 0;
  // What the phases of a compiled kernel need of the device, for Kernel::resources; empty where nothing
  // counts that. Refuses a kernel that needs so much that another implementation is to take its place.
  virtual Result<std::vector<FunctionResources>> resources(const KernelSpec&, const Kernel&,
                                                           const std::string& /*object*/) const {
    return std::vector<FunctionResources>();
  }
  // `footprint_bytes`: of the network that the kernels are for (profile/footprint.h).
  virtual std::unique_ptr<Meter> meter(const Device& device, int64_t footprint_bytes) const = 0;
  // The device's speeds, with so many workers at once; takes a second or so.
  virtual PeakSamples sample_peaks(const Device& device, int workers) const = 0;
  // Writes the executable beside `path` and renames it. Equal input gives equal bytes. Error{io} and
  // Error{resource} as files give them. Calls `constants_are_written` when it needs no constant_bytes any
  // more.
  virtual PackageReport write(const PackageInput& input, const std::string& path,
                              const std::function<void()>& constants_are_written) const = 0;
};

// Error{unsupported} for a kind that has none.
const Backend& backend_of(const Device& device);
// Whether this process can run and measure the device's code.
bool is_here(const Device& device);

// Backend::write of the input's target. The second frees the constants once they are written.
PackageReport write_executable(const PackageInput& input, const std::string& path);
PackageReport write_executable(PackageInput&& input, const std::string& path);

// Of the rows. Each is defined in its backend's folder, or in stub/ where the build leaves that out.
const Backend& cpu_backend();
const Backend& cuda_backend();

}  // namespace korch
