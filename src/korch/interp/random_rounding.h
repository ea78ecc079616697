// The rounding noise of a network: native precision with random roundings, as in discrete stochastic
// arithmetic (Vignes, Math. Comput. Simul. 1993). The differences between a few such runs show how much any
// float32 evaluation may differ, whatever its order of summation.
//
//   elementwise   an inexact result goes to either of its two neighbours; an exact one stays
//   sums          get an error of up to half an ulp of the sum of magnitudes, more if they are long: a result
//                 that cancels has the noise of its terms
//   products      the first operand's elements move by up to an ulp, which changes the roundings of the
//                 float32 sums; whole numbers stay
//   the rest      moves data and rounds nothing
//
// Products of a narrower type (ProductType) multiply operands that went to either of their two neighbours of
// that type.
//
// Kernels sum products in long chains, and two kernels compute again what both read, each in its own order
// (Roundings::of_kernels):
//
//   products      get errors as sums do, more if the chain is long
//   Values        are computed twice, with different roundings, each computation mostly from its operands'
//   same
//                 computation; now and then a reader takes the other one
//   subnormals    of float32 are 0 or stay, as elementwise results
//
// Meant for primitives: a composite operator is rounded once, at its result.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "korch/base/stop_check.h"
#include "korch/ir/graph.h"
#include "korch/tensor/product_type.h"

namespace korch {

// Whether an operator chooses by comparing numbers: between nearly equal ones rounding decides, and the
// result jumps.
bool is_choice(Op op);

// The disturbance of each element of a choice's operand: f64, of the operand's shape.
using Offsets = std::map<ValueId, HostTensor>;

enum class Roundings { of_operators, of_kernels };

class RandomRounding {
 public:
  // All outlive it; long operators ask `stop` while they compute.
  RandomRounding(uint64_t seed, const Offsets& offsets, StopCheck& stop,
                 Roundings roundings = Roundings::of_operators, ProductType products = ProductType::f32)
      : state_(seed), offsets_(offsets), stop_(stop), roundings_(roundings), products_(products) {}
  bool computes_twice() const { return roundings_ == Roundings::of_kernels; }
  // Operands from one of two computations, a quarter of them from the other. If there is only one, the
  // other's tensors are empty.
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
  const ProductType products_;
};

// As interpret() in native precision; equal seeds give equal results. Choices are made with operands
// disturbed by random parts of `offsets`. Throws BudgetSpent after the deadline.
std::vector<HostTensor> interpret_rounding_at_random(
    const Graph& graph, const std::vector<HostTensor>& inputs, uint64_t seed,
    const std::function<void(ValueId, const HostTensor&)>& observe = {}, const Offsets& offsets = {},
    Roundings roundings = Roundings::of_operators, const Deadline& deadline = {},
    ProductType products = ProductType::f32);

}  // namespace korch
