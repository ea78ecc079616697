#include "korch/driver/fleet_of.h"

#include "korch/base/error.h"
#include "korch/driver/planning_speeds.h"

namespace korch {
namespace {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

std::unique_ptr<Fleet> fleet_of(const CompileOptions& options, const std::string& output) {
  if (options.fleet.empty() && options.fleet_dir.empty()) {
    if (!options.fleet_hosts.empty())
      throw Error(ErrorKind::usage, "fleet hosts are for a fleet's command, and there is none");
    return nullptr;
  }
  if (options.measure == Measure::none)
    throw Error(ErrorKind::usage, "a fleet measures, and nothing is to be measured");
  if (device_of(options).is_gpu())
    throw Error(ErrorKind::usage, "a fleet measures kernels of CPUs, and the target is a GPU");
  FleetOptions fleet;
  fleet.folder = !options.fleet_dir.empty() ? options.fleet_dir : output + ".fleet";
  if (fleet.folder == ".fleet")
    throw Error(ErrorKind::usage,
                "name the fleet's folder: no executable is written, beside which it could be");
  fleet.commands = options.fleet;
  fleet.hosts = split_at_commas(options.fleet_hosts);
  fleet.tolerance = options.fleet_tolerance / 100.0;
  return std::make_unique<Fleet>(fleet);
}

void report_fleet(Fleet& fleet, CompileResult& result) {
  result.fleet = fleet.report();
  for (std::string& warning : fleet.take_warnings()) result.warnings.push_back(std::move(warning));
  if (result.fleet->workers.empty() && result.fleet->by_leader > 0)
    result.warnings.push_back("fleet: no worker came; this machine measured alone");
}

}  // namespace korch
