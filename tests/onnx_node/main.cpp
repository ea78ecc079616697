// Runs ONNX's test cases through every engine and prints the scoreboard. Fails when a case fails or fewer
// pass than the engine's minimum. Exit code 77 (skipped) when the cases are not installed.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cases.h"
#include "engines.h"
#include "korch/base/error.h"
#include "korch/base/hash.h"
#include "open_axes.h"

namespace korch {
namespace {

// Sanitizers make compiling many times slower: engines that compile take one case in so many more.
#ifdef KORCH_SANITIZED
constexpr int kFewer = 16;
#else
constexpr int kFewer = 1;
#endif

struct Options {
  std::string folder = KORCH_ONNX_TESTDATA;
  std::string only;    // substring of a case's name
  std::string engine;  // the one to run; else all
  int one_in = 0;      // instead of the engine's; 0: as the engine has it
  bool open = false;   // every axis opened in turn, instead
};

struct Score {
  int passed = 0;
  int folded = 0;  // of those passed: with all inputs constant
  std::vector<std::string> failed;
  std::map<std::string, std::vector<std::string>> unsupported;  // reason -> cases
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// What it computes is left to the engine, as far as it drops or draws something at all.
bool draws(const std::string& name) {
  return name.find("bernoulli") != std::string::npos || name.find("training_dropout") != std::string::npos;
}

void run_case(const Engine& engine, const OnnxCase& c, Score& score) {
  try {
    bool folded = true;
    for (const OnnxProblem& problem : load_problems(c)) {
      const std::string what = difference(engine.run(problem.graph, problem.inputs), problem.expected);
      if (!what.empty() && draws(c.name)) throw Error(ErrorKind::unsupported, "ONNX's own random numbers");
      if (!what.empty()) throw Error(ErrorKind::accuracy, problem.data_set + ": " + what);
      folded = folded && problem.all_inputs_bound;
    }
    ++score.passed;
    score.folded += folded;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unsupported)
      score.unsupported[one_line(error.what())].push_back(c.name);
    else
      score.failed.push_back(fmt::format("{}: {}", c.name, one_line(error.what())));
  }
}

bool chosen(const std::string& name, int one_in) {
  return hash_text(name).low % static_cast<uint64_t>(one_in) == 0;
}

void print_scoreboard(const Engine& engine, const Score& score, const Options& options) {
  size_t unsupported = 0;
  for (const auto& [reason, cases] : score.unsupported) unsupported += cases.size();
  for (const auto& [reason, cases] : score.unsupported) {
    fmt::print("unsupported {:4}  {}\n", cases.size(), reason);
    for (const std::string& name : cases) fmt::print("                    {}\n", name);
  }
  for (const std::string& failure : score.failed) fmt::print("FAILED {}\n", failure);
  fmt::print("{}: passed {} ({} of them by constant folding alone), failed {}, unsupported {}\n", engine.name,
             score.passed, score.folded, score.failed.size(), unsupported);
  if (!score.failed.empty())
    fmt::print("rerun one: test_onnx_node --folder {} --case NAME\n", options.folder);
}

bool run_engine(const Engine& engine, const std::vector<OnnxCase>& cases, const Options& options) {
  Score score;
  int one_in = engine.compiles ? engine.one_in * kFewer : engine.one_in;
  if (options.one_in > 0) one_in = options.one_in;
  for (const OnnxCase& c : cases)
    if (options.only.empty() ? chosen(c.name, one_in) : c.name.find(options.only) != std::string::npos)
      run_case(engine, c, score);
  if (one_in > 1 && options.only.empty()) fmt::print("{}: about one case in {}\n", engine.name, one_in);
  print_scoreboard(engine, score, options);
  const bool all = options.only.empty() && one_in == engine.one_in;
  const bool regressed = all && score.passed < engine.min_passed;
  if (regressed) fmt::print("{}: at least {} cases must pass\n", engine.name, engine.min_passed);
  return score.failed.empty() && !regressed;
}

// Fails when an axis is wrong or too many are refused.
bool run_open_axes(const std::vector<OnnxCase>& cases, const Options& options) {
  OpenAxesScore score;
  const Engine* engine = nullptr;  // only where one is named
  for (const Engine& each : engines())
    if (each.name == options.engine) engine = &each;
  for (const OnnxCase& c : cases) {
    if (c.name.find(options.only) == std::string::npos || draws(c.name)) continue;
    try {
      open_axes(c, score, engine, std::max(options.one_in, 1));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
    }
  }
  for (const std::string& text : score.refused) fmt::print("refused {}\n", one_line(text));
  for (const std::string& text : score.wrong) fmt::print("WRONG {}\n", one_line(text));
  const size_t all = static_cast<size_t>(score.right) + score.wrong.size() + score.refused.size();
  constexpr double kLeastRight = 0.97;
  fmt::print("open axes: {} of {} right, {} wrong, {} refused; {} more fit one extent alone\n", score.right,
             all, score.wrong.size(), score.refused.size(), score.one_only);
  return score.wrong.empty() && score.right >= kLeastRight * static_cast<double>(all);
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  korch::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--open-axes") options.open = true;
    if (i + 1 == argc) break;
    if (name == "--folder") options.folder = argv[++i];
    if (name == "--case") options.only = argv[++i];
    if (name == "--engine") options.engine = argv[++i];
    if (name == "--one-in") options.one_in = std::atoi(argv[++i]);
  }
  const std::vector<korch::OnnxCase> cases = korch::find_cases(options.folder);
  if (cases.empty()) {
    fmt::print("skipped: no ONNX test cases below {} (Debian package libonnx-testdata)\n", options.folder);
    return 77;
  }
  if (options.open) return korch::run_open_axes(cases, options) ? 0 : 1;
  bool good = true;
  for (const korch::Engine& engine : korch::engines())
    if (options.engine.empty() || options.engine == engine.name)
      good = korch::run_engine(engine, cases, options) && good;
  return good ? 0 : 1;
}
