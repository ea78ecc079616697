// What the cases are run through. An engine throws Error{unsupported} for a graph it refuses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

struct Engine {
  std::string name;
  std::function<std::vector<HostTensor>(const Graph&, const std::vector<HostTensor>& inputs)> run;
  bool compiles;   // slow under sanitizers
  int one_in;      // 1: every case; else about one case in so many, chosen by its name
  int min_passed;  // cases that passed when this was last raised; fewer is a regression
};

const std::vector<Engine>& engines();

}  // namespace korch
