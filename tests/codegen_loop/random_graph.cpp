#include <algorithm>
#include <random>

#include "cases.h"

namespace korch::testing {
namespace {

constexpr int64_t kLargestTensor = 20000;

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed) {}

  Graph make() {
    const Shape base = {1 + below(3), 1 + below(40), 1 + below(12), 1 + below(40)};
    values_.push_back(graph_.add_input({DType::f32, base}, "x"));
    values_.push_back(graph_.add_input({DType::f32, {base[1], 1, 1}}, "c"));
    values_.push_back(graph_.add_input({DType::f32, {base[3]}}, "r"));
    const size_t nodes = 3 + below(9);
    while (graph_.live_node_count() < nodes) add_node();
    pick_outputs();
    graph_.remove_dead_nodes();
    return graph_;
  }

 private:
  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  ValueId pick() { return values_[values_.size() - 1 - below(std::min<int64_t>(4, values_.size()))]; }
  const Shape& shape(ValueId value) { return graph_.value(value).type.shape; }

  void keep(Op op, Attrs attrs, std::vector<ValueId> inputs) {
    const ValueId value = graph_.add(op, std::move(attrs), std::move(inputs));
    values_.push_back(value);
  }

  // Outputs that no other output needs, and sometimes one inside.
  void pick_outputs() {
    std::vector<ValueId> outputs = {values_.back()};
    const int64_t more = below(3);
    for (int64_t i = 0; i < more; ++i) {
      const ValueId value = pick();
      if (!graph_.is_input(value) && std::find(outputs.begin(), outputs.end(), value) == outputs.end())
        outputs.push_back(value);
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < outputs.size(); ++i) names.push_back("out" + std::to_string(i));
    graph_.set_outputs(outputs, names);
  }

  void add_node() {
    const ValueId x = pick();
    const Shape s = shape(x);
    const auto rank = static_cast<int64_t>(s.size());
    switch (below(12)) {
      case 0:
        return keep(Op::Tanh, NoAttrs{}, {x});
      case 1:
        return keep(Op::Relu, NoAttrs{}, {x});
      case 2:
        return keep(Op::Abs, NoAttrs{}, {x});
      case 3:
      case 4:
        return add_binary(x);
      case 5:
        return add_reduce(x);
      case 6:
        return add_transpose(x);
      case 7:
        return add_reshape(x);
      case 8:
        return add_pad(x);
      case 9:
        return add_slice(x);
      case 10:
        return add_concat(x, below(std::max<int64_t>(rank, 1)));
      case 11:
        return add_window(x);
    }
  }

  void add_binary(ValueId x) {
    for (size_t i = values_.size(); i-- > 0;) {
      const Shape& a = shape(x);
      const Shape& b = shape(values_[i]);
      bool fits = true;
      for (size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
        const int64_t p = a[a.size() - 1 - k], q = b[b.size() - 1 - k];
        fits = fits && (p == q || p == 1 || q == 1);
      }
      if (!fits || below(2) == 0 || element_count(broadcast(a, b)) > kLargestTensor) continue;
      constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Max};
      return keep(kOps[below(4)], NoAttrs{}, {x, values_[i]});
    }
  }

  void add_reduce(ValueId x) {
    std::vector<int64_t> axes;
    for (size_t axis = 0; axis < shape(x).size(); ++axis)
      if (below(3) == 0) axes.push_back(static_cast<int64_t>(axis));
    if (axes.empty()) return;
    constexpr Op kOps[] = {Op::ReduceSum, Op::ReduceMax, Op::ReduceMin};
    keep(kOps[below(3)], ReduceAttrs{axes, below(3) != 0}, {x});
  }

  void add_transpose(ValueId x) {
    std::vector<int64_t> perm(shape(x).size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    std::shuffle(perm.begin(), perm.end(), random_);
    if (!perm.empty()) keep(Op::Transpose, PermAttrs{perm}, {x});
  }

  void add_reshape(ValueId x) {
    int64_t rest = element_count(shape(x));
    Shape to;
    for (int i = 0; i < 3 && rest > 1; ++i) {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= std::min<int64_t>(rest, 64); ++d)
        if (rest % d == 0) divisors.push_back(d);
      to.push_back(divisors[below(static_cast<int64_t>(divisors.size()))]);
      rest /= to.back();
    }
    to.push_back(rest);
    std::shuffle(to.begin(), to.end(), random_);
    keep(Op::Reshape, ShapeAttrs{to}, {x});
  }

  void add_pad(ValueId x) {
    const Shape& s = shape(x);
    PadAttrs pad;
    pad.mode = static_cast<PadMode>(below(3));
    pad.value = 0.5;
    for (int64_t extent : s) {
      const int64_t limit = pad.mode == PadMode::reflect ? std::min<int64_t>(3, extent - 1) : 3;
      pad.before.push_back(below(3) == 0 ? below(limit + 1) : 0);
      pad.after.push_back(below(3) == 0 ? below(limit + 1) : 0);
    }
    if (element_count(s) < kLargestTensor) keep(Op::Pad, pad, {x});
  }

  void add_slice(ValueId x) {
    SliceAttrs slice;
    for (int64_t extent : shape(x)) {
      const int64_t step = 1 + below(2), size = 1 + below((extent + step - 1) / step);
      const int64_t slack = extent - (1 + (size - 1) * step);
      const bool backwards = below(5) == 0;
      const int64_t start = below(slack + 1);
      slice.starts.push_back(backwards ? start + (size - 1) * step : start);
      slice.sizes.push_back(size);
      slice.steps.push_back(backwards ? -step : step);
    }
    keep(Op::Slice, slice, {x});
  }

  void add_concat(ValueId x, int64_t axis) {
    if (shape(x).empty() || element_count(shape(x)) > kLargestTensor / 2) return;
    for (ValueId other : values_) {
      Shape a = shape(x), b = shape(other);
      if (a.size() != b.size()) continue;
      a[axis] = b[axis] = 1;
      if (a == b && below(2) == 0) return keep(Op::Concat, AxisAttrs{axis}, {x, other});
    }
    keep(Op::Concat, AxisAttrs{axis}, {x, x});
  }

  void add_window(ValueId x) {
    const Shape& s = shape(x);
    if (s.size() != 4) return;
    PoolAttrs pool;
    for (size_t axis = 2; axis < 4; ++axis) {
      const int64_t kernel = 1 + below(std::min<int64_t>(3, s[axis]));
      pool.kernel.push_back(kernel);
      pool.strides.push_back(1 + below(2));
      pool.dilations.push_back(1);
      pool.pads_before.push_back(below(kernel));
      pool.pads_after.push_back(below(kernel));
    }
    keep(below(2) == 0 ? Op::WindowMax : Op::WindowSum, pool, {x});
  }

  std::mt19937_64 random_;
  Graph graph_;
  std::vector<ValueId> values_;
};

}  // namespace

Graph random_graph(uint64_t seed) {
  return RandomGraph(seed).make();
}

}  // namespace korch::testing
