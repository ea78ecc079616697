#include "korch/fission/fission.h"

#include <fmt/format.h>

#include <memory>

#include "cli.h"
#include "korch/base/file_roles.h"
#include "korch/base/files.h"
#include "korch/onnx/export.h"
#include "korch/onnx/import.h"
#include "verbs.h"

namespace korch {
namespace {

struct FissionArguments {
  std::string model, output;
  std::vector<std::string> shapes, bounds;
  bool json = false;
};

void run_fission(const FissionArguments& arguments) {
  const ModelFile model(arguments.model);
  FileRoles files;
  files.reads("the model", model.path());
  files.writes("the output", arguments.output);
  require_writable(arguments.output);
  ImportOptions options;
  options.on_external_file = [&](const std::string& path) { files.reads("the model's external data", path); };
  parse_shapes(arguments.shapes, &options.shapes, &options.least_shapes);
  options.value_bounds = parse_bounds(arguments.bounds);
  const Graph imported = import_onnx(model.path(), options);
  const Graph primitive = fission(imported);
  export_onnx(primitive, arguments.output);
  if (arguments.json) {
    print_json({{"operators", imported.live_node_count()},
                {"primitives", primitive.live_node_count()},
                {"output", arguments.output}});
    return;
  }
  fmt::print("{} operators -> {} primitives and constants; wrote {}\n", imported.live_node_count(),
             primitive.live_node_count(), arguments.output);
}

}  // namespace

void add_fission_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<FissionArguments>();
  Options verb = command_line.verb("fission", "write the primitive graph as an ONNX model");
  verb.option("model", arguments->model, kModelHelp).required();
  verb.option("-o,--output", arguments->output, "the .onnx file to write").required();
  verb.option("--shape", arguments->shapes, "fix the shape of an input: NAME=1x3x224x224 (repeatable)");
  verb.option("--bound", arguments->bounds, kBoundHelp);
  verb.flag("--json", arguments->json, "print the result as JSON");
  verb.runs([arguments] { run_fission(*arguments); });
}

}  // namespace korch
