#include <fmt/format.h>

#include <memory>

#include "cli.h"
#include "korch/backend/backend.h"
#include "korch/backend/device_named.h"
#include "korch/backend/spell.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/usable_cpus.h"
#include "korch/inspect/kernel_run.h"
#include "korch/kernel/region.h"
#include "verbs.h"

namespace korch {
namespace {

enum class Action { print, run, diff, resources };
enum class Form { tiles, lowered, cpp, cuda };

struct KernelArguments {
  Action action = Action::print;
  std::vector<std::string> files;
  Form form = Form::tiles;
  std::string target = "native";
  int threads = 1;
  uint64_t seed = 1;
  bool json = false;
};

void print_kernel(const tile::ScheduledGraph& graph, Form form, const Device& target) {
  if (form == Form::cpp || form == Form::cuda)
    fmt::print("{}", source_of(graph, form == Form::cpp ? target : cuda_device()));
  else
    fmt::print("{}", tile::print(form == Form::tiles ? graph : lowered(graph, target)));
}

void run_kernel(const tile::ScheduledGraph& graph, const Device& target, uint64_t seed, bool json) {
  const KernelRun run = run_kernel_alone(graph, target, seed);
  nlohmann::ordered_json outputs = nlohmann::json::array();
  bool right = true;
  for (const KernelOutput& output : run.outputs) {
    right = right && output.right();
    outputs.push_back(
        {{"name", output.name}, {"error", output.error}, {"at", output.at}, {"allowed", output.allowed}});
    if (!json)
      fmt::print("{}: error {:.3g} at element {}, allowed {:.3g}{}\n", output.name, output.error, output.at,
                 output.allowed, output.right() ? "" : ": WRONG");
  }
  if (json)
    print_json({{"outputs", outputs}, {"us", run.us}, {"low_us", run.low_us}, {"high_us", run.high_us}});
  else
    fmt::print("{:.2f} us (quartiles {:.2f}, {:.2f}) on {} threads\n", run.us, run.low_us, run.high_us,
               target.workers);
  if (!right) throw Error(ErrorKind::accuracy, "the kernel computes something else than its tile graph");
}

// Registers, memory and occupancy of each phase on a GPU.
void show_resources(const tile::ScheduledGraph& graph, const Device& target, bool json) {
  const Backend& backend = backend_of(target);
  if (!target.is_gpu()) throw Error(ErrorKind::usage, "resources are those of a GPU: name one with --target");
  if (!backend.missing().empty()) throw Error(ErrorKind::unsupported, backend.missing());
  KernelSpec spec{graph, spelled(graph, target)};
  const Result<std::string> object = backend.compile({spec.kernel.source}, target)[0];
  const Result<std::vector<FunctionResources>> found =
      object ? backend.resources(spec, spec.kernel, object.value()) : object.refusal();
  if (!found)
    throw Error(ErrorKind::unsupported,
                fmt::format("{}: {}", name(found.refusal().reason), found.refusal().detail));
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (size_t p = 0; p < found.value().size(); ++p) {
    const FunctionResources& function = found.value()[p];
    const std::string& symbol = spec.kernel.phases[p].symbol;
    rows.push_back({{"function", symbol},
                    {"threads", function.threads},
                    {"registers", function.registers},
                    {"shared", function.shared_bytes},
                    {"stack", function.stack_bytes},
                    {"local_stores", function.local_store_bytes},
                    {"local_loads", function.local_load_bytes},
                    {"occupancy", thread_occupancy(function, target)}});
    if (!json) fmt::print("{}: {}\n", symbol, describe(function, target));
  }
  if (json) print_json({{"phases", rows}});
}

void act(const KernelArguments& arguments) {
  const size_t wanted = arguments.action == Action::diff ? 2 : 1;
  if (arguments.files.size() != wanted)
    throw Error(ErrorKind::usage, fmt::format("this takes {} file{}, not {}", wanted, wanted == 1 ? "" : "s",
                                              arguments.files.size()));
  const bool is_gpu = arguments.target == "cuda" || gpu_named(arguments.target);
  const Device target = device_named(arguments.target, is_gpu ? 0 : arguments.threads);
  const tile::ScheduledGraph graph = read_tile_graph(arguments.files[0]);
  switch (arguments.action) {
    case Action::print:
      return print_kernel(graph, arguments.form, target);
    case Action::run:
      if (const std::string obstacle = backend_of(target).obstacle(target); !obstacle.empty())
        throw Error(ErrorKind::usage, obstacle);
      return run_kernel(graph, target, arguments.seed, arguments.json);
    case Action::resources:
      return show_resources(graph, target, arguments.json);
    case Action::diff:
      fmt::print("{}", text_difference(tile::print(graph), tile::print(read_tile_graph(arguments.files[1]))));
  }
}

}  // namespace

tile::ScheduledGraph read_tile_graph(const std::string& path) {
  const std::string text = read_file(path);
  try {
    tile::ScheduledGraph graph = tile::parse_tile_graph(text);
    if (const std::string fault = tile::coverage_fault(graph); !fault.empty())
      throw Error(ErrorKind::invalid, fault);
    return graph;
  } catch (const Error& error) {
    throw Error(error.kind(), path + ": " + error.what());
  }
}

void add_kernel_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<KernelArguments>();
  Options verb = command_line.verb("kernel", "one kernel as a tile graph (.tile, from compile --dump-dir)");
  const std::map<std::string, Action> actions = {{"print", Action::print},
                                                 {"run", Action::run},
                                                 {"diff", Action::diff},
                                                 {"resources", Action::resources}};
  const std::map<std::string, Form> forms = {
      {"tiles", Form::tiles}, {"lowered", Form::lowered}, {"cpp", Form::cpp}, {"cuda", Form::cuda}};
  verb.choice("action", arguments->action,
              "print it; run it on random inputs against its interpreter; say how two differ; registers, "
              "memory and "
              "occupancy on a GPU",
              actions)
      .required();
  verb.option("files", arguments->files, "one .tile file, or two to compare").required();
  verb.choice("--as", arguments->form,
              "what print shows: the graph, lowered for the CPU, as C++, as CUDA C++", forms);
  verb.option("--target", arguments->target, targets_text())
      .type(fmt::format("{{{}}}", fmt::join(target_names(), ",")))
      .default_shown();
  verb.option("--threads", arguments->threads, "workers that run is timed with; 0: all cores")
      .between(0, kMostWorkers)
      .default_shown();
  verb.option("--seed", arguments->seed, "of the random inputs").default_shown();
  verb.flag("--json", arguments->json, "print what run and resources tell as JSON");
  verb.runs([arguments] { act(*arguments); });
}

}  // namespace korch
