#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/driver/verify.h"
#include "korch/package/loaded.h"
#include "korch/tensor/npy.h"
#include "verbs.h"

namespace korch {
namespace {

struct RunArguments {
  std::string executable, output_dir;
  std::vector<std::string> inputs;
  uint64_t seed = 1;
  int threads = 0;
};

void print_summary(const std::string& name, const HostTensor& tensor) {
  double low = 0, high = 0, sum = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double v = element_as_double(tensor, i);
    low = i == 0 ? v : std::min(low, v);
    high = i == 0 ? v : std::max(high, v);
    sum += v;
  }
  fmt::print("{} {}: min {:.6g}, max {:.6g}, mean {:.6g}\n", name, to_string(tensor.type()), low, high,
             tensor.elements() > 0 ? sum / static_cast<double>(tensor.elements()) : 0.0);
}

void run_run(const RunArguments& arguments) {
  LoadedExecutable executable(arguments.executable, arguments.threads);
  Graph graph;
  for (const PlanIo& io : executable.inputs()) graph.add_input(io.type, io.name);
  std::vector<HostTensor> inputs = random_inputs(graph, arguments.seed);
  for (const auto& [name, path] : parse_assignments("--input", arguments.inputs)) {
    const auto found = std::find_if(executable.inputs().begin(), executable.inputs().end(), [&](const PlanIo& io) { return io.name == name; });
    if (found == executable.inputs().end()) throw Error(ErrorKind::usage, fmt::format("there is no input named '{}'", name));
    HostTensor tensor = read_npy(path);
    if (tensor.type() != found->type)
      throw Error(ErrorKind::invalid, fmt::format("input '{}' is {}, but '{}' holds {}", name, to_string(found->type), path,
                                                  to_string(tensor.type())));
    inputs[found - executable.inputs().begin()] = std::move(tensor);
  }
  const std::vector<HostTensor> outputs = executable.run(inputs);
  if (!arguments.output_dir.empty()) make_directories(arguments.output_dir);
  for (size_t i = 0; i < outputs.size(); ++i) {
    print_summary(executable.outputs()[i].name, outputs[i]);
    if (arguments.output_dir.empty()) continue;
    std::string file = executable.outputs()[i].name;
    std::replace(file.begin(), file.end(), '/', '_');
    write_npy(arguments.output_dir + "/" + file + ".npy", outputs[i]);
  }
}

}  // namespace

void add_run_verb(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = app.add_subcommand("run", "run an executable");
  verb->add_option("executable", arguments->executable, "made by korch compile")->required();
  verb->add_option("--input", arguments->inputs, "NAME=FILE.npy (repeatable); random where not given");
  verb->add_option("--seed", arguments->seed, "of the random inputs")->capture_default_str();
  verb->add_option("--threads", arguments->threads, "workers; 0: as compiled")->capture_default_str();
  verb->add_option("--output-dir", arguments->output_dir, "write each output as <output>.npy ('/' in names as '_')");
  verb->callback([arguments] { run_run(*arguments); });
}

}  // namespace korch
