#include "korch/driver/heal.h"

#include <fmt/format.h>

#include <set>

#include "korch/driver/reproducer.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/verify.h"

namespace korch {
namespace {

FaultyKernel faulty_kernel(const Plan& plan, int number, const std::string& reason, StepData data = {}) {
  const PlanStep& step = plan.steps[number];
  FaultyKernel faulty{number,
                      plan.kernels[step.kernel],
                      step.label + ", " + step.implementation,
                      step.primitives,
                      {},
                      reason,
                      std::move(data)};
  for (int output : step.outputs) faulty.output_types.push_back(plan.tensors[output].type);
  return faulty;
}

// The step behind the last one that ended.
std::vector<FaultyKernel> failing_step(const Graph& imported, const Plan& plan, const std::string& executable,
                                       const std::string& reason) {
  LoadedExecutable loaded(executable);
  std::vector<HostTensor> outputs = loaded.allocate_outputs();
  int ended = -1;
  try {
    const std::vector<HostTensor> inputs = random_inputs(imported, VerifyOptions().seed);
    loaded.run_observed(dense_inputs(imported, inputs), outputs,
                        [&](int step, void* const*) { ended = step; });
  } catch (const Error&) {
    if (ended + 1 < static_cast<int>(plan.steps.size())) return {faulty_kernel(plan, ended + 1, reason)};
  }
  return {};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Fault fault_of(const Error& error, const Graph& imported, const Plan& plan, const std::string& executable,
               const std::string& name) {
  std::string message = replaced(error.what(), executable, name);
  std::vector<FaultyKernel> kernels;
  if (error.kind() != ErrorKind::io) kernels = failing_step(imported, plan, executable, message);
  return {Error(error.kind(), message), std::move(kernels)};
}

}  // namespace

std::optional<Fault> find_fault(const Graph& imported, const Plan& plan, const std::string& executable,
                                const std::string& name, bool verify, const Deadline& deadline) {
  try {
    if (!verify) {
      const LoadedExecutable loaded(executable);
      return std::nullopt;
    }
    VerifyResult check = compare_executable(
        imported, executable, {.samples = 1, .deadline = deadline, .run_s = plan.report.objective_us * 1e-6});
    if (check.passed) return std::nullopt;
    const Bisection& judged = check.bisection;
    Fault fault{Error(ErrorKind::accuracy, failure_text(check)),
                {},
                judged.unknown.empty() ? judged.limits : judged.unknown,
                judged.budget_spent};
    for (StepDeviation& wrong : check.bisection.wrong)
      fault.kernels.push_back(faulty_kernel(
          plan, wrong.step, fmt::format("wrong result %{}: {}", wrong.tensor, to_string(wrong.deviation)),
          std::move(wrong.data)));
    return fault;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io && error.kind() != ErrorKind::internal) throw;
    return fault_of(error, imported, plan, executable, name);
  }
}

std::vector<std::string> Healer::heal(const Fault& fault, CompileOptions& options) {
  if (strikes_ == nullptr) throw fault.error;
  if (++rounds_ > kMostRounds)
    throw Error(fault.error.kind(), fmt::format("{}\nstill so after {} plans without the kernels at fault",
                                                fault.error.what(), kMostRounds));
  if (fault.kernels.empty()) {
    const bool is_hopeless = fault.budget_spent || options.accuracy == Accuracy::strict;
    if (fault.error.kind() != ErrorKind::accuracy || is_hopeless) throw fault.error;
    if (options.accuracy == Accuracy::relaxed) {
      options.accuracy = Accuracy::standard;
      return {
          fmt::format("with bfloat16 the executable was too far from the network ({}); it was "
                      "made anew with --accuracy standard",
                      fault.error.what())};
    }
    options.accuracy = Accuracy::strict;
    return {fmt::format(
        "the executable was more than {:g} times as far from the network as float32 rounding is, {}; it was "
        "made anew with --accuracy strict",
        Tolerance::kNoiseFactor,
        fault.unjudged.empty() ? "though no kernel by itself"
                               : "and no kernel was found at fault (" + fault.unjudged + ")")};
  }
  std::vector<std::string> warnings;
  std::set<std::string> seen;  // steps may share a kernel
  for (const FaultyKernel& faulty : fault.kernels) {
    const std::string key = faulty.kernel.key().hex();
    if (!seen.insert(key).second) continue;
    strikes_->strike({key, faulty.name, faulty.reason});
    const std::string folder =
        (options.dump_dir.empty() ? output_ + ".struck" : options.dump_dir + "/struck") + "/" +
        key.substr(0, 12);
    std::string where = "reproducer: " + folder;
    try {
      write_reproducer(faulty, device_, folder);
    } catch (const Error& error) {
      where = std::string("no reproducer: ") + error.what();
    }
    warnings.push_back(fmt::format("kernel struck, and the plan made anew without it: {}: {} ({})",
                                   faulty.name, faulty.reason, where));
  }
  return warnings;
}

}  // namespace korch
