#include "campaign.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "korch/base/error.h"
#include "korch/base/json.h"
#include "motifs.h"
#include "open_case.h"

namespace korch::fuzz {
namespace {

constexpr int kGraphsPerWorker = 100;  // then a fresh one: what leaks does not add up

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string without_numbers(const std::string& text) {
  std::string result;
  for (char c : text)
    if (c < '0' || c > '9') result += c;
  return result;
}

nlohmann::json to_json(const CaseResult& result) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Finding& f : result.findings)
    findings.push_back({f.seed, f.mismatch.kind, f.mismatch.where, f.mismatch.text,
                        static_cast<int>(f.plan.kind), f.plan.seed});
  return {{"pairs", result.pairs},
          {"defined", result.is_defined},
          {"findings", findings},
          {"coverage", result.coverage}};
}

CaseResult from_json(const nlohmann::json& json) {
  CaseResult result{json.at("pairs"), json.at("defined"), {}, json.at("coverage")};
  for (const auto& f : json.at("findings"))
    result.findings.push_back(
        {f[0], {f[1], f[2], f[3]}, {static_cast<Subject::Kind>(f[4].get<int>()), f[5]}});
  return result;
}

// What a worker is at, readable when it is gone.
struct Progress {
  uint64_t seed;
  PlanChoice plan;
  char stage[32];
};

struct Worker {
  pid_t pid = -1;
  int pipe = -1;
  Progress* progress = nullptr;
  std::string unread;
  Clock::time_point heard;
};

[[noreturn]] void work(int pipe, Progress& progress, const std::vector<uint64_t>& seeds,
                       const CampaignOptions& options) {
  for (const uint64_t seed : seeds) {
    progress = {seed, {}, "before plans"};
    const auto at_plan = [&](const PlanChoice& plan) {
      progress.plan = plan;
      std::strcpy(progress.stage, "a plan");
    };
    const CaseResult result = options.open.empty()
                                  ? check_case(seed, make_case(seed, options.motif, options.gpu), at_plan)
                                  : check_open_case(seed, options.open, at_plan);
    const std::string line =
        to_json(result).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    for (size_t at = 0; at < line.size();) {
      const ssize_t written = ::write(pipe, line.data() + at, line.size() - at);
      if (written <= 0) ::_exit(1);
      at += static_cast<size_t>(written);
    }
  }
  ::_exit(0);
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::function<void(const std::string&)>& print)
      : options_(options), print_(print), next_(options.first_seed), workers_(options.workers) {}

  CampaignResult run() {
    for (Worker& worker : workers_) {
      worker.progress = static_cast<Progress*>(
          ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
      KORCH_ASSERT(worker.progress != MAP_FAILED, "no shared memory");
    }
    for (;;) {
      bool any = false;
      for (Worker& worker : workers_) {
        if (worker.pid < 0 && !is_over() && given_ < options_.most_graphs) start(worker);
        any = any || worker.pid >= 0;
      }
      if (!any) break;
      listen();
    }
    result_.seconds = seconds_since(start_);
    for (Worker& worker : workers_) ::munmap(worker.progress, sizeof(Progress));
    return std::move(result_);
  }

 private:
  bool is_over() const {
    return seconds_since(start_) >= 60 * options_.minutes ||
           (options_.stop_at_first && !result_.findings.empty());
  }

  void start(Worker& worker) {
    std::vector<uint64_t> seeds;
    while (static_cast<int>(seeds.size()) < kGraphsPerWorker && given_ < options_.most_graphs) {
      seeds.push_back(next_++);
      ++given_;
    }
    int ends[2];
    KORCH_ASSERT(::pipe(ends) == 0, "no pipe");
    worker.pid = ::fork();
    KORCH_ASSERT(worker.pid >= 0, "cannot fork");
    if (worker.pid == 0) {
      ::close(ends[0]);
      work(ends[1], *worker.progress, seeds, options_);
    }
    ::close(ends[1]);
    worker.pipe = ends[0];
    worker.unread.clear();
    worker.heard = Clock::now();
  }

  void listen() {
    std::vector<pollfd> fds;
    std::vector<Worker*> who;
    for (Worker& worker : workers_)
      if (worker.pid >= 0) {
        fds.push_back({worker.pipe, POLLIN, 0});
        who.push_back(&worker);
      }
    ::poll(fds.data(), fds.size(), 500);
    for (size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents != 0) read(*who[i]);
      if (who[i]->pid < 0) continue;
      if (is_over())
        finish(*who[i]);
      else if (seconds_since(who[i]->heard) > options_.hang_s)
        lost(*who[i], "hangs");
    }
  }

  void read(Worker& worker) {
    char buffer[1 << 16];
    const ssize_t count = ::read(worker.pipe, buffer, sizeof buffer);
    if (count <= 0) return lost(worker, nullptr);
    worker.unread.append(buffer, static_cast<size_t>(count));
    for (size_t end = 0; (end = worker.unread.find('\n')) != std::string::npos;) {
      add(from_json(nlohmann::json::parse(worker.unread.substr(0, end))));
      worker.unread.erase(0, end + 1);
      worker.heard = Clock::now();
    }
  }

  // The time is over: what the worker is at does not count.
  void finish(Worker& worker) {
    ::kill(worker.pid, SIGKILL);
    ::waitpid(worker.pid, nullptr, 0);
    ::close(worker.pipe);
    worker.pid = -1;
  }

  // The rest of its graphs is not tried: there are others.
  void lost(Worker& worker, const char* hangs) {
    if (hangs != nullptr) ::kill(worker.pid, SIGKILL);
    int status = 0;
    ::waitpid(worker.pid, &status, 0);
    ::close(worker.pipe);
    worker.pid = -1;
    if (hangs == nullptr && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const Progress& at = *worker.progress;
    const std::string how = hangs != nullptr      ? hangs
                            : WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                                  : fmt::format("exit code {}", WEXITSTATUS(status));
    CaseResult result;
    result.findings.push_back({at.seed, {"crash", at.stage, how}, at.plan});
    add(result);
  }

  void add(const CaseResult& result) {
    ++result_.graphs;
    result_.undefined += !result.is_defined;
    result_.pairs += result.pairs;
    for (const auto& [what, count] : result.coverage) result_.coverage[what] += count;
    for (const Finding& finding : result.findings) {
      if (result_.seen[finding.signature()]++ != 0) continue;
      result_.findings.push_back(finding);
      print_(fmt::format("graph {}, plan {}, after {} graphs, {:.0f} s: {} ({})\n  {}", finding.seed,
                         to_string(finding.plan), result_.graphs, seconds_since(start_),
                         finding.mismatch.kind, finding.mismatch.where, finding.mismatch.text));
    }
  }

  const CampaignOptions& options_;
  const std::function<void(const std::string&)>& print_;
  const Clock::time_point start_ = Clock::now();
  uint64_t next_;
  int64_t given_ = 0;
  std::vector<Worker> workers_;
  CampaignResult result_;
};

}  // namespace

std::string to_string(const PlanChoice& plan) {
  switch (plan.kind) {
    case Subject::Kind::random:
      return fmt::format("random:{}", plan.seed);
    case Subject::Kind::greedy:
      return "greedy";
    case Subject::Kind::unfused:
      return "unfused";
  }
  return "";
}

std::string Finding::signature() const {
  return mismatch.kind + ": " + without_numbers(mismatch.where) +
         (mismatch.kind == "crash" ? mismatch.text : "");
}

std::string Finding::family() const {
  const size_t comma = mismatch.where.find(", "), open = mismatch.where.find('(');
  if (mismatch.kind != "kernel" || comma == std::string::npos || open == std::string::npos)
    return signature();
  return mismatch.kind + ": " + mismatch.where.substr(comma + 2, open - comma - 2);
}

Case make_case(uint64_t seed, const std::string& motif, const std::string& gpu) {
  Case result;
  result.graph = random_graph(seed, motif);
  Random random(seed ^ 0x5851f42d4c957f2d);
  result.setting.threads = random.one_in(2) ? 1 : static_cast<int>(random.between(2, 3));
  result.setting.accuracy = random.one_in(5) ? Accuracy::strict : Accuracy::standard;
  if (random.one_in(3) && runs_here(Isa::x86_64_v3)) result.setting.target = name(Isa::x86_64_v3);
  // Every fourth graph, without another draw. AMX has more to go wrong.
  const Isa bfloat16 =
      seed % 16 == 3 || !runs_here(Isa::x86_64_v4_amx) ? Isa::x86_64_v4_bf16 : Isa::x86_64_v4_amx;
  if (seed % 4 == 3 && result.setting.target == "native" && runs_here(bfloat16))
    result.setting.target = name(bfloat16);
  if (!gpu.empty()) result.setting.target = gpu, result.setting.threads = 0;
  result.setting.specials = random.one_in(4);
  const int64_t plans = random.between(3, 5);
  for (int64_t i = 0; i < plans; ++i)
    result.plans.push_back({Subject::Kind::random, static_cast<uint64_t>(random.below(1 << 20))});
  if (random.one_in(3)) result.plans.push_back({Subject::Kind::greedy, 1});
  if (random.one_in(6)) result.plans.push_back({Subject::Kind::unfused, 1});
  return result;
}

CaseResult check_case(uint64_t seed, const Case& what,
                      const std::function<void(const PlanChoice&)>& progress) {
  CaseResult result;
  PlanChoice plan;
  try {
    Subject subject(what.graph, what.setting, seed);
    result.is_defined = subject.is_defined();
    if (!result.is_defined) return result;
    if (const auto mismatch = subject.check_rewriting()) result.findings.push_back({seed, *mismatch, plan});
    for (const PlanChoice& each : what.plans) {
      plan = each;
      if (progress) progress(plan);
      ++result.pairs;
      if (const auto mismatch = subject.check_plan(plan.kind, plan.seed, result.coverage))
        result.findings.push_back({seed, *mismatch, plan});
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported)
      result.findings.push_back({seed, {"error", error.what(), error.what()}, plan});
  } catch (const std::exception& error) {
    result.findings.push_back({seed, {"error", error.what(), error.what()}, plan});
  }
  return result;
}

CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<void(const std::string&)>& print) {
  return Campaign(options, print).run();
}

}  // namespace korch::fuzz
