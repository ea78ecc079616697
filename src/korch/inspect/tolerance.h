// By how much results may differ from the network's: the one rule of the self-check, `korch verify`,
// bisection and the tests (docs/design/inspect.md, "Tolerance").
//
// A tolerance belongs to one element of one tensor. It follows the noise that float32 rounding has there,
// which is found by running the primitives a few times with roundings that fall at random
// (interp/random_rounding.h), so that a sum that cancels has the noise of its terms:
//
//   noise     the largest difference from float64 of all runs and of the element's neighbours in memory, so
//             that one lucky element does not decide
//   allowed   the largest of  kNoiseFactor x noise,  kTensorFactor x root mean square of the noise of the
//             whole tensor,  kFloorUlps ulps of the exact value,  the smallest normal number
//
// Few runs see little of noise that is rare: of one element that is large among small ones, of a maximum that
// all elements are divided by. Before a difference is believed there are more of them, the last with what
// kernels do (Roundings::of_kernels).
//
// Integers are exact; they, extents that depend on data, and values that are not finite may differ only where
// the runs do.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/ir/graph.h"
#include "korch/tensor/product_type.h"

namespace korch {

// Thrown if the deadline comes before something that looks wrong, `what`, is judged.
struct Undecided : BudgetSpent {
  std::string what;
};

// The difference of one tensor from the right one. `worst` elements are those with the largest ratio.
struct Deviation {
  double ratio = 0;      // error / allowed, the largest; the tensor passes up to 1
  int64_t element = -1;  // where, row-major; -1: the tensor has no elements that are judged
  double error = 0, allowed = 0, noise = 0, exact = 0;  // there
  double max_error = 0;                                 // anywhere
  int64_t unjudged = 0;                                 // elements on which the runs themselves disagree
  std::string shape;                                    // of the tensor where it should have another
  bool undecided = false;                               // more runs may allow it, and the deadline came first
  bool passed() const { return ratio <= 1; }
};

// "error 4.28e-07 at element 17, allowed 1.38e-06 (20 x rounding noise 6.9e-08 there, value 0.0123)"
std::string to_string(const Deviation& deviation);

class Tolerance {
 public:
  static constexpr double kNoiseFactor = 20;  // what `standard` allows (docs/design/inspect.md, "Tolerance")
  // A value that a ReLU keeps at zero in every run may leave zero in the executable, with whatever noise the
  // tensor has elsewhere: the tails of a normal distribution over a million elements reach five deviations.
  static constexpr double kTensorFactor = 5;
  // Functions of vector libraries are right to 1 to 4 ulps; a wrong factor of a softmax or a norm changes a
  // whole row.
  static constexpr double kFloorUlps = 8;
  static constexpr int64_t kBlock =
      32;  // an element's neighbours: its block of so many, and the two beside it
  static constexpr int64_t kFewElements = 64;  // a smaller tensor wants more runs to pool
  static constexpr int kRuns = 2, kRunsWhenFew = 8;
  // Further runs if a network chooses (TopK, say). They disturb the compared numbers by their tolerances, to
  // find choices between numbers that are as good as equal.
  static constexpr int kChoosingRuns = 4;
  // Before a difference is believed: this many further runs, up to this many times. The first time they round
  // as operators do, then as kernels do.
  static constexpr int kMoreRuns = 8, kMoreTimes = 4;

  // `type`: the Value's own; `exact`: float64 for floats.
  Tolerance(DType type, const HostTensor& exact);
  void add_run(const HostTensor& run);

  double noise(int64_t element) const;
  double allowed(int64_t element) const;
  bool is_judged(int64_t element) const { return unjudged_.count(element) == 0; }
  Deviation compare(const HostTensor& run) const;
  const HostTensor& exact() const { return exact_; }  // in the Value's own type

 private:
  double error(int64_t element, const HostTensor& got) const;

  DType type_;
  HostTensor exact_;
  double ulp_, smallest_;           // of one; the smallest normal number
  std::vector<float> block_noise_;  // the largest of each block
  double squares_ = 0;              // of all noise
  int64_t squared_ = 0;             // how many
  std::unordered_set<int64_t> unjudged_;
  bool shape_is_settled_ = true;
};

// Of a network's outputs for these inputs; `exact`: what it computes in float64; `products`: what its
// products may multiply. Throws BudgetSpent after the deadline.
std::vector<Tolerance> output_tolerances(const Graph& imported, const std::vector<HostTensor>& inputs,
                                         const std::vector<HostTensor>& exact, uint64_t seed,
                                         const Deadline& deadline = {},
                                         ProductType products = ProductType::f32);

// The differences of an executable's outputs. If an output exceeds its tolerance after few runs, there are
// more, until it does not or there are enough; if the deadline comes before, it is `undecided`.
std::vector<Deviation> output_deviations(const Graph& imported, const std::vector<HostTensor>& inputs,
                                         const std::vector<HostTensor>& exact,
                                         const std::vector<HostTensor>& got, uint64_t seed,
                                         const Deadline& deadline = {},
                                         ProductType products = ProductType::f32);

}  // namespace korch
