// One graph under test: its columns once, then as many plans as wanted, each run and compared with the
// oracle.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "korch/rewrite/alternatives.h"
#include "korch/search/plan_builder.h"
#include "korch/search/random_plan.h"
#include "oracle.h"

namespace korch::fuzz {

// What a graph is compiled for; part of a case, so that one number repeats it.
struct Setting {
  std::string target = "native";
  int threads = 1;
  Accuracy accuracy = Accuracy::standard;
  bool specials = false;  // zeros of both signs, infinities and NaN among the inputs, where that is defined
};

// How often something took part: counted once per pair of graph and plan.
using Coverage = std::map<std::string, int64_t>;

struct Mismatch {
  std::string
      kind;  // "import", "fission", "rule", "kernel", "output", "refused", "memory", "error": what differs
  std::string where;  // the rule, or the step: primitives and implementation
  std::string text;
};

class Subject {
 public:
  // `graph` as the importer makes it.
  Subject(const Graph& graph, const Setting& setting, uint64_t input_seed);
  ~Subject();

  // False: its numbers leave float32, or an index its axis; nothing is to be compared.
  bool is_defined() const { return is_defined_; }
  // What is exported and imported again, fission, and every alternative against the imported graph.
  std::optional<Mismatch> check_rewriting();
  // Writes FOLDER/NAME.onnx with inputs, results and what they may be off beside it, for
  // tests/fuzz/compare_ort.py. False where ONNX cannot say it.
  bool write_model(const std::string& folder, const std::string& name);
  enum class Kind { random, greedy, unfused };
  // One pair. What took part is added to `coverage`.
  std::optional<Mismatch> check_plan(Kind kind, uint64_t seed, Coverage& coverage);

 private:
  DType products() const;
  struct Program;
  std::optional<Mismatch> check_import() const;
  void sprinkle_specials(uint64_t seed);
  Program& program(Kind kind);
  std::optional<Mismatch> run(Program& program, const BuiltPlan& built);
  void cover(const Program& program, const std::vector<int>& chosen, Coverage& coverage) const;

  Graph imported_, primitive_;
  Setting setting_;
  Device target_;
  std::vector<HostTensor> inputs_;
  bool is_defined_ = false;
  Rewritten rewritten_;
  std::unique_ptr<Oracle> outside_;  // of the imported graph
  std::unique_ptr<Oracle> inside_;   // of the primitive graph with alternatives
  std::map<Kind, std::unique_ptr<Program>> programs_;
};

}  // namespace korch::fuzz
