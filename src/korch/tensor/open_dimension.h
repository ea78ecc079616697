// Extents that are known in a run alone: of axes of inputs, and of outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace korch {

// What an open dimension's extent must be, where a network fits together for certain extents alone: a cache
// of `past` keys and one more make masks of `past + 1`.
struct ExtentSum {
  struct Term {
    int dimension = 0;   // among the open ones; one that has no sum itself
    int64_t factor = 1;  // at least 1: the sum is largest where all extents are

    friend bool operator==(const Term&, const Term&) = default;
  };
  int64_t plus = 0;
  std::vector<Term> terms;

  // `extents`: of each open dimension.
  int64_t of(const std::vector<int64_t>& extents) const {
    int64_t sum = plus;
    for (const Term& term : terms) sum += term.factor * extents[static_cast<size_t>(term.dimension)];
    return sum;
  }
  friend bool operator==(const ExtentSum&, const ExtentSum&) = default;
};

// first, first + step, ... up to last.
struct ExtentSteps {
  int64_t first = 0, last = 0, step = 1;

  bool contains(int64_t extent) const {
    return extent >= first && extent <= last && (extent - first) % step == 0;
  }
  friend bool operator==(const ExtentSteps&, const ExtentSteps&) = default;
};

// Axes of a network's inputs of one extent that each run tells: `least` to `most`, which is what the types
// state. The run's extent is an input too.
struct OpenDimension {
  struct Axis {
    int input = 0, axis = 0;

    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::string name;
  int64_t least = 0, most = 0;
  std::vector<Axis> axes;
  std::optional<ExtentSum> sum = {};      // what its extent must be for the network to fit together
  std::vector<ExtentSteps> fitting = {};  // the extents for which it does, ascending; none listed: all

  friend bool operator==(const OpenDimension&, const OpenDimension&) = default;
};

// An extent of a network's output that depends on the data: the type states its bound.
struct OutputExtent {
  int output = 0, axis = 0;

  friend bool operator==(const OutputExtent&, const OutputExtent&) = default;
};

// Within its range, and fitting.
bool fits(const OpenDimension& dimension, int64_t extent);

// The largest fitting extent up to this one, else the least.
int64_t fitting_up_to(const OpenDimension& dimension, int64_t extent);

// Extents near the wanted ones with which a network fits together, as far as they are easily found: no larger
// ones where there are some.
std::vector<int64_t> fitting_extents(const std::vector<OpenDimension>& dimensions,
                                     std::vector<int64_t> wanted);

// Ascending numbers as steps.
std::vector<ExtentSteps> as_steps(const std::vector<int64_t>& numbers);

// "2, 4, 6, 8, ...", "5".
std::string to_string(const std::vector<ExtentSteps>& steps);

// "past + 1", "2 * a + b - 3"; `names`: of the open dimensions.
std::string to_string(const ExtentSum& sum, const std::vector<std::string>& names);

}  // namespace korch
