// Simplifications on random graphs of views, elementwise operators, reductions and matmuls: the outputs stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "check.h"
#include "korch/fission/simplify.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch::test {
namespace {

constexpr int kGraphs = 400;
constexpr int kNodesPerGraph = 14;
constexpr int64_t kLargestTensor = 400;

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed) {}

  Graph make() {
    values_.push_back(graph_.add_input({DType::f64, {2, 3, 4}}, "x"));
    values_.push_back(graph_.add_input({DType::f64, {1, 4, 1}}, "y"));
    while (graph_.node_count() < kNodesPerGraph) add_node();
    std::vector<ValueId> outputs;
    std::vector<std::string> names;
    for (int i = 0; i < 2; ++i) {
      outputs.push_back(values_[values_.size() - 1 - below(4)]);
      names.push_back("out" + std::to_string(i));
    }
    graph_.set_outputs(outputs, names);
    return graph_;
  }

 private:
  size_t below(size_t limit) { return random_() % limit; }
  ValueId pick() { return values_[below(values_.size())]; }
  Shape shape(ValueId value) { return graph_.value(value).type.shape; }
  void keep(Op op, Attrs attrs, std::vector<ValueId> inputs) {
    values_.push_back(graph_.add(op, std::move(attrs), std::move(inputs)));
  }

  void add_node() {
    const ValueId x = pick();
    const Shape s = shape(x);
    switch (below(10)) {
      case 0:
        return keep(Op::Reshape, ShapeAttrs{random_factors(element_count(s))}, {x});
      case 1:
        return keep(Op::Transpose, PermAttrs{random_order(s.size())}, {x});
      case 2:
        return add_slice(x);
      case 3:
        return add_expand(x);
      case 4:
        return add_gather(x);
      case 5:
        return add_binary(x, pick());
      case 6:
        return add_binary(x, random_constant(s));
      case 7:
        return add_reduction(x);
      case 8:
        return keep(below(2) == 0 ? Op::Neg : Op::Abs, NoAttrs{}, {x});
      default:
        return add_matmul(x, pick());
    }
  }

  Shape random_factors(int64_t count) {
    Shape result(1 + below(4), 1);
    for (int64_t factor = 2; count > 1; ++factor) {
      for (; count % factor == 0; count /= factor) result[below(result.size())] *= factor;
    }
    return result;
  }

  std::vector<int64_t> random_order(size_t rank) {
    std::vector<int64_t> perm(rank);
    std::iota(perm.begin(), perm.end(), 0);
    for (size_t i = rank; i > 1; --i) std::swap(perm[i - 1], perm[below(i)]);
    return perm;
  }

  void add_slice(ValueId x) {
    SliceAttrs slice;
    for (int64_t extent : shape(x)) {
      const bool backwards = below(3) == 0;
      const int64_t step = 1 + static_cast<int64_t>(below(2));
      const int64_t size = 1 + static_cast<int64_t>(below(static_cast<size_t>((extent - 1) / step + 1)));
      const int64_t room = extent - 1 - (size - 1) * step;
      const int64_t first = static_cast<int64_t>(below(static_cast<size_t>(room + 1)));
      slice.starts.push_back(backwards ? first + (size - 1) * step : first);
      slice.sizes.push_back(size);
      slice.steps.push_back(backwards ? -step : step);
    }
    keep(Op::Slice, slice, {x});
  }

  void add_expand(ValueId x) {
    Shape to = shape(x);
    for (int64_t& extent : to) extent = extent == 1 ? 1 + static_cast<int64_t>(below(3)) : extent;
    if (below(3) == 0) to.insert(to.begin(), 1 + static_cast<int64_t>(below(2)));
    if (element_count(to) <= kLargestTensor) keep(Op::Expand, ShapeAttrs{to}, {x});
  }

  void add_gather(ValueId x) {
    const Shape s = shape(x);
    if (s.empty()) return;
    const size_t axis = below(s.size());
    std::vector<int64_t> index;
    for (size_t i = 0; i <= below(4); ++i)
      index.push_back(static_cast<int64_t>(below(static_cast<size_t>(2 * s[axis]))) - s[axis]);
    const Shape index_shape =
        index.size() == 1 && below(2) == 0 ? Shape{} : Shape{static_cast<int64_t>(index.size())};
    const ValueId indices = graph_.add_constant(HostTensor::of<int64_t>(DType::i64, index_shape, index));
    keep(Op::Gather, AxisAttrs{static_cast<int64_t>(axis)}, {x, indices});
  }

  ValueId random_constant(Shape s) {
    for (int64_t& extent : s) extent = below(2) == 0 ? 1 : extent;
    static const std::vector<double> usual = {0, 1, 2, 0.5, -4, 3};
    std::vector<double> values(static_cast<size_t>(element_count(s)), usual[below(usual.size())]);
    if (below(3) == 0) values[below(values.size())] = usual[below(usual.size())];
    return graph_.add_constant(HostTensor::of<double>(DType::f64, s, values));
  }

  void add_binary(ValueId a, ValueId b) {
    static const std::vector<Op> ops = {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Div, Op::Pow};
    try {
      if (element_count(broadcast(shape(a), shape(b))) > kLargestTensor) return;
    } catch (const Error&) {
      return;
    }
    keep(ops[below(ops.size())], NoAttrs{}, {a, b});
  }

  void add_reduction(ValueId x) {
    ReduceAttrs reduce;
    reduce.keepdims = below(2) == 0;
    for (size_t i = 0; i < shape(x).size(); ++i) {
      if (below(2) == 0) reduce.axes.push_back(static_cast<int64_t>(i));
    }
    keep(below(2) == 0 ? Op::ReduceSum : Op::ReduceMax, reduce, {x});
  }

  void add_matmul(ValueId a, ValueId b) {
    const MatMulAttrs flags{below(2) == 0, below(2) == 0};
    try {
      const TensorType type = infer_types(Op::MatMul, flags, {graph_.value(a).type, graph_.value(b).type})[0];
      if (type.elements() <= kLargestTensor) keep(Op::MatMul, flags, {a, b});
    } catch (const Error&) {
      // The shapes do not fit: another node instead.
    }
  }

  std::mt19937_64 random_;
  Graph graph_;
  std::vector<ValueId> values_;
};

TEST(Simplify, RandomGraphsKeepTheirOutputs) {
  int changes = 0;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const Graph graph = RandomGraph(seed).make();
    const std::vector<HostTensor> inputs = random_inputs(graph, seed);
    Graph simplified = graph;
    changes += simplify(simplified);
    verify(simplified, GraphForm::primitive);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print(graph) + "became\n" + print(simplified));
    expect_close(interpret(graph, inputs), interpret(simplified, inputs), 1e-11);
    ASSERT_EQ(simplify(simplified), 0) << "a second run changes something";
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(changes, kGraphs) << "the graphs offer too little to simplify";
}

}  // namespace
}  // namespace korch::test
