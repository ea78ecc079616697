#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/file_roles.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/inspect/saved_inputs.h"
#include "korch/onnx/models.h"
#include "korch/tensor/npy.h"
#include "verbs.h"

namespace korch {
namespace {

struct ModelArguments {
  std::string name, output, inputs;
  bool list = false, json = false;
};

// $KORCH_MODELS, or what was installed with the program, or the source that it was built from.
std::string models_folder() {
  if (const char* folder = std::getenv("KORCH_MODELS")) return folder;
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none),
                              installed = program.parent_path().parent_path() / "share/korch/models";
  return std::filesystem::is_directory(installed, none) ? installed.string() : KORCH_MODELS_DIR;
}

void print_list(const std::vector<std::string>& names, const char* key, const char* before_each, bool json) {
  if (json) return print_json({{key, names}});
  for (const std::string& name : names) fmt::print("{}{}\n", before_each, name);
}

void run_model(ModelArguments& arguments) {
  const std::string folder = models_folder();
  if (arguments.list) return print_list(list_models(folder), "models", "", arguments.json);
  if (arguments.name.empty()) throw Error(ErrorKind::usage, "give a model's name, or --list");
  if (arguments.output.empty()) arguments.output = arguments.name + ".onnx";
  FileRoles files;
  files.reads("the skeleton", folder + "/" + arguments.name + ".skeleton.onnx");
  files.writes("the output", arguments.output);
  require_writable(arguments.output);
  std::vector<std::string> written = {arguments.output};
  std::vector<std::pair<std::string, HostTensor>> inputs;
  if (!arguments.inputs.empty()) {
    inputs = model_inputs(folder, arguments.name);
    for (const auto& [name, tensor] : inputs) {
      written.push_back(arguments.inputs + "/" + npy_name(name));
      output_target(written.back());
      files.writes(fmt::format("the input '{}'", name), written.back());
    }
    make_directories(arguments.inputs);
  }
  write_model(folder, arguments.name, arguments.output);
  for (size_t i = 0; i < inputs.size(); ++i) write_npy(written[i + 1], inputs[i].second);
  print_list(written, "written", "wrote ", arguments.json);
}

}  // namespace

void add_model_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<ModelArguments>();
  Options verb = command_line.verb("model", "write one of the bundled networks, with generated weights");
  verb.option("name", arguments->name, "which one (see --list)");
  verb.option("-o,--output", arguments->output, "the .onnx file to write; else NAME.onnx");
  verb.option("--inputs", arguments->inputs,
              "also write its reference inputs as .npy files into this folder");
  verb.flag("--list", arguments->list, "list the networks");
  verb.flag("--json", arguments->json, "print the names as JSON");
  verb.runs([arguments] { run_model(*arguments); });
}

}  // namespace korch
