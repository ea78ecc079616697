// Which kernels of an executable are wrong, without un-fusing the plan: every tensor that a step writes is
// compared with the primitive graph in float64 as the executable runs, and then replaced by what it should
// be, so that every kernel is judged on right inputs, whatever the others do.
#pragma once

#include <string>
#include <vector>

#include "korch/inspect/tolerance.h"
#include "korch/ir/graph.h"
#include "korch/package/loaded.h"

namespace korch {

// What a kernel was given and made of it, as bytes in the layouts of the plan. `allowed`: of each output,
// what each of its elements may be off by, as float32; infinite where nothing is judged.
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
  StepDeviation largest;             // of all steps, by ratio; step -1: there are none
  bool has_loops = false;            // whose kernels are not judged one by one: a step runs again and again
  bool other_network = false;        // the plan names Values that the network does not have
};

// `inputs` as the interpreter takes them; open dimensions are taken as large as they may be.
Bisection bisect(const Graph& imported, LoadedExecutable& executable, const std::vector<HostTensor>& inputs);

// A sentence naming the first wrong kernel, or what it means that there is none.
std::string describe(const Bisection& bisection);

}  // namespace korch
