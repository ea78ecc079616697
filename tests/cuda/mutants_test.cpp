// Mistakes put into printed kernels, with fixed seeds, against the emulator that checks every access: each is
// reported, or changes the results, or changes nothing that a thread does. KORCH_CUDA_MUTANTS=N: N per kernel
// of all kernels, instead of some of a few.
#include "mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "cases.h"
#include "emulated_check.h"
#include "kernel_runner.h"
#include "korch/base/error.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "linear_cases.h"
#include "model_candidates.h"

namespace korch::testing {
namespace {

constexpr uint64_t kMutantSeed = 20261129;
constexpr size_t kWord = 4;  // bytes, of most accesses

using Trace = std::vector<MemoryChecker::Traced>;

// Of a candidate's kernel by one implementation.
struct Subject {
  std::string name;
  Graph graph;
  Candidate candidate;
  Implementation way;
  CudaKernel kernel;
  Reference reference;
};

enum class Verdict { reported, wrong, equivalent, needless, missed, no_text };

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::reported:
      return "reported";
    case Verdict::wrong:
      return "wrong results alone";
    case Verdict::equivalent:
      return "same accesses";
    case Verdict::needless:
      return "needless barrier";
    case Verdict::missed:
      return "missed";
    case Verdict::no_text:
      return "does not compile";
  }
  return "";
}

// Whether two threads touch the same byte, one of which writes it, between the same barriers of a block, or
// two blocks do so in a launch. From the list of all accesses, other than the checker's cells.
bool has_race(const Trace& trace) {
  struct Touch {
    int64_t group = 0;   // an interval or a launch
    uint64_t place = 0;  // memory and word
    int32_t who = 0;
    bool writes = false;
  };
  const auto any_meet = [](std::vector<Touch> touches) {
    std::sort(touches.begin(), touches.end(), [](const Touch& a, const Touch& b) {
      return std::tie(a.group, a.place) < std::tie(b.group, b.place);
    });
    for (size_t i = 0; i < touches.size();) {
      bool many = false, writes = false;
      const Touch& first = touches[i];
      for (; i < touches.size() && touches[i].group == first.group && touches[i].place == first.place; ++i) {
        many = many || touches[i].who != first.who;
        writes = writes || touches[i].writes;
      }
      if (many && writes) return true;
    }
    return false;
  };
  const size_t unit = std::all_of(trace.begin(), trace.end(),
                                  [](const auto& step) { return (step.offset | step.bytes) % kWord == 0; })
                          ? kWord
                          : 1;
  std::vector<Touch> of_threads, of_blocks;
  for (const MemoryChecker::Traced& step : trace) {
    if (step.may_race) continue;
    for (size_t at = step.offset / unit; at < (step.offset + step.bytes) / unit; ++at) {
      const uint64_t place = (static_cast<uint64_t>(step.memory) << 40) + at;
      of_threads.push_back({step.interval, place, static_cast<int32_t>(step.thread), step.writes});
      if (!step.of_block)
        of_blocks.push_back({step.launch, place, static_cast<int32_t>(step.block), step.writes});
    }
  }
  return any_meet(std::move(of_threads)) || any_meet(std::move(of_blocks));
}

struct Doing {
  int memory = 0;
  size_t offset = 0, bytes = 0;
  bool writes = false, of_block = false;
  auto operator<=>(const Doing&) const = default;
};

// What the threads do in order, or those of a warp in any order, whatever barriers are between.
using Doings = std::map<std::tuple<int64_t, int64_t, unsigned>, std::vector<Doing>>;  // launch, block, thread

Doings doings_by(unsigned threads, const Trace& trace) {
  Doings result;
  for (const MemoryChecker::Traced& step : trace)
    result[{step.launch - trace[0].launch, step.block, step.thread / threads}].push_back(
        {step.memory, step.offset, step.bytes, step.writes, step.of_block});
  if (threads > 1)
    for (auto& [who, list] : result) std::sort(list.begin(), list.end());
  return result;
}

// Whether two kernels do the same, apart from where things lie in a block's own memory: a place of one stands
// for one place of the other. The second may do all of it again.
bool same_but_for_places(const Doings& a, const Doings& b) {
  using Place = std::tuple<int64_t, int64_t, int, size_t>;  // launch, block, memory, byte
  std::map<Place, Place> to, from;
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || j->second.size() % i->second.size() != 0) return false;
    const auto [launch, block, thread] = i->first;
    for (size_t n = 0; n < j->second.size(); ++n) {
      const Doing &one = i->second[n % i->second.size()], &other = j->second[n];
      if (one.bytes != other.bytes || one.writes != other.writes || one.of_block != other.of_block)
        return false;
      if (!one.of_block && one != other) return false;
      const size_t step = (one.offset | other.offset | one.bytes) % kWord == 0 ? kWord : 1;
      for (size_t byte = 0; one.of_block && byte < one.bytes; byte += step) {
        const Place here{launch, block, one.memory, one.offset + byte};
        const Place there{launch, block, other.memory, other.offset + byte};
        if (to.try_emplace(here, there).first->second != there ||
            from.try_emplace(there, here).first->second != here)
          return false;
      }
    }
  }
  return true;
}

// Of inputs in that range.
Reference reference_in(const Graph& graph, const Candidate& candidate, Range range) {
  Reference reference;
  std::vector<HostTensor> inputs;
  for (ValueId input : graph.inputs()) {
    range.count = index_count(graph, input);
    inputs.push_back(random_tensor(graph.value(input).type, inputs.size(), range));
    reference.values[input] = inputs.back();
  }
  const std::vector<HostTensor> outputs = interpret(graph, inputs);
  for (size_t i = 0; i < outputs.size(); ++i) reference.values[graph.outputs()[i]] = outputs[i];
  for (ValueId constant : candidate.constants) reference.values[constant] = *graph.constant(constant);
  return reference;
}

// Runs a subject's kernel, or a mutant of it, with two slices to a block and with one, on usual inputs, and
// on small and large ones if the kernel is right on those.
class Judge {
 public:
  explicit Judge(const Subject& subject) : subject_(subject), references_{subject.reference} {
    std::optional<Loaded> kernel = load(subject.kernel.source);
    KORCH_ASSERT(kernel.has_value(), "a kernel that does not compile");
    for (int64_t slices : kSlicesPerBlock) {
      Trace trace;
      const CheckedRun checked = run(*kernel, subject.reference, slices, &trace);
      problem_ += checked.wrong;
      for (const Finding& finding : checked.findings) {
        problem_ += finding.text + "\n";
        is_long_ = is_long_ || finding.mistake == Mistake::endless;
      }
      if (is_long_) return;
      if (has_race(trace)) problem_ += "the list of accesses has a race\n";
      by_thread_.push_back(doings_by(1, trace));
      by_warp_.push_back(doings_by(kWarpThreads, trace));
    }
    // Sums saturate a sigmoid unless they are small; a softmax needs its maximum only where they are large;
    // boxes seldom overlap unless all are positive.
    for (const Range& range : {Range{-0.01, 0.01, 2}, kPositiveInputRange, Range{-4000, 4000, 2}}) {
      Reference other = reference_in(subject.graph, subject.candidate, range);
      if (run(*kernel, other, 1, nullptr).wrong.empty()) references_.push_back(std::move(other));
    }
  }

  // Whether the kernel itself takes more than kMostSteps, so that nothing can be said.
  bool is_long() const { return is_long_; }
  // What is wrong with the kernel itself.
  const std::string& problem() const { return problem_; }

  Verdict judge(const Mutant& mutant, std::string& why) const {
    std::optional<Loaded> kernel = load(mutant.text);
    if (!kernel) return Verdict::no_text;
    bool wrong = false;
    for (int64_t slices : kSlicesPerBlock) {
      for (const Reference& reference : references_) {
        const CheckedRun checked = run(*kernel, reference, slices, nullptr);
        if (!checked.findings.empty()) {
          why = checked.findings[0].text;
          return Verdict::reported;
        }
        if (!checked.wrong.empty()) why = checked.wrong;
        wrong = wrong || !checked.wrong.empty();
      }
    }
    if (wrong) return Verdict::wrong;
    const bool barrier =
        mutant.mutation == Mutation::barrier_removed || mutant.mutation == Mutation::barrier_moved;
    for (size_t i = 0; i < by_thread_.size(); ++i) {
      Trace trace;
      run(*kernel, subject_.reference, kSlicesPerBlock[i], &trace);
      // Without a barrier the compiler may keep what a thread reads again: the accesses are not the same
      // ones.
      const bool same = barrier || same_but_for_places(by_thread_[i], doings_by(1, trace)) ||
                        by_warp_[i] == doings_by(kWarpThreads, trace);
      if (!same || has_race(trace)) return Verdict::missed;
    }
    return barrier ? Verdict::needless : Verdict::equivalent;
  }

 private:
  static constexpr int64_t kSlicesPerBlock[] = {2, 1};
  static constexpr unsigned kWarpThreads = 32;

  struct Loaded {
    std::unique_ptr<Emulator> emulator = std::make_unique<Emulator>(Checks::memory);
    Launch launch;
  };

  std::optional<Loaded> load(const std::string& text) const {
    Loaded loaded;
    loaded.launch = launch_of(subject_.kernel, subject_.way);
    for (const CudaPhase& phase : subject_.kernel.phases) {
      const Result<Gpu::Function> function = loaded.emulator->load(text, phase.symbol);
      if (!function.ok()) return std::nullopt;
      loaded.launch.functions.push_back(function.value());
    }
    return loaded;
  }

  CheckedRun run(Loaded& kernel, const Reference& reference, int64_t slices_per_block, Trace* trace) const {
    constexpr int64_t kMostSteps = 20'000'000;  // of what runs on and on
    kernel.emulator->checker().set_most_steps(kMostSteps);
    kernel.emulator->checker().set_trace(trace);
    return run_checked(*kernel.emulator, subject_.graph, subject_.candidate, reference, kernel.launch,
                       slices_per_block);
  }

  const Subject& subject_;
  std::vector<Reference> references_;
  std::vector<Doings> by_thread_, by_warp_;  // of each number of slices per block
  std::string problem_;
  bool is_long_ = false;
};

Subject subject_of(const std::string& name, const Graph& graph, const Implementation& way, bool& accepted) {
  Subject made{name, graph, whole_candidate(graph), way, {}, {}};
  const Result<CudaKernel> kernel = generate_cuda(graph, made.candidate, way, "k0");
  accepted = kernel.ok();
  if (!accepted) return made;
  made.kernel = kernel.value();
  made.reference = reference_of(graph, made.candidate);
  return made;
}

// The last implementation of each family.
void add_subjects(std::vector<Subject>& list, const std::string& name, const Graph& graph) {
  const std::vector<Implementation> ways = cuda_implementations(graph, whole_candidate(graph));
  for (size_t i = 0; i < ways.size(); ++i) {
    if (i + 1 < ways.size() && ways[i + 1].family == ways[i].family) continue;
    bool accepted = false;
    Subject made = subject_of(name + ", " + to_string(ways[i]), graph, ways[i], accepted);
    if (accepted) list.push_back(std::move(made));
  }
}

const std::set<std::string> kFew = {
    "softmax",     "constant_pad", "reduce_all", "maximum_beside_softmax", "matmul_between_activations",
    "conv_padded", "max_pool",     "depthwise"};

std::vector<Subject> subjects(bool all) {
  std::vector<Subject> list;
  for (const auto* cases : {&hand_written(), &opaque_primitives()})
    for (const Case& c : *cases)
      if (all || kFew.count(c.name) != 0) add_subjects(list, c.name, parse_graph(c.text));
  for (const LinearCase& c : linear_cases())
    if (all || kFew.count(c.name) != 0) add_subjects(list, c.name, case_graph(c.text).graph);
  return list;
}

TEST(Mutants, AreReported) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  const char* wanted = std::getenv("KORCH_CUDA_MUTANTS");
  const size_t each = wanted != nullptr ? std::stoul(wanted) : 8;
  std::map<Mutation, std::map<Verdict, int>> table;
  std::map<Verdict, int> sums;
  for (const Subject& subject : subjects(wanted != nullptr)) {
    const Judge judge(subject);
    if (judge.is_long()) {
      std::cout << subject.name << ": takes too long, left out\n";
      continue;
    }
    EXPECT_EQ(judge.problem(), "") << subject.name;
    for (const Mutant& mutant : some_mutants(subject.kernel.source, each, kMutantSeed)) {
      std::string why;
      const Verdict verdict = judge.judge(mutant, why);
      ++table[mutant.mutation][verdict];
      ++sums[verdict];
      std::cout << subject.name << ": " << name(mutant.mutation) << " in line " << mutant.line << ": "
                << name(verdict) << "  " << why << "\n";
      if (verdict == Verdict::missed || verdict == Verdict::equivalent || verdict == Verdict::needless)
        std::cout << "-" << mutant.before << "+" << mutant.after;
    }
  }
  for (const auto& [mutation, verdicts] : table) {
    std::cout << name(mutation) << ":";
    for (const auto& [verdict, count] : verdicts) std::cout << "  " << name(verdict) << " " << count;
    std::cout << "\n";
  }
  for (const auto& [verdict, count] : sums) std::cout << name(verdict) << " " << count << "\n";
  const int mistakes = sums[Verdict::reported] + sums[Verdict::wrong] + sums[Verdict::missed];
  EXPECT_LE(sums[Verdict::missed], std::max(1, mistakes / 100));  // a softmax hides a wrong maximum
  EXPECT_GT(sums[Verdict::reported], mistakes / 2);
}

}  // namespace
}  // namespace korch::testing
