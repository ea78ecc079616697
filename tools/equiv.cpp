#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/fission/fission.h"
#include "korch/inspect/kernel_run.h"
#include "korch/inspect/verify.h"
#include "korch/onnx/import.h"
#include "korch/rewrite/equivalence.h"
#include "verbs.h"

namespace korch {
namespace {

struct EquivArguments {
  std::string a, b;
  std::vector<std::string> shapes, bounds;
  EquivalenceOptions options;
  bool json = false;
};

const char* name(FieldResult::Says says) {
  switch (says) {
    case FieldResult::Says::same:
      return "same";
    case FieldResult::Says::different:
      return "different";
    case FieldResult::Says::nothing:
      return "nothing";
  }
  __builtin_unreachable();
}

std::string field_text(const FieldResult& field) {
  if (field.says != FieldResult::Says::same) return field.why;
  return fmt::format(
      "the same in {} random tests modulo {}{}", field.tests, field.modulus,
      field.error_bound < 1
          ? fmt::format("; a difference passes with probability {:.1e} at most", field.error_bound)
          : "; no bound on what they overlook is known at these shapes");
}

// A tile graph's text begins with this word, perhaps behind comments.
bool is_tile_graph(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::io, fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  std::string line;
  while (std::getline(file, line) && (line.empty() || line.starts_with("//"))) continue;
  return line.starts_with("kernel {");
}

Equivalence equivalence_of_kernels(const EquivArguments& arguments) {
  if (!arguments.shapes.empty() || !arguments.bounds.empty())
    throw Error(ErrorKind::usage, "shapes and bounds are of networks; a tile graph states its extents");
  return check_kernel_equivalence(read_tile_graph(arguments.a), read_tile_graph(arguments.b),
                                  {arguments.options.tests, arguments.options.seed});
}

Equivalence equivalence_of_networks(EquivArguments& arguments) {
  ImportOptions import_options;
  parse_shapes(arguments.shapes, &import_options.shapes, &import_options.least_shapes);
  import_options.value_bounds = parse_bounds(arguments.bounds);
  const Graph a = apply_fission_rules(import_onnx(arguments.a, import_options));
  const Graph b = apply_fission_rules(import_onnx(arguments.b, import_options));
  arguments.options.inputs = [](const Graph& graph, uint64_t seed) { return random_inputs(graph, seed); };
  return check_equivalence(a, b, arguments.options);
}

void run_equiv(EquivArguments& arguments) {
  const bool kernels = is_tile_graph(arguments.a);
  if (kernels != is_tile_graph(arguments.b))
    throw Error(ErrorKind::usage,
                fmt::format("{} is the text of a kernel, {} is not: give two of a kind",
                            kernels ? arguments.a : arguments.b, kernels ? arguments.b : arguments.a));
  const Equivalence result = kernels ? equivalence_of_kernels(arguments) : equivalence_of_networks(arguments);
  if (arguments.json) {
    print_json({{"verdict", name(result.verdict)},
                {"field", name(result.field.says)},
                {"why", result.field.why},
                {"modulus", result.field.modulus},
                {"tests", result.field.tests},
                {"error_bound", result.field.error_bound},
                {"float64_difference", result.float64_difference},
                {"worst_output", result.worst_output}});
  } else {
    fmt::print("{}\nfield: {}\nfloat64: outputs differ by {:.1e} standard deviations at most ('{}')\n",
               name(result.verdict), field_text(result.field), result.float64_difference,
               result.worst_output);
  }
  if (result.verdict == Verdict::different)
    throw Error(ErrorKind::accuracy, kernels ? "the kernels differ" : "the networks differ");
  if (result.verdict == Verdict::undecided)
    throw Error(ErrorKind::accuracy, "not proven: the finite field does not confirm what float64 shows");
}

}  // namespace

void add_equiv_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<EquivArguments>();
  Options verb = command_line.verb(
      "equiv", "do two networks, or two kernels, compute the same? by random tests over a finite field");
  verb.option("first", arguments->a, "a network, an .onnx file, or a kernel, the text of its tile graph")
      .required();
  verb.option(
          "second", arguments->b,
          "another, with inputs and outputs of the same names; a kernel with arguments of the same extents")
      .required();
  verb.option("--shape", arguments->shapes, "fix the shape of an input: NAME=1x3x224x224 (repeatable)");
  verb.option("--bound", arguments->bounds, kBoundHelp);
  verb.option("--tests", arguments->options.tests, "over the field; large networks take half a minute each")
      .between(1, 10000)
      .default_shown();
  verb.option("--seed", arguments->options.seed, "of the random inputs").default_shown();
  verb.flag("--json", arguments->json, "print the result as JSON");
  verb.runs([arguments] { run_equiv(*arguments); });
}

}  // namespace korch
