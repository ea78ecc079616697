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
  std::optional<ExtentSum> sum = {};  // what its extent must be for the network to fit together

  friend bool operator==(const OpenDimension&, const OpenDimension&) = default;
};

// An extent of a network's output that depends on the data: the type states its bound.
struct OutputExtent {
  int output = 0, axis = 0;

  friend bool operator==(const OutputExtent&, const OutputExtent&) = default;
};

// "past + 1", "2 * a + b - 3"; `names`: of the open dimensions.
std::string to_string(const ExtentSum& sum, const std::vector<std::string>& names);

}  // namespace korch
