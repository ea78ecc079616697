#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli.h"
#include "korch/backend/backend.h"
#include "korch/backend/gpu_here.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/base/usable_cpus.h"
#include "korch/driver/planning_speeds.h"
#include "korch/options/option_table.h"
#include "verbs.h"

namespace korch {
namespace {

struct DoctorArguments {
  int threads = 0;
  bool json = false;
};

std::string size_text(double bytes) {
  return bytes < (1 << 20) ? fmt::format("{:g} KiB", bytes / (1 << 10))
                           : fmt::format("{:.4g} MiB", bytes / (1 << 20));
}

std::string database_text(const std::string& path) {
  if (path.empty()) return "none: neither $XDG_CACHE_HOME nor $HOME is set; give compile --profile-db FILE";
  if (!file_exists(path)) return path + ", not there yet: the first compilation makes it";
  return fmt::format("{}, {}", path, size_text(static_cast<double>(std::filesystem::file_size(path))));
}

void print_findings(const PlanningSpeeds& speeds) {
  const Device& device = speeds.device;
  const auto row = [](const char* what, const std::string& text) { fmt::print("{:<12} {}\n", what, text); };
  row("Processor", device.name);
  row("", fmt::format("{}; {} thread{}", code_text(device), device.workers, device.workers == 1 ? "" : "s"));
  row("Arithmetic", fmt::format("{:.0f} GFLOP/s of float32, {} registers of {} bytes",
                                device.flops_per_us / 1e3, device.vector_registers, device.vector_bytes));
  for (const MemoryLevel& level : device.memory)
    row(level.name.c_str(),
        fmt::format("{}reading and writing {:.0f} GB/s",
                    level.bytes == 0 ? ""
                                     : fmt::format("{} {}, ", size_text(static_cast<double>(level.bytes)),
                                                   level.is_shared ? "shared" : "of each worker"),
                    level.bytes_per_us / 1e3));
  if (speeds.doubt.empty())
    row("", "(speeds are upper limits, used as bounds: the best observed, all threads, plus a margin)");
  if (!speeds.doubt.empty()) row("", speeds.doubt);
  for (const BackendPart& part : backend_of(device).parts()) row(part.name, part.state);
  row("GPU", gpu_here().state);
  for (const BackendPart& part : cuda_backend().parts()) row(part.name, part.state);
  row("Database", database_text(place_in_cache("kernels.db")));
}

void run_doctor(const DoctorArguments& arguments) {
  const PlanningSpeeds speeds =
      planning_speeds(detect_device("native", arguments.threads), Strategy::optimal, nullptr);
  if (!arguments.json) return print_findings(speeds);
  nlohmann::ordered_json json = {{"device", nlohmann::ordered_json::parse(to_text(speeds.device))},
                                 {"speeds", speeds.are},
                                 {"doubt", speeds.doubt}};
  for (const BackendPart& part : backend_of(speeds.device).parts()) json[part.key] = part.state;
  json["cuda"] = gpu_here().state;
  for (const BackendPart& part : cuda_backend().parts()) json[part.key] = part.state;
  json["kernel_database"] = place_in_cache("kernels.db");
  print_json(json);
}

}  // namespace

void add_doctor_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<DoctorArguments>();
  Options verb =
      command_line.verb("doctor", "what this machine offers: ISA, caches, measured peaks, libraries, CUDA");
  verb.option("--threads", arguments->threads, "threads to measure with; 0: all cores")
      .between(0, kMostWorkers)
      .default_shown();
  verb.flag("--json", arguments->json, "print as JSON");
  verb.runs([arguments] { run_doctor(*arguments); });
}

}  // namespace korch
