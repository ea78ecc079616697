// Many pairs of graph and plan, in worker processes: one that dies or hangs is a finding, not the end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "subject.h"

namespace korch::fuzz {

struct PlanChoice {
  Subject::Kind kind = Subject::Kind::random;
  uint64_t seed = 0;
};
std::string to_string(const PlanChoice& plan);  // as --strategy takes it

// What one number stands for.
struct Case {
  Graph graph;
  Setting setting;
  std::vector<PlanChoice> plans;
};
// `motif`: of this one alone; `gpu`: for this GPU, "sm_90".
Case make_case(uint64_t seed, const std::string& motif = {}, const std::string& gpu = {});

struct Finding {
  uint64_t seed = 0;
  Mismatch mismatch;
  PlanChoice plan;                // with which it was seen first
  std::string signature() const;  // equal for what is likely one bug
  std::string family() const;     // coarser: of kernels, the family
};

struct CaseResult {
  int pairs = 0;
  bool is_defined = true;
  std::vector<Finding> findings;
  Coverage coverage;
};

// In this process. `progress` is told before each plan. Exceptions become findings.
CaseResult check_case(uint64_t seed, const Case& what,
                      const std::function<void(const PlanChoice&)>& progress = {});

struct CampaignOptions {
  uint64_t first_seed = 1;
  double minutes = 1;  // no new graphs after that
  int64_t most_graphs = INT64_MAX;
  int workers = 2;
  double hang_s = 240;  // of one graph, on a loaded machine
  bool stop_at_first = false;
  std::string motif, gpu;  // make_case
  std::string open;        // check_open_case in its place, with this folder
};

struct CampaignResult {
  int64_t graphs = 0, undefined = 0, pairs = 0;
  double seconds = 0;
  std::vector<Finding> findings;        // the first of each signature
  std::map<std::string, int64_t> seen;  // by signature: how often
  Coverage coverage;
};
CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<void(const std::string&)>& print);

}  // namespace korch::fuzz
