#include "korch/driver/executable_contests.h"

#include <fmt/format.h>

#include <filesystem>

#include "korch/inspect/bench.h"
#include "korch/package/package.h"
#include "korch/plan/plan_json.h"

namespace korch {

ContestOutcome ExecutableContests::run(const std::vector<int>& kept, const std::vector<int>& challenger,
                                       const ContestEffort& effort) {
  std::erase_if(drafts_, [&](const auto& plan_and_file) {
    const auto& [plan, file] = plan_and_file;
    return plan != kept && plan != challenger && std::filesystem::remove(file);
  });
  BenchOptions options;
  options.rounds = effort.rounds;
  options.min_rounds = effort.min_rounds;
  options.loadings = effort.loadings;
  options.max_seconds = effort.max_seconds;
  const std::vector<BenchRow> rows = bench({draft(kept), draft(challenger)}, options).rows;
  return {rows[0].median_us, rows[1].ratio, rows[1].ratio_high};
}

const std::string& ExecutableContests::draft(const std::vector<int>& plan) {
  std::string& file = drafts_[plan];
  if (!file.empty()) return file;
  BuiltPlan built = build_plan(graph_, columns_, plan, bank_, target_, accuracy_);
  const std::string path = fmt::format("{}/{}.so", folder_.path(), made_++);
  write_executable({&built.plan, std::move(built.objects), std::move(built.constant_bytes),
                    plan_to_json(built.plan), target_},
                   path);
  return file = path;
}

}  // namespace korch
