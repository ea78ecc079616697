// States: what a run leaves for the next one.
#pragma once

namespace korch {

// An input of a network that takes what an output of the run before gave.
struct StatePair {
  int input = 0, output = 0;
  // The axis along which a run appends to what there is, in place (ir/append.h); -1: each run makes all of it
  // anew.
  int axis = -1;

  friend bool operator==(const StatePair&, const StatePair&) = default;
};

}  // namespace korch
