// Random attention: operands in random layouts, something done to the scores, heads that share keys or not.
#pragma once

#include <random>
#include <string>

#include "korch/ir/graph.h"

namespace korch::groups {

class RandomAttention {
 public:
  explicit RandomAttention(uint64_t seed) : random_(seed) {}

  Graph make() {
    heads_ = 2 * (1 + below(2)), rows_ = 3 + below(40), keys_ = 5 + below(60), features_ = 3 + below(14);
    const int64_t columns = 2 + below(40);
    const ValueId k = shared(features_, "k");
    ValueId s = graph_.add(Op::MatMul, MatMulAttrs{false, true, false}, {operand(rows_, features_, "q"), k});
    for (int64_t i = below(3); i > 0; --i) s = changed(s);
    const ReduceAttrs over{{2}, true};
    const ValueId centred = binary(Op::Sub, s, graph_.add(Op::ReduceMax, over, {s}));
    ValueId w = graph_.add(Op::Exp, NoAttrs{}, {centred});
    const ValueId sum = graph_.add(Op::ReduceSum, over, {w});
    const bool late = below(3) == 0;  // divided after the product
    if (!late) w = binary(Op::Div, w, sum);
    ValueId y = graph_.add(Op::MatMul, MatMulAttrs{}, {w, shared(columns, "v")});
    if (late) y = binary(Op::Div, y, sum);
    if (below(2) == 0) {
      y = graph_.add(Op::Transpose, PermAttrs{{1, 0, 2}}, {y});
      y = graph_.add(Op::Reshape, ShapeAttrs{{rows_, heads_ * columns}}, {y});
    }
    graph_.set_outputs({y}, {"y"});
    return graph_;
  }

 private:
  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  ValueId input(Shape shape, const std::string& name, DType type = DType::f32) {
    return graph_.add_input({type, std::move(shape)}, name);
  }
  ValueId number(float value) { return graph_.add_constant(HostTensor::of<float>(DType::f32, {}, {value})); }
  ValueId binary(Op op, ValueId a, ValueId b) { return graph_.add(op, NoAttrs{}, {a, b}); }

  // Of shape heads x rows x features, whatever it lies as.
  ValueId operand(int64_t rows, int64_t features, const std::string& name) {
    ValueId x = kNoId;
    switch (below(4)) {
      case 0:  // heads within columns
        x = graph_.add(Op::Reshape, ShapeAttrs{{rows, heads_, features}},
                       {input({rows, heads_ * features}, name)});
        return graph_.add(Op::Transpose, PermAttrs{{1, 0, 2}}, {x});
      case 1:
        return graph_.add(Op::Transpose, PermAttrs{{0, 2, 1}}, {input({heads_, features, rows}, name)});
      case 2:  // a part of what several operands lie in
        x = input({heads_, rows, 2 * features}, name);
        return graph_.add(Op::Slice, SliceAttrs{{0, 0, features}, {heads_, rows, features}, {1, 1, 1}}, {x});
      default:
        return input({heads_, rows, features}, name);
    }
  }
  // Of keys or values: of its own for each head, or for two of them.
  ValueId shared(int64_t features, const std::string& name) {
    if (below(3) != 0) return operand(keys_, features, name);
    ValueId x = input({heads_ / 2, 1, keys_, features}, name);
    x = graph_.add(Op::Expand, ShapeAttrs{{heads_ / 2, 2, keys_, features}}, {x});
    return graph_.add(Op::Reshape, ShapeAttrs{{heads_, keys_, features}}, {x});
  }
  ValueId changed(ValueId s) {
    switch (below(5)) {
      case 0:
        return binary(Op::Mul, s, number(0.125f));
      case 1:
        return binary(Op::Mul, graph_.add(Op::Tanh, NoAttrs{}, {s}), number(5));
      case 2:
        return binary(Op::Add, s, input({heads_, rows_, keys_}, "bias"));
      case 3:
        return binary(Op::Add, s, input(below(2) == 0 ? Shape{keys_} : Shape{heads_, 1, 1}, "bias"));
      default:
        return graph_.add(Op::Where, NoAttrs{},
                          {input({rows_, keys_}, "mask", DType::bool_), s, number(-1e4f)});
    }
  }

  std::mt19937_64 random_;
  Graph graph_;
  int64_t heads_ = 0, rows_ = 0, keys_ = 0, features_ = 0;
};

}  // namespace korch::groups
