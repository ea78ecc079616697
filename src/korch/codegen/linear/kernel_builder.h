// A tile graph in the making, of a candidate around one linear primitive: its buffers, and the fused Values
// of its prologue and epilogue as expressions.
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/linear/output_map.h"
#include "korch/codegen/loop/compose.h"
#include "korch/kernel/schedule.h"

namespace korch::linear {

class KernelBuilder {
 public:
  KernelBuilder(const LinearWorkload& workload, const Implementation& implementation, const Device& target);

  // Why the candidate cannot be computed element by element around its linear primitive; empty when it can.
  std::string obstacle() const;

  int buffer_of(ValueId argument) const;
  void pack(ValueId constant, Packing packing, int64_t elements);
  // Of the constant's numbers in a narrower type.
  void pack(ValueId constant, Packing packing, int64_t elements, DType type);
  // In this order: temporaries, then scratch.
  // Of the product's type, or another.
  int add_temporary(int64_t elements) { return add_temporary(elements, element_type(workload_)); }
  int add_temporary(int64_t elements, DType type);
  int add_scratch(int64_t elements) { return add_scratch(elements, element_type(workload_)); }
  int add_scratch(int64_t elements, DType type);

  int load(int buffer, const Index& offset);
  // Of the linear primitive's element type.
  int constant(double number) { return graph_.pool.constant(element_type(workload_), number); }
  int call(ScalarFn fn, std::vector<int> args) {
    return graph_.pool.call(fn, element_type(workload_), std::move(args));
  }
  int zero() { return constant(0); }
  int zero_of(int buffer) { return graph_.pool.constant(graph_.buffers[buffer].type, 0); }
  // Of operands that may be of a narrower type.
  int product(int a, int b) { return call(ScalarFn::mul, {widened(a), widened(b)}); }
  // Whole numbers that stand for floats: (number - zero) * scale; `zero` -1: 0.
  int narrow(int number, int zero, int scale) {
    const int difference = zero < 0 ? widened(number) : call(ScalarFn::sub, {widened(number), widened(zero)});
    return call(ScalarFn::mul, {difference, scale});
  }
  int sum(int a, int b) { return call(ScalarFn::add, {a, b}); }
  int difference(int a, int b) { return call(ScalarFn::sub, {a, b}); }
  int scaled(double factor, int a) { return factor == 1 ? a : product(constant(factor), a); }
  // `value` where the condition holds, else 0.
  int padded(const tile::Condition& condition, int value) {
    return graph_.pool.guard(condition, value, graph_.pool.constant(graph_.pool[value].type, 0));
  }
  // Rows and columns (`loops`) of sums over `reduced` of a * b, kept in registers until they are stored.
  tile::ScheduledNest product_nest(std::vector<tile::OuterLoop> around, std::vector<tile::LoopVariable> loops,
                                   std::vector<tile::LoopVariable> reduced, int a, int b, int buffer,
                                   const Index& offset);
  // A candidate's input or constant as it lies in memory.
  int read(ValueId argument, const Coords& coords);
  // The Value at these coordinates. The linear primitive's result, if it is needed, is `result`. `places`
  // replaces variables of the coordinates: ranges known of the places simplify the expression, and hold
  // wherever the Value is read.
  int compose(ValueId value, const Coords& coords, int result = -1, const tile::Replacements& places = {});
  // Every output of the candidate, for an element of the linear primitive's result at `coords`.
  // Stored where the condition holds.
  std::vector<tile::Store> outputs(const Coords& coords, int result, const tile::Replacements& places = {},
                                   const tile::Condition& condition = {});

  tile::ExprPool& pool() { return graph_.pool; }
  void add_phase(tile::ScheduledPhase phase) { tile::add_phase(graph_, std::move(phase)); }
  tile::ScheduledGraph finish() { return std::move(graph_); }

 private:
  int add_buffer(tile::BufferRole role, int64_t elements, DType type);
  int widened(int value) { return graph_.pool.call(ScalarFn::cast, element_type(workload_), {value}); }

  const LinearWorkload& workload_;
  const Implementation& implementation_;
  tile::ScheduledGraph graph_;
  tile::ExprPool composed_;
  tile::Composer composer_;
};

}  // namespace korch::linear
