// A tile graph in the making: its buffers, and expressions of one element type.
#pragma once

#include <vector>

#include "korch/base/ceil_div.h"
#include "korch/device/device.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

class TileBuilder {
 public:
  explicit TileBuilder(DType type) : type_(type) {}

  // In this order: arguments, temporaries, scratch. Of the builder's type, or another.
  int add_argument(Buffer buffer) {
    graph_.buffers.push_back(std::move(buffer));
    return static_cast<int>(graph_.buffers.size()) - 1;
  }
  int add_temporary(int64_t elements) { return add_temporary(elements, type_); }
  int add_temporary(int64_t elements, DType type) {
    return add_argument({.role = BufferRole::temporary, .type = type, .elements = elements});
  }
  int add_scratch(int64_t elements) { return add_scratch(elements, type_); }
  int add_scratch(int64_t elements, DType type) {
    const int number = add_argument({.role = BufferRole::scratch, .type = type, .elements = elements});
    graph_.buffers[number].offset_bytes = graph_.scratch_bytes;
    graph_.scratch_bytes += ceil_div(graph_.buffers[number].bytes(), kCacheLineBytes) * kCacheLineBytes;
    return number;
  }

  int load(int buffer, const Index& offset) {
    Expr load;
    load.kind = ExprKind::load;
    load.type = graph_.buffers[buffer].type;
    load.buffer = buffer;
    load.coords = {offset};
    return graph_.pool.add(std::move(load));
  }
  // Of the builder's type.
  int constant(double number) { return graph_.pool.constant(type_, number); }
  int call(ScalarFn fn, std::vector<int> args) { return graph_.pool.call(fn, type_, std::move(args)); }
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
  int padded(const Condition& condition, int value) {
    return graph_.pool.guard(condition, value, graph_.pool.constant(graph_.pool[value].type, 0));
  }
  // Rows and columns (`loops`) of sums over `reduced` of a * b, kept in registers until they are stored.
  ScheduledNest product_nest(std::vector<OuterLoop> around, std::vector<LoopVariable> loops,
                             std::vector<LoopVariable> reduced, int a, int b, int buffer,
                             const Index& offset) {
    ScheduledNest nest;
    nest.kind = NestKind::reduce;
    nest.around = std::move(around);
    nest.loops = std::move(loops);
    nest.reduced = std::move(reduced);
    nest.stores = {{buffer, offset, product(a, b)}};
    nest.schedule.registers = true;
    return nest;
  }

  ExprPool& pool() { return graph_.pool; }
  Buffer& buffer(int number) { return graph_.buffers[number]; }
  void add_phase(ScheduledPhase phase) { tile::add_phase(graph_, std::move(phase)); }
  ScheduledGraph finish() { return std::move(graph_); }

 private:
  int widened(int value) { return graph_.pool.call(ScalarFn::cast, type_, {value}); }

  DType type_;
  ScheduledGraph graph_;
};

}  // namespace korch::tile
