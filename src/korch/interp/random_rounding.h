// The rounding noise that a network has of its own: native precision, but roundings fall at random, as in
// discrete stochastic arithmetic (Vignes, Math. Comput. Simul. 1993). What differs between a few such runs is
// what any float32 evaluation may differ by, whatever its order of summation.
//
//   elementwise   a result that is inexact goes to either of its two neighbours; an exact one stays
//   sums          are off by up to half an ulp of the sum of magnitudes, more where they are long: a result
//                 that cancels has the noise of its terms
//   products      the first operand's elements move by up to an ulp, which draws the roundings of the float32
//                 sums anew; whole numbers stay
//   the rest      moves data and rounds nothing
//
// Kernels sum products in long chains, and two kernels compute again what both read, each in its own order
// (Roundings::of_kernels):
//
//   products      are off as sums are, more where the chain is long
//   Values        are computed twice, with roundings of their own, mostly from their operands' own
//   computation;
//                 now and then a reader takes the other one
//   subnormals    of float32 are 0 or stay, as elementwise results
//
// Meant for primitives: a composite operator is rounded once, at its result.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "korch/base/stop_check.h"
#include "korch/ir/graph.h"

namespace korch {

// An operator that chooses by comparing numbers: where two are as good as equal, rounding decides, and the
// result jumps.
bool is_choice(Op op);

// By how much each element of a choice's operand may be off: f64, of the operand's shape.
using Offsets = std::map<ValueId, HostTensor>;

enum class Roundings { of_operators, of_kernels };

class RandomRounding {
 public:
  // All outlive it; long operators ask `stop` while they compute.
  RandomRounding(uint64_t seed, const Offsets& offsets, StopCheck& stop,
                 Roundings roundings = Roundings::of_operators)
      : state_(seed), offsets_(offsets), stop_(stop), roundings_(roundings) {}
  bool computes_twice() const { return roundings_ == Roundings::of_kernels; }
  // Operands as one of two computations made them, a quarter of them as the other did; where there is only
  // one the other's tensors are empty.
  std::vector<HostTensor> mostly(const std::vector<HostTensor>& own, const std::vector<HostTensor>& others);
  std::vector<HostTensor> evaluate(const Node& node, const std::vector<HostTensor>& inputs,
                                   const std::vector<TensorType>& types);

 private:
  std::vector<HostTensor> choose(const Node& node, const std::vector<HostTensor>& inputs,
                                 const std::vector<TensorType>& types);
  std::vector<HostTensor> product(const Node& node, const std::vector<HostTensor>& inputs,
                                  const std::vector<TensorType>& types);

  uint64_t state_;
  const Offsets& offsets_;
  StopCheck& stop_;
  const Roundings roundings_;
};

// As interpret() in native precision; equal seeds give equal results. Choices are made as if their operands
// were off by random parts of `offsets`. Throws BudgetSpent after the deadline.
std::vector<HostTensor> interpret_rounding_at_random(
    const Graph& graph, const std::vector<HostTensor>& inputs, uint64_t seed,
    const std::function<void(ValueId, const HostTensor&)>& observe = {}, const Offsets& offsets = {},
    Roundings roundings = Roundings::of_operators, const Deadline& deadline = {});

}  // namespace korch
