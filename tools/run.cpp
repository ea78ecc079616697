#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/file_roles.h"
#include "korch/base/files.h"
#include "korch/base/interrupt.h"
#include "korch/base/usable_cpus.h"
#include "korch/driver/planning_speeds.h"
#include "korch/inspect/executable_inputs.h"
#include "korch/inspect/saved_inputs.h"
#include "korch/package/loaded.h"
#include "korch/tensor/npy.h"
#include "korch/tensor/npz.h"
#include "verbs.h"

namespace korch {
namespace {

struct RunArguments {
  std::string executable, output_dir, output;
  std::vector<std::string> inputs, shapes;
  uint64_t seed = 1;
  int threads = 0;
  std::optional<PlanSchedule> schedule;
  bool json = false;
};

struct Summary {
  double low = 0, high = 0, mean = 0;
};

Summary summarize(const HostTensor& tensor) {
  Summary summary;
  double sum = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double v = element_as_double(tensor, i);
    summary.low = i == 0 ? v : std::min(summary.low, v);
    summary.high = i == 0 ? v : std::max(summary.high, v);
    sum += v;
  }
  if (tensor.elements() > 0) summary.mean = sum / static_cast<double>(tensor.elements());
  return summary;
}

void print_outputs(const RunArguments& arguments, const std::vector<PlanIo>& ios,
                   const std::vector<HostTensor>& outputs) {
  nlohmann::ordered_json json = {{"outputs", nlohmann::json::array()}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Summary s = summarize(outputs[i]);
    if (arguments.json)
      json["outputs"].push_back({{"name", ios[i].name},
                                 {"dtype", name(ios[i].type.dtype)},
                                 {"shape", outputs[i].shape()},
                                 {"min", s.low},
                                 {"max", s.high},
                                 {"mean", s.mean}});
    else
      fmt::print("{} {}: min {:.6g}, max {:.6g}, mean {:.6g}\n", ios[i].name,
                 to_string(TensorType{ios[i].type.dtype, outputs[i].shape()}), s.low, s.high, s.mean);
  }
  if (arguments.json) print_json(json);
}

// One per output; none without --output-dir. None is another, nor something that is read.
std::vector<std::string> output_files(const RunArguments& arguments,
                                      const std::map<std::string, std::string>& inputs,
                                      const std::vector<PlanIo>& outputs) {
  std::vector<std::string> files;
  FileRoles roles;
  roles.reads("the executable", arguments.executable);
  for (const auto& [name, file] : inputs) roles.reads(fmt::format("the input '{}'", name), file);
  if (!arguments.output.empty() && arguments.output != "-") {
    roles.writes("the archive of outputs", arguments.output);
    require_writable(arguments.output);
  }
  if (arguments.output_dir.empty()) return files;
  for (const PlanIo& output : outputs) {
    files.push_back(arguments.output_dir + "/" + npy_name(output.name));
    roles.writes(fmt::format("the output '{}'", output.name), files.back());
    output_target(files.back());
  }
  return files;
}

// All outputs as one .npz.
void write_archive(const std::string& path, const std::vector<PlanIo>& ios,
                   const std::vector<HostTensor>& outputs) {
  std::map<std::string, HostTensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) tensors.emplace(ios[i].name, outputs[i]);
  const std::string archive = npz_of(tensors);
  if (path != "-") return write_file(path, archive);
  if (std::fwrite(archive.data(), 1, archive.size(), stdout) != archive.size())
    throw std::system_error(errno, std::generic_category(), "cannot write the standard output");
}

void run_run(const RunArguments& arguments) {
  const InputFiles given(arguments.inputs);
  const std::map<std::string, std::string>& input_files = given.by_name();
  const bool to_standard_output = arguments.output == "-";
  if (to_standard_output && ::isatty(STDOUT_FILENO) != 0)
    throw Error(ErrorKind::usage, "--output - writes bytes, and the standard output is a terminal");
  LoadedExecutable executable(arguments.executable, arguments.threads, arguments.schedule);
  if (executable.threads() < arguments.threads)
    fmt::print(stderr, "warning: {} threads instead of {}: the system gives no more\n", executable.threads(),
               arguments.threads);
  if (const std::string text = crowding(executable.threads(), usable_cpus()); !text.empty())
    fmt::print(stderr, "korch: warning: {}\n", text);
  const std::vector<std::string> files = output_files(arguments, input_files, executable.outputs());
  const std::vector<HostTensor> inputs =
      executable_inputs(executable, arguments.seed, input_files, parse_extents(arguments.shapes));
  if (!files.empty()) make_directories(arguments.output_dir);
  const std::vector<HostTensor> outputs = executable.run(inputs);
  throw_if_interrupted();
  for (size_t i = 0; i < files.size(); ++i) write_npy(files[i], outputs[i]);
  if (!arguments.output.empty()) write_archive(arguments.output, executable.outputs(), outputs);
  if (!to_standard_output) print_outputs(arguments, executable.outputs(), outputs);
}

}  // namespace

void add_run_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<RunArguments>();
  Options verb = command_line.verb("run", "run an executable");
  verb.option("executable", arguments->executable, "made by korch compile").required();
  verb.option("--input", arguments->inputs, kInputHelp);
  verb.option("--shape", arguments->shapes,
              "extent of an open dimension for random inputs, SYMBOL=4 (repeatable); the largest where not "
              "given");
  verb.option("--seed", arguments->seed, "of the random inputs").default_shown();
  verb.option("--threads", arguments->threads,
              "workers; 0: as compiled, as far as the process may use so many")
      .between(0, kMostWorkers)
      .default_shown();
  verb.choice("--schedule", arguments->schedule, "instead of the one it was compiled with",
              schedules_by_name());
  verb.option("--output-dir", arguments->output_dir,
              "write each output as <output>.npy ('/' in names as '_')");
  verb.option("-o,--output", arguments->output,
              "write all outputs into this .npz file; -: to the standard output, and no summary");
  verb.flag("--json", arguments->json, "print the summary as JSON");
  verb.runs([arguments] { run_run(*arguments); });
}

}  // namespace korch
