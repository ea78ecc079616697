#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/base/usable_cpus.h"
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

std::string size_text(double bytes) {
  return bytes < (1 << 20) ? fmt::format("{:g} KiB", bytes / (1 << 10))
                           : fmt::format("{:.4g} MiB", bytes / (1 << 20));
}

std::string isa_text(Isa isa) {
  if (isa == Isa::portable) return fmt::format("{}: slow, portable code", row(isa).has);
  return fmt::format("{} ({})", row(isa).has, name(isa));
}

std::string database_text(const std::string& path) {
  if (path.empty()) return "none: neither $XDG_CACHE_HOME nor $HOME is set; give compile --profile-db FILE";
  if (!file_exists(path)) return path + ", not there yet: the first compilation makes it";
  return fmt::format("{}, {}", path, size_text(static_cast<double>(std::filesystem::file_size(path))));
}

void print_findings(const Target& target, const MachinePeaks& machine) {
  const Peaks& peaks = machine.peaks;
  const auto row = [](const char* what, const std::string& text) { fmt::print("{:<10} {}\n", what, text); };
  row("Processor", target.cpu_name);
  row("",
      fmt::format("{}; {} thread{}", isa_text(target.isa), target.threads, target.threads == 1 ? "" : "s"));
  row("Caches",
      fmt::format("L1 {} and L2 {} per core, L3 {} shared", size_text(static_cast<double>(target.l1_bytes)),
                  size_text(static_cast<double>(target.l2_bytes)),
                  size_text(static_cast<double>(target.l3_bytes))));
  row("Speed", fmt::format("float32 arithmetic {:.0f} GFLOP/s", peaks.flops_per_us / 1e3));
  row("", fmt::format("reading and writing {:.0f} GB/s in L1, {:.0f} in L2, {:.0f} in L3, {:.0f} in memory",
                      peaks.l1_bytes_per_us / 1e3, peaks.l2_bytes_per_us / 1e3, peaks.l3_bytes_per_us / 1e3,
                      peaks.memory_bytes_per_us / 1e3));
  row("", "(upper limits, used as bounds: the best observed, all threads, plus a margin)");
  if (!machine.disturbed.empty()) row("", "this machine is busy: " + machine.disturbed);
  row("Compiler", compiler_version());
  row("oneDNN", library_state("libdnnl.so.2"));
  row("CUDA", cuda_state());
  row("Database", database_text(default_database_path()));
}

void run_doctor(const DoctorArguments& arguments) {
  const Target target = detect_target("native", arguments.threads);
  const MachinePeaks machine = machine_peaks(target, nullptr);
  const Peaks& peaks = machine.peaks;
  const nlohmann::ordered_json json = {{"cpu", target.cpu_name},
                                       {"isa", name(target.isa)},
                                       {"threads", target.threads},
                                       {"l1_kib", target.l1_bytes >> 10},
                                       {"l2_kib", target.l2_bytes >> 10},
                                       {"l3_kib", target.l3_bytes >> 10},
                                       {"peak_gflops", peaks.flops_per_us / 1e3},
                                       {"l1_gb_per_s", peaks.l1_bytes_per_us / 1e3},
                                       {"l2_gb_per_s", peaks.l2_bytes_per_us / 1e3},
                                       {"l3_gb_per_s", peaks.l3_bytes_per_us / 1e3},
                                       {"memory_gb_per_s", peaks.memory_bytes_per_us / 1e3},
                                       {"busy", machine.disturbed},
                                       {"compiler", compiler_version()},
                                       {"onednn", library_state("libdnnl.so.2")},
                                       {"cuda", cuda_state()},
                                       {"kernel_database", default_database_path()}};
  if (arguments.json) {
    print_json(json);
    return;
  }
  print_findings(target, machine);
}

}  // namespace

void add_doctor_verb(CLI::App& app) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* verb =
      app.add_subcommand("doctor", "what this machine offers: ISA, caches, measured peaks, libraries, CUDA");
  verb->add_option("--threads", arguments->threads, "threads to measure with; 0: all cores")
      ->check(CLI::Range(0, kMostWorkers))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "print as JSON");
  verb->callback([arguments] { run_doctor(*arguments); });
}

}  // namespace korch
