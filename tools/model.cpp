#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/onnx/models.h"
#include "korch/tensor/npy.h"
#include "verbs.h"

namespace korch {
namespace {

struct ModelArguments {
  std::string name, output, inputs;
  bool list = false;
};

// $KORCH_MODELS, or where the program was built.
std::string models_folder() {
  const char* folder = std::getenv("KORCH_MODELS");
  return folder != nullptr ? folder : KORCH_MODELS_DIR;
}

std::string file_name_of(std::string tensor) {
  for (char& c : tensor)
    if (c == '/') c = '_';
  return tensor;
}

void run_model(const ModelArguments& arguments) {
  const std::string folder = models_folder();
  if (arguments.list) {
    for (const std::string& name : list_models(folder)) fmt::print("{}\n", name);
    return;
  }
  if (arguments.name.empty() || arguments.output.empty())
    throw Error(ErrorKind::usage, "give a model's name and -o FILE.onnx, or --list");
  write_model(folder, arguments.name, arguments.output);
  fmt::print("wrote {}\n", arguments.output);
  if (arguments.inputs.empty()) return;
  make_directories(arguments.inputs);
  for (const auto& [name, tensor] : model_inputs(folder, arguments.name)) {
    const std::string path = arguments.inputs + "/" + file_name_of(name) + ".npy";
    write_npy(path, tensor);
    fmt::print("wrote {}\n", path);
  }
}

}  // namespace

void add_model_verb(CLI::App& app) {
  auto arguments = std::make_shared<ModelArguments>();
  CLI::App* verb = app.add_subcommand("model", "write one of the bundled networks, with generated weights");
  verb->add_option("name", arguments->name, "which one (see --list)");
  verb->add_option("-o,--output", arguments->output, "the .onnx file to write");
  verb->add_option("--inputs", arguments->inputs, "also write its reference inputs as .npy files into this folder");
  verb->add_flag("--list", arguments->list, "list the networks");
  verb->callback([arguments] { run_model(*arguments); });
}

}  // namespace korch
