// Finds the wrong kernels of an executable without un-fusing the plan. As the executable runs, every tensor
// that a step writes is compared with the primitive graph in float64 and then replaced by the right values.
// So every kernel is judged on right inputs, whatever the others do.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/inspect/tolerance.h"
#include "korch/ir/graph.h"
#include "korch/package/loaded.h"
#include "korch/plan/plan.h"

namespace korch {

// A kernel's inputs and outputs, as bytes in the layouts of the plan. `allowed`: for each output the
// tolerance of each element, as float32; infinite where nothing is judged.
struct StepData {
  std::vector<std::string> inputs, constants, expected, allowed, got;
};

struct StepDeviation {
  int step = -1;
  std::string kernel;  // label and implementation
  std::string tensor;  // the output that is furthest off
  Deviation deviation;
  StepData data;  // of wrong kernels; empty where they are large
};

struct Bisection {
  std::vector<StepDeviation> wrong;  // by step
  StepDeviation largest;             // of all steps, by ratio; step -1: none was judged
  std::string unknown;               // why no kernel was judged; empty: some were
  std::string limits;                // how they were judged, where not all or otherwise than they ran
  bool budget_spent = false;         // before all were judged
};

// The network with smaller bounds of its open dimensions, by their names.
using ImportWithin = std::function<Graph(const std::map<std::string, int64_t>& bounds)>;

// Judges an output of a step that `read` these tensors.
using JudgeStep = std::function<Deviation(const Plan& plan, const PlanStep& step,
                                          const std::vector<const HostTensor*>& read,
                                          const Tolerance& tolerance, const HostTensor& got)>;

// `inputs` as the interpreter takes them. Of several plans the one that runs on these inputs is judged, with
// each open dimension at that plan's bound; `import_within` gives the network of plans for smaller shapes.
// Steps not judged by the deadline are left out. `judge_step` takes the place of Tolerance::compare.
Bisection bisect(const Graph& imported, LoadedExecutable& executable, const std::vector<HostTensor>& inputs,
                 const Deadline& deadline = {}, const ImportWithin& import_within = {},
                 const JudgeStep& judge_step = {});

// A sentence that names the first wrong kernel, or says why there is none.
std::string describe(const Bisection& bisection);

}  // namespace korch
