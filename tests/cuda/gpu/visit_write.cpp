// cuda_visit FOLDER --architectures sm_80,sm_90|emulated --device-source FILE --models a,b|all|cases
// [--most-elements N]
// [--most-flops N] [--most-kernels N] [--samples N]: jobs.json, values.bin and an image per architecture, for
// bench/gpu.
#include <iostream>
#include <map>
#include <sstream>

#include "korch/base/files.h"
#include "korch/onnx/models.h"
#include "visit_jobs.h"

namespace korch::testing {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) list.push_back(word);
  return list;
}

int run(const std::string& folder, std::map<std::string, std::string> given) {
  VisitOptions options;
  options.architectures = words(given["--architectures"]);
  options.device_source = given["--device-source"];
  if (given.contains("--most-elements")) options.most_elements = std::stoll(given["--most-elements"]);
  if (given.contains("--most-flops")) options.most_flops = std::stod(given["--most-flops"]);
  if (given.contains("--most-kernels")) options.most_kernels = std::stoul(given["--most-kernels"]);
  if (given.contains("--samples")) options.samples = std::stoul(given["--samples"]);
  if (options.architectures != std::vector<std::string>{"emulated"} && !Nvrtc::get().missing().empty()) {
    std::cerr << Nvrtc::get().missing() << "\n";
    return 1;
  }
  make_directories(folder);
  VisitJobs jobs(folder, options);
  const std::string models = given["--models"];
  for (const std::string& model : models == "all" ? list_models(KORCH_SOURCE_DIR "/models") : words(models)) {
    if (model == "cases")
      jobs.add_cases();
    else
      jobs.add_model(model);
  }
  jobs.write();
  return 0;
}

}  // namespace
}  // namespace korch::testing

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> given;
    for (int i = 2; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
    return argc > 1 ? korch::testing::run(argv[1], given) : 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
