// The differential fuzzer (docs/design/fuzz.md).
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "campaign.h"
#include "command_line.h"
#include "korch/base/files.h"
#include "korch/ir/text.h"
#include "korch/onnx/model_file.h"
#include "minimize.h"
#include "motifs.h"
#include "open_case.h"
#include "self_check.h"

namespace korch::fuzz {
namespace {

void print_coverage(const Coverage& coverage) {
  fmt::print("\npairs in which each took part:\n");
  for (const auto& [what, count] : coverage) fmt::print("{:8}  {}\n", count, what);
}

void print_findings(const CaseResult& result) {
  for (const Finding& finding : result.findings)
    fmt::print("plan {}: {} ({})\n  {}\n", to_string(finding.plan), finding.mismatch.kind,
               finding.mismatch.where, finding.mismatch.text);
  fmt::print("{} pairs{}, {} findings\n", result.pairs, result.is_defined ? "" : ", not defined",
             result.findings.size());
}

int show_case(uint64_t seed, const std::string& motif, const std::string& gpu) {
  const Case what = make_case(seed, motif, gpu);
  fmt::print("{}", to_text({what, seed}));
  std::fflush(stdout);
  const CaseResult result = check_case(seed, what);
  print_findings(result);
  return result.findings.empty() ? 0 : 1;
}

int show_open_case(uint64_t seed, const std::string& folder) {
  const OpenModel made = random_open_model(seed);
  make_directories(folder);
  const std::string file = fmt::format("{}/open-{}.onnx", folder, seed);
  write_file(file, onnx::serialize(made.model));
  fmt::print("{}: {}\n", file, fmt::join(made.motifs, " "));
  for (const auto& [symbol, range] : made.ranges)
    fmt::print("--shape {}={}..{} ", symbol, range.first, range.second);
  fmt::print("\n");
  std::fflush(stdout);
  const CaseResult result = check_open_case(seed, TempDir().path());
  print_findings(result);
  for (const auto& [what, count] : result.coverage)
    if (what.starts_with("refused")) fmt::print("{}\n", what);
  return result.findings.empty() ? 0 : 1;
}

// Models for ONNX Runtime, with what it should compute.
int write_models(const std::string& folder, uint64_t first_seed, int64_t count) {
  make_directories(folder);
  int64_t written = 0;
  for (uint64_t seed = first_seed; written < count && seed < first_seed + 4 * static_cast<uint64_t>(count);
       ++seed) {
    const Case what = make_case(seed);
    Subject subject(what.graph, what.setting, seed);
    written += subject.is_defined() && subject.write_model(folder, std::to_string(seed));
  }
  fmt::print("{} models in {}\n", written, folder);
  return 0;
}

// Alarms of the self-check that are none, and what it does not see.
int check_self_check(const CampaignOptions& options) {
  const SelfCheckResult result =
      try_self_check({options.first_seed, options.most_graphs, options.minutes, options.stop_at_first},
                     [](const std::string& text) {
                       fmt::print("{}\n", text);
                       std::fflush(stdout);
                     });
  fmt::print(
      "{} graphs ({} not defined), {} executables, {} refused; condemned: {} rightly, {} wrongly; {} "
      "missed\n",
      result.graphs, result.undefined, result.executables, result.refused, result.condemned, result.alarms,
      result.missed);
  return result.condemned + result.alarms + result.missed == 0 ? 0 : 1;
}

int replay(const std::string& file) {
  const SavedCase saved = saved_case_from(read_file(file));
  const CaseResult result = check_case(saved.input_seed, saved.what);
  print_findings(result);
  return result.findings.empty() ? 0 : 1;
}

// As a file that `--replay` takes.
std::string write_minimized(const Finding& finding, const CampaignOptions& options, const std::string& folder,
                            double seconds) {
  SavedCase saved{make_case(finding.seed, options.motif, options.gpu), finding.seed};
  saved.what.plans = {finding.plan};
  const std::string& kind = finding.mismatch.kind;
  if (!still_fails(saved, kind, 240)) return {};
  saved = minimized(saved, kind, seconds);
  make_directories(folder);
  const std::string file = fmt::format("{}/{}-{}.kt", folder, kind, finding.seed);
  write_file(file, to_text(saved));
  return file;
}

int run(int argc, char** argv) {
  CommandLine command_line("random graphs through random plans, compared with the interpreter");
  CampaignOptions options;
  uint64_t graph = 0;
  bool no_coverage = false, self_check = false, open = false;
  std::string file, models, folder = "fuzz-findings";
  double minimize_s = 60;
  command_line.option("--minutes", options.minutes, "no new graphs after that").default_shown();
  command_line.option("--seed", options.first_seed, "of the first graph").default_shown();
  command_line.option("--graphs", options.most_graphs, "how many at most");
  command_line.option("--workers", options.workers).default_shown();
  std::vector<std::string> motif_names;
  for (const Motif& motif : motifs()) motif_names.emplace_back(motif.name);
  command_line.option("--motif", options.motif, "graphs of this motif alone").one_of(motif_names);
#ifdef KORCH_FAKE_CUDA
  ::setenv("KORCH_CUDA_DRIVER", KORCH_FAKE_CUDA, 0);
  ::setenv("KORCH_NVRTC", KORCH_FAKE_NVRTC, 0);
  command_line.option("--gpu", options.gpu, "for this GPU, sm_90 say, and run on an emulated one");
#endif
  command_line.flag("--open", open, "models with open axes and quantized operators, by executables");
  command_line.flag("--stop-at-first", options.stop_at_first, "end at the first finding");
  command_line.flag("--no-coverage", no_coverage, "do not print what took part");
  command_line.flag("--self-check", self_check,
                    "compile each graph by three strategies, and count what the self-check condemns wrongly");
  const Option one = command_line.option("--graph", graph, "one graph, in this process, printed");
  command_line.option("--write-models", models, "write --graphs models into this folder, for compare_ort.py");
  command_line.option("--replay", file, "one case that was written to a file");
  command_line.option("--findings", folder, "where findings are written, made small").default_shown();
  command_line.option("--minimize-seconds", minimize_s, "for each; 0: not at all").default_shown();
  if (const std::optional<int> code = command_line.parse(argc, argv)) return *code;
  if (one.is_given() && open) return show_open_case(graph, folder);
  if (one.is_given()) return show_case(graph, options.motif, options.gpu);
  if (!models.empty()) return write_models(models, options.first_seed, options.most_graphs);
  if (!file.empty()) return replay(file);
  if (self_check) return check_self_check(options);
  const TempDir shared;
  if (open) options.open = shared.path();
  fmt::print("seed {}\n", options.first_seed);
  const CampaignResult result = run_campaign(options, [](const std::string& text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  });
  std::set<std::string> minimized_families;
  for (const Finding& finding : result.findings) {
    if (minimize_s <= 0 || open || !minimized_families.insert(finding.family()).second) continue;
    const std::string written = write_minimized(finding, options, folder, minimize_s);
    fmt::print("{}: {}\n", finding.signature(),
               written.empty() ? fmt::format("seen again by {} --graph {} alone", argv[0], finding.seed)
                               : fmt::format("show it with {} --replay {}", argv[0], written));
    std::fflush(stdout);
  }
  if (!no_coverage) print_coverage(result.coverage);
  fmt::print("\n{} graphs ({} not defined), {} pairs in {:.0f} s, {} kinds of findings\n", result.graphs,
             result.undefined, result.pairs, result.seconds, result.findings.size());
  for (const auto& [signature, count] : result.seen) fmt::print("{:8}  {}\n", count, signature);
  return result.findings.empty() ? 0 : 1;
}

}  // namespace
}  // namespace korch::fuzz

int main(int argc, char** argv) {
  return korch::fuzz::run(argc, argv);
}
