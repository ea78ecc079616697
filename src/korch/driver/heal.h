// Healing: what happens if an executable differs from its network, if a library refuses to prepare it, or if
// it fails while it runs (docs/design/driver.md, "Healing").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/bisect.h"
#include "korch/profile/strikes.h"

namespace korch {

// A kernel at fault, with the evidence.
struct FaultyKernel {
  int step = -1;
  Kernel kernel;
  std::string name;                     // primitives and implementation
  std::vector<std::string> primitives;  // one line each
  std::vector<TensorType> output_types;
  std::string reason;
  StepData data;  // empty where none was seen, or much
};

// Why an executable cannot be handed out.
struct Fault {
  Error error;  // for the user, where nothing can be done
  std::vector<FaultyKernel> kernels;
  std::string unjudged = {};  // which kernels may be at fault unseen, and why; empty: none
  bool budget_spent = false;  // before all were judged
};

// Loads an executable and, if asked to, compares it with the network on one sample. Messages call it `name`.
// Throws if no kernel is at fault: no memory, an interruption; BudgetSpent or Undecided (compare_executable)
// when the deadline comes first.
std::optional<Fault> find_fault(const Graph& imported, const Plan& plan, const std::string& executable,
                                const std::string& name, bool verify, const Deadline& deadline = {});

class Healer {
 public:
  static constexpr int kMostRounds = 8;  // plans made anew; a defect of a family may show in a few kernels

  // `output`: the executable's file, beside which reproducers go where there is no folder for dumps.
  Healer(const std::string& output, const Device& device, Strikes* strikes)
      : output_(output), device_(device), strikes_(strikes) {}

  // Strikes the faulty kernels and writes a reproducer of each; where none is to blame for a difference,
  // makes `options` strict. One warning for each. Throws the fault's error when nothing can be done, when
  // healing is off, and after kMostRounds.
  std::vector<std::string> heal(const Fault& fault, CompileOptions& options);

 private:
  const std::string output_;
  const Device device_;
  Strikes* strikes_;
  int rounds_ = 0;
};

}  // namespace korch
