#include "finding_file.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "graph_maker.h"
#include "korch/base/error.h"
#include "korch/ir/text.h"

namespace korch::fuzz {
namespace {

constexpr int kContents = 4, kSeeds = 4;  // that constants are looked for among

bool equal(const HostTensor& a, const HostTensor& b) {
  return ConstantAttrs{a} == ConstantAttrs{b};
}

std::string contents_text(const HostTensor& tensor) {
  for (int contents = 0; contents < kContents; ++contents)
    for (uint64_t seed = 0; seed < kSeeds; ++seed)
      if (equal(tensor, random_tensor(tensor.type(), static_cast<Contents>(contents), seed)))
        return fmt::format(" random {} {}", contents, seed);
  std::string text;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    text += is_float(tensor.dtype()) ? fmt::format(" {}", element_as_double(tensor, i))
                                     : fmt::format(" {}", element_as_int(tensor, i));
  return text;
}

TensorType parse_type(const std::string& text) {
  const size_t open = text.find('[');
  TensorType type;
  if (open == std::string::npos || !parse_dtype(text.substr(0, open), &type.dtype))
    throw Error(ErrorKind::invalid, "not a type: " + text);
  std::istringstream extents(text.substr(open + 1, text.size() - open - 2));
  for (std::string extent; std::getline(extents, extent, 'x');) type.shape.push_back(std::stoll(extent));
  return type;
}

HostTensor parse_contents(const TensorType& type, std::istringstream& in) {
  const auto start = in.tellg();
  std::string word;
  if (in >> word && word == "random") {
    int contents = 0;
    uint64_t seed = 0;
    in >> contents >> seed;
    return random_tensor(type, static_cast<Contents>(contents), seed);
  }
  in.clear();
  in.seekg(start);
  HostTensor wide(TensorType{is_float(type.dtype) ? DType::f64 : DType::i64, type.shape});
  for (int64_t i = 0; i < wide.elements(); ++i) {
    if (!(in >> word)) throw Error(ErrorKind::invalid, "too few elements for a constant " + to_string(type));
    if (is_float(type.dtype))
      wide.mutable_data<double>()[i] = std::stod(word);
    else
      wide.mutable_data<int64_t>()[i] = std::stoll(word);
  }
  return converted(wide, type.dtype);
}

PlanChoice parse_plan(const std::string& text) {
  if (text == "greedy") return {Subject::Kind::greedy, 1};
  if (text == "unfused") return {Subject::Kind::unfused, 1};
  if (text.starts_with("random:")) return {Subject::Kind::random, std::stoull(text.substr(7))};
  throw Error(ErrorKind::invalid, "not a plan: " + text);
}

}  // namespace

std::string to_text(const SavedCase& saved) {
  const Setting& setting = saved.what.setting;
  std::string text = fmt::format("// setting {} {} {} {}{}\n// plans", setting.target, setting.threads,
                                 setting.accuracy == Accuracy::strict ? "strict" : "standard",
                                 saved.input_seed, setting.specials ? " specials" : "");
  for (const PlanChoice& plan : saved.what.plans) text += " " + to_string(plan);
  text += "\n";
  for (const auto& [hash, tensor] : large_constants(saved.what.graph))
    text += fmt::format("// constant {} {}{}\n", hash, to_string(tensor.type()), contents_text(tensor));
  return text + print(saved.what.graph);
}

SavedCase saved_case_from(const std::string& text) {
  SavedCase saved;
  std::map<std::string, HostTensor> constants;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with("//");) {
    std::istringstream in(line.substr(2));
    std::string what;
    in >> what;
    if (what == "setting") {
      std::string accuracy, specials;
      in >> saved.what.setting.target >> saved.what.setting.threads >> accuracy >> saved.input_seed;
      saved.what.setting.specials = in >> specials && specials == "specials";
      saved.what.setting.accuracy = accuracy == "strict" ? Accuracy::strict : Accuracy::standard;
    } else if (what == "plans") {
      for (std::string plan; in >> plan;) saved.what.plans.push_back(parse_plan(plan));
    } else if (what == "constant") {
      std::string hash, type;
      in >> hash >> type;
      constants[hash] = parse_contents(parse_type(type), in);
    }
  }
  saved.what.graph = parse_graph(text, constants);
  return saved;
}

}  // namespace korch::fuzz
