#include "self_check.h"

#include <fmt/format.h>

#include <filesystem>

#include "campaign.h"
#include "korch/base/files.h"
#include "korch/base/stopwatch.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/verify.h"
#include "korch/package/loaded.h"

namespace korch::fuzz {
namespace {

// The oracle's judgement of all outputs; nothing when they are right.
std::optional<std::string> oracle_difference(const Graph& graph, const std::string& executable,
                                             const std::vector<HostTensor>& inputs) {
  Oracle oracle(graph, inputs);
  LoadedExecutable loaded(executable);
  const std::vector<HostTensor> got = loaded.run(inputs);
  for (size_t i = 0; i < got.size(); ++i)
    if (const auto text = oracle.difference(graph.outputs()[i], got[i]))
      return fmt::format("output {}: {}", graph.output_names()[i], *text);
  return std::nullopt;
}

}  // namespace

SelfCheckResult try_self_check(const SelfCheckOptions& options,
                               const std::function<void(const std::string&)>& print) {
  const TempDir scratch;
  const Stopwatch stopwatch;
  const VerifyOptions verify{.samples = 1};
  SelfCheckResult result;
  for (uint64_t seed = options.first_seed; result.graphs < options.graphs; ++seed) {
    if (stopwatch.seconds() > 60 * options.minutes) break;
    if (options.stop_at_first && result.condemned + result.alarms + result.missed > 0) break;
    const Case what = make_case(seed);
    ++result.graphs;
    if (!Subject(what.graph, what.setting, verify.seed).is_defined()) {
      ++result.undefined;
      continue;
    }
    for (const auto& [name, strategy] : {std::pair("optimal", Strategy::optimal),
                                         {"greedy", Strategy::greedy},
                                         {"unfused", Strategy::unfused}}) {
      CompileOptions compile;
      compile.target = what.setting.target;
      compile.threads = what.setting.threads;
      compile.accuracy = what.setting.accuracy;
      compile.strategy = strategy;
      compile.measure = Measure::none;
      compile.verify = false;
      compile.database_path = scratch.path() + "/kernels.db";
      const std::string executable = fmt::format("{}/{}-{}.so", scratch.path(), seed, name);
      const std::string where = fmt::format("graph {}, {}", seed, name);
      try {
        compile_graph(what.graph, "fuzz", executable, compile);
        const VerifyResult check = compare_executable(what.graph, executable, verify);
        const auto wrong = oracle_difference(what.graph, executable, random_inputs(what.graph, verify.seed));
        ++result.executables;
        result.condemned += !check.passed && wrong;
        result.alarms += !check.passed && !wrong;
        result.missed += check.passed && wrong;
        if (!check.passed)
          print(fmt::format("{}: {}\n{}", where, wrong ? "wrong" : "a false alarm", failure_text(check)));
        if (wrong) print(fmt::format("{}: the oracle says: {}", where, *wrong));
      } catch (const Error& error) {
        ++result.refused;
        print(fmt::format("{}: refused: {}", where, error.what()));
      }
      std::filesystem::remove(executable);
    }
  }
  return result;
}

}  // namespace korch::fuzz
