// Plans made by hand, as a compilation would describe them.
#pragma once

#include "korch/report/report.h"

namespace korch {

// What a browser that takes a name for HTML would run or ask the network for.
inline const std::string kHostile =
    "</script><script>document.title='broken in'</script><img src=http://127.0.0.1:9/x onerror=\"alert(1)\">";

// input x -> #0 Conv+Relu -> a, seen as b -> #1 Relu+Add (the Relu again) -> c -> #2 reorder -> output y.
// #0 is a library call of node `kHostile`; #1 has a source and rejected alternatives.
Plan small_plan();

// `steps` kernels in a row, each 16th also reading what was made 16 before, all of different ONNX nodes.
Plan long_plan(int steps);

// A source per kernel, about as long as generated ones and no two alike.
std::vector<std::string> long_sources(const Plan& plan);

}  // namespace korch
