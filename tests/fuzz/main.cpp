// The differential fuzzer (docs/design/fuzz.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "campaign.h"
#include "korch/ir/text.h"

namespace korch::fuzz {
namespace {

void print_coverage(const Coverage& coverage) {
  fmt::print("\npairs in which each took part:\n");
  for (const auto& [what, count] : coverage) fmt::print("{:8}  {}\n", count, what);
}

int show_case(uint64_t seed) {
  const Case what = make_case(seed);
  fmt::print("target {}, {} threads, {}\n{}", what.setting.target, what.setting.threads,
             what.setting.accuracy == Accuracy::strict ? "strict" : "standard", print(what.graph));
  std::fflush(stdout);
  const CaseResult result = check_case(seed, what);
  for (const Finding& finding : result.findings)
    fmt::print("plan {}: {} ({})\n  {}\n", to_string(finding.plan), finding.mismatch.kind, finding.mismatch.where,
               finding.mismatch.text);
  fmt::print("{} pairs{}, {} findings\n", result.pairs, result.is_defined ? "" : ", not defined", result.findings.size());
  return result.findings.empty() ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app{"random graphs through random plans, compared with the interpreter"};
  CampaignOptions options;
  uint64_t graph = 0;
  bool no_coverage = false;
  app.add_option("--minutes", options.minutes, "no new graphs after that")->capture_default_str();
  app.add_option("--seed", options.first_seed, "of the first graph")->capture_default_str();
  app.add_option("--graphs", options.most_graphs, "how many at most");
  app.add_option("--workers", options.workers)->capture_default_str();
  app.add_flag("--stop-at-first", options.stop_at_first, "end at the first finding");
  app.add_flag("--no-coverage", no_coverage, "do not print what took part");
  const CLI::Option* one = app.add_option("--graph", graph, "one graph, in this process, printed");
  CLI11_PARSE(app, argc, argv);
  if (one->count() > 0) return show_case(graph);
  fmt::print("seed {}\n", options.first_seed);
  const CampaignResult result = run_campaign(options, [](const std::string& text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  });
  if (!no_coverage) print_coverage(result.coverage);
  fmt::print("\n{} graphs ({} not defined), {} pairs in {:.0f} s, {} kinds of findings\n", result.graphs, result.undefined,
             result.pairs, result.seconds, result.findings.size());
  for (const auto& [signature, count] : result.seen) fmt::print("{:8}  {}\n", count, signature);
  return result.findings.empty() ? 0 : 1;
}

}  // namespace
}  // namespace korch::fuzz

int main(int argc, char** argv) {
  return korch::fuzz::run(argc, argv);
}
