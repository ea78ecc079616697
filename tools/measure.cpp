#include <fmt/format.h>

#include <memory>

#include "cli.h"
#include "korch/backend/backend.h"
#include "korch/base/error.h"
#include "korch/fleet/worker.h"
#include "verbs.h"

namespace korch {
namespace {

struct MeasureArguments {
  std::string folder;
  bool once = false;
  double idle_s = 600;
};

void run_measure_verb(const MeasureArguments& arguments) {
  ServeOptions options;
  options.folder = arguments.folder;
  options.once = arguments.once;
  options.idle_s = arguments.idle_s;
  options.machine = this_machine();
  options.can_run = is_here;
  options.make_meter = [](const Device& device, int64_t footprint_bytes) {
    return backend_of(device).meter(device, footprint_bytes);
  };
  options.say = [](const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  const Served served = serve(options);
  fmt::print("{} kernel{} measured\n", served.measured, served.measured == 1 ? "" : "s");
}

}  // namespace

void add_measure_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<MeasureArguments>();
  Options verb = command_line.verb(
      "measure", "measure kernels for compilations on other machines that share a folder (compile --fleet)");
  verb.option("--serve", arguments->folder,
              "the folder, which both see; nobody else may write to it, since it holds code that is run")
      .required();
  verb.flag("--once", arguments->once,
            "end with the compilation that was served; else wait for the next one");
  verb.option("--idle", arguments->idle_s, "end after so many seconds without a compilation").default_shown();
  verb.runs([arguments] { run_measure_verb(*arguments); });
}

}  // namespace korch
