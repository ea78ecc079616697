#include "stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <sstream>

#include "korch/base/usable_cpus.h"
#include "korch/candidate/candidate.h"
#include "korch/codegen/implementation.h"
#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/rewrite/alternatives.h"

namespace korch {
namespace {

std::string parse(const Graph& graph, const RunLine&) {
  verify(graph, GraphForm::imported);
  return print(graph);
}

std::string fold(const Graph& graph, const RunLine&) {
  Graph folded = graph;
  fold_constants(folded, INT64_MAX);
  folded.remove_dead_nodes();
  return print(folded.compact());
}

std::string fissioned(const Graph& graph, const RunLine&) {
  const Graph result = fission(graph);
  verify(result, GraphForm::primitive);
  return print(result);
}

// The graph, then which rules and limits took part.
std::string alternatives(const Graph& graph, const RunLine& line) {
  const Rewritten result = add_alternatives(graph, {.strict = line.strict,
                                                    .only = line.only,
                                                    .bytes = line.target.multiplies_bytes,
                                                    .floats = line.target.is_gpu(),
                                                    .bfloat16_products = line.bfloat16,
                                                    .bfloat16_storage = line.bfloat16});
  verify(result.base, GraphForm::primitive);
  verify(result.graph, GraphForm::primitive);
  std::string text = print(result.graph);
  for (const auto& [rule, count] : result.applied) text += fmt::format("applied {}: {}\n", rule, count);
  for (const auto& [limit, count] : result.limited) text += fmt::format("limited {}: {}\n", limit, count);
  return text;
}

std::string names(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> result;
  for (ValueId id : values) result.push_back(graph.value(id).name);
  return fmt::format("{}", fmt::join(result, " "));
}

// One line per candidate: its nodes by the Values they make, then its outputs.
std::string candidates(const Graph& graph, const RunLine&) {
  const Enumeration enumeration = enumerate_candidates(graph, linear_context());
  std::string text;
  for (const Candidate& candidate : enumeration.candidates) {
    std::vector<ValueId> made;
    for (NodeId node : candidate.nodes) made.push_back(graph.node(node).outputs[0]);
    text += fmt::format("{{{}}} -> {}\n", names(graph, made), names(graph, candidate.outputs));
  }
  for (const auto& [rule, count] : enumeration.pruned) text += fmt::format("pruned {}: {}\n", rule, count);
  return text;
}

struct StageRow {
  const char* name;
  std::string (*run)(const Graph& graph, const RunLine& line);
  bool takes_family = false;
};
constexpr StageRow kStages[] = {
    {"parse", parse},
    {"fold", fold},
    {"fission", fissioned},
    {"alternatives", alternatives},
    {"candidates", candidates},
    {"terms", terms_text},
    {"workloads", workloads_text},
    {"columns", columns_text},
    {"tiles", tiles_text, true},
    {"lowered", lowered_text, true},
    {"plan", plan_text},
};

const StageRow& row_of(const std::string& stage) {
  for (const StageRow& row : kStages)
    if (row.name == stage) return row;
  throw Error(ErrorKind::usage, "unknown stage '" + stage + "'");
}

constexpr int kThreads = 2;  // where a run line states none

// Its caches, name and speeds are no machine's.
Device target_named(const std::string& name) {
  if (name == "gpu") return with_nominal_speeds(cuda_device());
  if (const std::optional<Isa> isa = isa_named(name)) {
    Device device = with_nominal_speeds(cpu_device(*isa, kThreads));
    device.name = "of a text test";
    return device;
  }
  throw Error(ErrorKind::usage, "unknown target '" + name + "'");
}

int threads_of(const std::string& text) {
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc() || end != text.data() + text.size() || threads < 1 || threads > kMostWorkers)
    throw Error(ErrorKind::usage, fmt::format("--threads {}: from 1 to {}", text, kMostWorkers));
  return threads;
}

void read_option(const std::string& option, const std::string& value, RunLine& line,
                 std::optional<int>& threads) {
  if (value.empty()) throw Error(ErrorKind::usage, option + " needs a value");
  if (option == "--only")
    line.only.push_back(value);
  else if (option == "--layouts")
    line.layouts = value;
  else if (option == "--target")
    line.target = target_named(value);
  else if (option == "--threads")
    threads = threads_of(value);
  else
    throw Error(ErrorKind::usage, "unknown option '" + option + "'");
}

}  // namespace

RunLine parse_run_line(const std::string& text) {
  RunLine line;
  line.target = target_named(name(Isa::x86_64_v3));
  std::optional<int> threads;  // of whichever target
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    if (word == "--strict") {
      line.strict = true;
    } else if (word == "--bfloat16") {
      line.bfloat16 = true;
    } else if (word.starts_with("--")) {
      std::string value;
      stream >> value;
      read_option(word, value, line, threads);
    } else {
      words.push_back(word);
    }
  }
  if (threads) {
    line.target.workers = *threads;
    line.target = with_nominal_speeds(std::move(line.target));
  }
  if (words.empty()) throw Error(ErrorKind::usage, "no stage is named");
  line.stage = words[0];
  const size_t stated = row_of(line.stage).takes_family ? 2 : 1;
  if (words.size() < stated) throw Error(ErrorKind::usage, line.stage + " needs the name of a family");
  if (words.size() > stated + 1) throw Error(ErrorKind::usage, "more than one name of a case: " + text);
  if (stated == 2) line.family = words[1];
  if (words.size() > stated) line.name = words[stated];
  return line;
}

Input split_input(const std::string& input) {
  const size_t at = input.find("\nblock {");
  if (at == std::string::npos) return {input, ""};
  return {input.substr(0, at + 1), input.substr(at + 1)};
}

std::string run_stage(const RunLine& line, const std::string& input) {
  const Input parts = split_input(input);
  RunLine with_block = line;
  with_block.block = parts.block;
  return row_of(line.stage).run(parse_graph(parts.graph), with_block);
}

}  // namespace korch
