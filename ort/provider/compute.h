// What ONNX Runtime calls to run a compiled subgraph.
#pragma once

#include <vector>

#include "api.h"
#include "runner.h"

namespace korch::ort {

class Compute : public OrtNodeComputeInfo {
 public:
  // `inputs[i]` and `outputs[i]` tell which input or output of the fused node is the executable's i-th.
  Compute(const Api& api, Executable executable, std::vector<size_t> inputs, std::vector<size_t> outputs);

 private:
  void run(OrtKernelContext* context);

  const Api api_;
  const std::vector<size_t> inputs_, outputs_;
  Runner runner_;
};

}  // namespace korch::ort
