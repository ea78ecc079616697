#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "korch/codegen/cpu/compiler.h"
#include "korch/profile/peaks.h"
#include "verbs.h"

namespace korch {
namespace {

struct DoctorArguments {
  int threads = 0;
  bool json = false;
};

// "yes", or why not.
std::string cuda_state() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return "no: the NVIDIA driver (libcuda.so.1) is not installed";
  const auto init = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  const int code = init == nullptr ? -1 : init(0);
  return code == 0 ? "a driver answers, but this version of korch writes executables for CPUs only"
                   : fmt::format("no: the driver reports error {} (is there a GPU?)", code);
}

std::string library_state(const char* soname) {
  void* library = ::dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
  return library != nullptr ? "yes" : "no: " + std::string(::dlerror());
}

void run_doctor(const DoctorArguments& arguments) {
  const Target target = detect_target("native", arguments.threads);
  const Peaks peaks = machine_peaks(target, nullptr);
  const nlohmann::ordered_json json = {{"cpu", target.cpu_name},
                                       {"isa", name(target.isa)},
                                       {"threads", target.threads},
                                       {"l1_kib", target.l1_bytes >> 10},
                                       {"l2_kib", target.l2_bytes >> 10},
                                       {"l3_kib", target.l3_bytes >> 10},
                                       {"peak_gflops", peaks.flops_per_us / 1e3},
                                       {"l1_gb_per_s", peaks.l2_bytes_per_us / 1e3},
                                       {"l2_gb_per_s", peaks.l3_bytes_per_us / 1e3},
                                       {"l3_gb_per_s", peaks.dram_bytes_per_us / 1e3},
                                       {"compiler", compiler_version()},
                                       {"onednn", library_state("libdnnl.so.2")},
                                       {"cuda", cuda_state()},
                                       {"kernel_database", default_database_path()}};
  if (arguments.json) {
    print_json(json);
    return;
  }
  for (const auto& [key, value] : json.items())
    fmt::print("{:16} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  fmt::print("(speeds are upper limits used as bounds: the best observed, all threads, plus a margin)\n");
}

}  // namespace

void add_doctor_verb(CLI::App& app) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* verb =
      app.add_subcommand("doctor", "what this machine offers: ISA, caches, measured peaks, libraries, CUDA");
  verb->add_option("--threads", arguments->threads, "threads to measure with; 0: all cores")
      ->check(CLI::Range(0, kMostThreads))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "print as JSON");
  verb->callback([arguments] { run_doctor(*arguments); });
}

}  // namespace korch
