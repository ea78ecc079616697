// What the Python package and libkorch compile with, and Python verifies with, in a process of its own: what
// ends the compiler (no memory, a kernel that crashes) leaves the caller alone.
//
// The standard input holds the request, one line of JSON, and stays open as long as the caller wants the
// answer; its end ends the work. The standard output gets lines of JSON: {"progress": [stage, done, total]},
// and last {"result": ...}. Errors are the program's: a message and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <set>
#include <thread>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/interrupt.h"
#include "korch/base/json.h"
#include "korch/driver/pipeline.h"
#include "korch/driver/plan_states.h"
#include "korch/inspect/verify.h"
#include "korch/onnx/import.h"
#include "korch/options/option_table.h"
#include "korch/package/executable.h"
#include "korch/plan/plan_json.h"
#include "verbs.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

void send(const Json& line) {
  fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
}

// A pipe's reader is told of a stage at once, and within one not more often than people can see.
class ProgressLines {
 public:
  void operator()(const std::string& stage, int64_t done, int64_t total) {
    constexpr std::chrono::milliseconds kShortest{50};
    const auto now = std::chrono::steady_clock::now();
    if (stage == stage_ && done != total && now - last_ < kShortest) return;
    stage_ = stage;
    last_ = now;
    send({{"progress", {stage, done, total}}});
  }

 private:
  std::string stage_;
  std::chrono::steady_clock::time_point last_;
};

std::string read_request() {
  std::string line;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar())
    line.push_back(static_cast<char>(c));
  return line;
}

// Nobody waits for the answer any more when the input ends.
void end_with_input() {
  std::thread([] {
    char byte = 0;
    for (ssize_t count = 1; count > 0 || (count < 0 && errno == EINTR);)
      count = ::read(STDIN_FILENO, &byte, 1);
    end_interrupted();
  }).detach();
}

// {"threads": "2", "rule": ["winograd", "strassen"], ...}, as texts.
UserOptions options_of(const Json& given) {
  UserOptions options = preset_options();
  std::set<std::string> several;
  for (const OptionRow& row : option_rows(kPython | kLibrary))
    if (row.kind == OptionKind::texts) several.insert(row.name);
  for (const auto& [name, value] : given.items()) {
    if (value.is_array() && value.size() > 1 && several.count(name) == 0)
      throw Error(ErrorKind::usage, fmt::format("option {} is given twice", name));
    for (const Json& text : value.is_array() ? value : Json::array({value}))
      set_option(options, kPython | kLibrary, name, text.get<std::string>());
  }
  return options;
}

Json compile(const Json& request) {
  CompileOptions options = options_of(request.at("options")).compile;
  options.shapes = request.at("shapes").get<std::map<std::string, Shape>>();
  options.least_shapes = request.value("least_shapes", std::map<std::string, Shape>{});
  options.value_bounds = request.value("bounds", std::map<std::string, int64_t>{});
  options.progress = ProgressLines();
  const std::string output = request.at("output").get<std::string>();
  require_writable(output);
  const CompileResult result = compile_model(request.at("model").get<std::string>(), output, options);
  return {{"warnings", result.warnings}};
}

Json verify(const Json& request) {
  ImportOptions import_options;
  import_options.shapes = request.at("shapes").get<std::map<std::string, Shape>>();
  import_options.least_shapes = request.value("least_shapes", std::map<std::string, Shape>{});
  import_options.value_bounds = request.value("bounds", std::map<std::string, int64_t>{});
  const std::string executable = request.at("executable").get<std::string>();
  import_options.states = states_of(plan_from_json(read_plan_json(executable)));
  VerifyOptions options;
  options.samples = request.at("samples").get<int>();
  options.seed = request.at("seed").get<uint64_t>();
  const Graph graph = import_onnx(request.at("model").get<std::string>(), import_options);
  const VerifyResult result = compare_executable(graph, executable, options);
  if (!result.passed) throw Error(ErrorKind::accuracy, failure_text(result));
  Json outputs = Json::array();
  for (const OutputError& e : result.outputs)
    outputs.push_back(
        {{"name", e.output}, {"max_error", e.deviation.max_error}, {"ratio", e.deviation.ratio}});
  return outputs;
}

void run_worker() {
  std::signal(SIGPIPE,
              SIG_IGN);  // who cannot be told is gone: the write fails, and what was begun is removed
  try {
    const Json request = Json::parse(read_request());
    end_with_input();
    const std::string verb = request.at("verb").get<std::string>();
    send({{"result", verb == "verify" ? verify(request) : compile(request)}});
  } catch (const Json::exception& e) {
    throw Error(ErrorKind::usage, fmt::format("not a request: {}", e.what()));
  }
}

}  // namespace

void add_worker_verb(CommandLine& command_line) {
  // Without a group it is not in the help: it is for programs.
  Options verb = command_line.verb("worker", "serve one request of the Python package or of libkorch");
  verb.hide();
  verb.runs(run_worker);
}

}  // namespace korch
