#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <sstream>

#include "korch/onnx/models.h"
#include "options.h"

namespace korch::testing {
namespace {

Options chosen;

std::vector<std::string> names(const std::string& list) {
  if (list == "all") return list_models(KORCH_SOURCE_DIR "/models");
  std::vector<std::string> names;
  std::stringstream text(list);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

// False where there is no such option.
bool read(const std::string& option, const std::string& value) {
  if (option == "--models")
    chosen.models = names(value);
  else if (option == "--sample")
    chosen.sample = std::stoul(value);
  else if (option == "--seed")
    chosen.seed = std::stoull(value);
  else if (option == "--kernel")
    chosen.only = std::stoll(value);
  else if (option == "--part")
    return std::sscanf(value.c_str(), "%d/%d", &chosen.part, &chosen.parts) == 2 &&
           chosen.part < chosen.parts;
  else
    return false;
  return true;
}

}  // namespace

const Options& options() {
  return chosen;
}

}  // namespace korch::testing

int main(int argc, char** argv) {
  using namespace korch::testing;
  ::testing::InitGoogleTest(&argc, argv);
  chosen.models = {"llama_like_4l_128", "unet_like_32"};  // soon done
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--plans" || option == "--verbose") {
      (option == "--plans" ? chosen.plans : chosen.verbose) = true;
    } else if (i + 1 == argc || !read(option, argv[++i])) {
      std::cerr << "options: --models all|A,B --sample N --seed S --plans --part I/N --kernel I --verbose\n";
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
