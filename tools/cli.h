// What several verbs share on the command line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/plan/plan.h"
#include "korch/tensor/shape.h"

namespace korch {

// {"NAME=128", ...}: the most that values of a network may be. Throws Error{usage}.
std::map<std::string, int64_t> parse_bounds(const std::vector<std::string>& items);
inline constexpr const char* kBoundHelp =
    "the most that an integer of the network may be which the data say and a shape is made of (repeatable): "
    "NAME=128, of the ONNX value; a run with more ends with an error";

// {"NAME=1x3x224x224", "SYMBOL=1..64", ...}: the largest extents, and where a range leaves one open the least
// too. Throws Error{usage}.
void parse_shapes(const std::vector<std::string>& items, std::map<std::string, Shape>* most,
                  std::map<std::string, Shape>* least);

// {"SYMBOL=4", ...}. Throws Error{usage}.
std::map<std::string, int64_t> parse_extents(const std::vector<std::string>& items);

// {"NAME=VALUE", ...} as a map; throws Error{usage} on a missing '=' or a name given twice.
std::map<std::string, std::string> parse_assignments(const std::string& option,
                                                     const std::vector<std::string>& items);

// The whole standard input as a file of this name, as long as the object lives.
class StandardInput {
 public:
  explicit StandardInput(const std::string& name);
  const std::string& path() const { return path_; }

 private:
  TempDir folder_;
  std::string path_;
};

constexpr const char* kModelHelp = "the network, an .onnx file; -: the standard input";
// A network's file: `argument`, or the standard input where that is "-".
class ModelFile {
 public:
  explicit ModelFile(const std::string& argument);
  const std::string& path() const { return path_; }

 private:
  std::optional<StandardInput> input_;
  std::string path_;
};

constexpr const char* kInputHelp =
    "NAME=FILE.npy or NAME=FILE.npz, or FILE.npz for all that it holds (-: the standard input), repeatable; "
    "random where not given";
// What --input says, as input name -> file.
class InputFiles {
 public:
  // Throws Error{usage}.
  explicit InputFiles(const std::vector<std::string>& items);
  const std::map<std::string, std::string>& by_name() const { return files_; }

 private:
  std::optional<StandardInput> input_;
  std::map<std::string, std::string> files_;
};

// The names of PlanSchedule.
std::map<std::string, PlanSchedule> schedules_by_name();

// Indented, one newline at the end. What is not UTF-8 in a model's names is replaced.
std::string json_text(const nlohmann::ordered_json& json);
// The same on the standard output.
void print_json(const nlohmann::ordered_json& json);

}  // namespace korch
