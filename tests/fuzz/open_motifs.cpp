// What open models are made of: along any axes.
#include "open_maker.h"

namespace korch::fuzz {
namespace {

using Names = OpenMaker::Names;
using Ints = std::vector<int64_t>;
constexpr int64_t kEnd = int64_t{1} << 40;

const std::string& one_of(OpenMaker& m, const Names& names) {
  return m.random.of(names);
}

Ints permutation(OpenMaker& m, size_t rank) {
  Ints result(rank);
  for (size_t i = 0; i < rank; ++i) result[i] = static_cast<int64_t>(i);
  for (size_t i = rank; i > 1; --i) std::swap(result[i - 1], result[m.random.below(static_cast<int64_t>(i))]);
  return result;
}
std::string with_last_two_swapped(OpenMaker& m, const OpenValue& x) {
  Ints perm(x.rank());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return m.add("Transpose", {x.name}).with("perm", perm);
}
std::string sliced(OpenMaker& m, const std::string& x, int64_t from, int64_t to, int64_t axis,
                   int64_t step = 1) {
  return m.add("Slice", {x, m.ints({from}), m.ints({to}), m.ints({axis}), m.ints({step})});
}

Names unary(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float()) return {m.add("Cast", {x.name}).with("to", int64_t{1})};
  return {m.add(one_of(m, {"Relu",      "Tanh",        "Sigmoid", "Abs",      "Neg",      "Erf",   "Softplus",
                           "Elu",       "HardSwish",   "Sin",     "Softsign", "Sign",     "Floor", "Round",
                           "LeakyRelu", "HardSigmoid", "Celu",    "Selu",     "Identity", "Cos"}),
                {x.name})};
}
Names binary(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float()) return {};
  const std::string op = one_of(m, {"Add", "Sub", "Mul", "Max", "Min", "Mean", "Sum"});
  const OpenValue& y = m.random.of(m.values());
  if (y.is_float() && m.random.one_in(2)) return {m.add(op, {x.name, y.name})};
  Shape shape;
  for (size_t axis = m.random.below(static_cast<int64_t>(x.rank()) + 1); axis < x.rank(); ++axis)
    shape.push_back(x.is_open(axis) || m.random.one_in(3) ? 1 : x.extent(axis));
  if (m.random.one_in(8)) shape.insert(shape.begin(), m.random.between(1, 2));
  return {m.add(op, {x.name, m.weight(shape)})};
}
Names compared(OpenMaker& m, const OpenValue& x) {
  const OpenValue& y = m.random.of(m.values());
  if (!x.is_float() || !y.is_float()) return {};
  const std::string mask = m.add(one_of(m, {"Greater", "Less", "GreaterOrEqual"}), {x.name, y.name});
  return {m.add("Where", {mask, x.name, m.random.one_in(2) ? y.name : m.number(0.5f)})};
}
Names reduction(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0) return {};
  Ints axes{m.axis_of(x)};
  if (m.random.one_in(2) && x.rank() > 1) axes.push_back((axes[0] + 1) % static_cast<int64_t>(x.rank()));
  if (m.random.one_in(4)) axes[0] -= static_cast<int64_t>(x.rank());
  const bool keep = m.random.one_in(2);
  const std::string result =
      m.reduced(one_of(m, {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                           "ReduceLogSumExp", "ReduceSumSquare", "ReduceProd"}),
                x.name, axes, keep);
  if (!keep) return {result};
  return {m.add(one_of(m, {"Sub", "Mul", "Add"}), {x.name, result})};
}
Names extreme(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0) return {};
  const int64_t axis = m.axis_of(x);
  const std::string at = m.add(one_of(m, {"ArgMax", "ArgMin"}), {x.name})
                             .with("axis", axis)
                             .with("keepdims", int64_t{1})
                             .with("select_last_index", m.random.below(2));
  if (m.random.one_in(2)) return {at};
  return {m.add("Sub", {x.name, m.add("GatherElements", {x.name, at}).with("axis", axis)})};
}
Names softmax(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0) return {};
  return {m.add(one_of(m, {"Softmax", "LogSoftmax", "Hardmax"}), {x.name}).with("axis", m.axis_of(x))};
}
Names normalized(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows()) return {};
  const int64_t c = x.channels();
  switch (m.random.below(3)) {
    case 0:
      return {
          m.add("LayerNormalization", {x.name, m.weight({c}), m.weight({c})}).with_float("epsilon", 0.01f)};
    case 1:
      return {m.add("LpNormalization", {m.add("Add", {m.add("Abs", {x.name}), m.number(0.1f)})})
                  .with("axis", m.axis_of(x))
                  .with("p", m.random.between(1, 2))};
    default:
      return {
          m.microsoft("SkipLayerNormalization", {x.name, x.name, m.weight({c}), m.weight({c}), m.weight({c})})
              .with_float("epsilon", 0.01f)};
  }
}
Names cumulated(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0) return {};
  const int64_t rank = static_cast<int64_t>(x.rank());
  const std::string sums =
      m.add("CumSum", {x.name, m.integer(m.axis_of(x) - (m.random.one_in(3) ? rank : 0))})
          .with("reverse", m.random.below(2))
          .with("exclusive", m.random.below(2));
  return {m.add("Mul", {sums, m.number(0.2f)})};
}
Names slice(OpenMaker& m, const OpenValue& x) {
  if (x.rank() == 0) return {};
  const int64_t axis = m.axis_of(x);
  switch (m.random.below(5)) {
    case 0:
      return {sliced(m, x.name, m.random.between(0, 2), m.random.one_in(2) ? kEnd : -1, axis)};
    case 1:
      return {sliced(m, x.name, m.random.between(-3, 1), kEnd, axis, m.random.between(1, 3))};
    case 2:
      return {sliced(m, x.name, -1, -kEnd, axis, -m.random.between(1, 2))};
    case 3:
      return {m.add("Concat", {sliced(m, x.name, -1, kEnd, axis), sliced(m, x.name, 0, -1, axis)})
                  .with("axis", axis)};
    default: {
      // From a place that is computed, as decoders do.
      const std::string length = m.extent_of(x.name, axis);
      const std::string from = m.add("Div", {length, m.ints({2})});
      return {m.add("Slice", {x.name, from, length, m.ints({axis})})};
    }
  }
}
Names concat(OpenMaker& m, const OpenValue& x) {
  if (x.rank() == 0) return {};
  const int64_t axis = m.axis_of(x);
  const OpenValue& y = m.random.of(m.values());
  const std::string other = y.rank() == x.rank() && y.dtype == x.dtype && m.random.one_in(2) ? y.name
                            : m.random.one_in(2) ? sliced(m, x.name, 0, 1, axis)
                            : x.is_float()       ? m.add("Tanh", {x.name})
                                                 : x.name;
  return {
      m.add("Concat", m.random.one_in(2) ? Names{x.name, other} : Names{other, x.name}).with("axis", axis)};
}
Names split(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0) return {};
  const auto axis = static_cast<size_t>(m.axis_of(x));
  if (x.is_open(axis)) {
    if (m.opset() < 18) return {};
    return m.add("Split", {x.name}, 2)
        .with("axis", static_cast<int64_t>(axis))
        .with("num_outputs", int64_t{2})
        .outputs;
  }
  if (x.extent(axis) < 2) return {};
  const int64_t first = m.random.between(1, x.extent(axis) - 1);
  return m.add("Split", {x.name, m.ints({first, x.extent(axis) - first})}, 2)
      .with("axis", static_cast<int64_t>(axis))
      .outputs;
}
Names pad(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0) return {};
  Ints pads(2 * x.rank(), 0);
  const auto axis = m.axis_of(x), rank = static_cast<int64_t>(x.rank());
  pads[axis] = m.random.between(-1, 2), pads[axis + rank] = m.random.between(-1, 2);
  const std::string mode = one_of(m, {"constant", "reflect", "edge"});
  Names operands{x.name, m.ints(pads)};
  if (mode == "constant" && m.random.one_in(2)) operands.push_back(m.number(0.5f));
  return {m.add("Pad", operands).with("mode", mode)};
}
Names gather(OpenMaker& m, const OpenValue& x) {
  if (x.rank() == 0) return {};
  const auto axis = static_cast<size_t>(m.axis_of(x));
  const int64_t least = x.least(axis);
  if (least == 0) return {};
  Ints at(static_cast<size_t>(m.random.between(1, 3)));
  for (int64_t& i : at) i = m.random.between(-least, least - 1);
  return {m.add("Gather", {x.name, m.random.one_in(4) ? m.integer(at[0]) : m.ints(at)})
              .with("axis", static_cast<int64_t>(axis))};
}
Names embedding(OpenMaker& m, const OpenValue& x) {
  if (x.dtype == DType::i64) {
    if (m.random.one_in(3)) {
      const std::string values = m.constant(HostTensor::of<float>(DType::f32, {2}, {0, 1}));
      return {m.add("OneHot", {x.name, m.ints({7}), values})
                  .with("axis", m.random.between(-1, static_cast<int64_t>(x.rank())))};
    }
    return {m.add("Gather", {m.weight({40, 6}), m.add("Abs", {x.name})})};
  }
  if (!x.is_rows()) return {};
  // Positions, counted from 0.
  const std::string count = m.add("Squeeze", {m.extent_of(x.name, x.rank() - 2), m.ints({0})});
  const std::string places = m.add("Range", {m.integer(0), count, m.integer(1)});
  if (m.random.one_in(2))
    return {m.add("Add", {x.name, m.add("Gather", {m.weight({64, x.channels()}), places})})};
  const std::string angles = m.add("Sin", {m.add("Cast", {places}).with("to", int64_t{1})});
  return {m.add("Add", {x.name, m.add("Unsqueeze", {angles, m.ints({1})})})};
}
Names topk(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0) return {};
  const auto axis = static_cast<size_t>(m.axis_of(x));
  const std::string k =
      m.random.one_in(2)
          ? m.ints({m.random.between(1, 2)})
          : m.add("Div", {m.add("Add", {m.extent_of(x.name, axis), m.ints({1})}), m.ints({2})});
  return {m.add("TopK", {x.name, k}, 2)
              .with("axis", static_cast<int64_t>(axis))
              .with("largest", m.random.below(2))
              .outputs[0]};
}
Names moved(OpenMaker& m, const OpenValue& x) {
  return {m.add("Transpose", {x.name}).with("perm", permutation(m, x.rank()))};
}
Names reshaped(OpenMaker& m, const OpenValue& x) {
  if (x.rank() < 2) return {m.add("Unsqueeze", {x.name, m.ints({m.random.between(-1, 0)})})};
  const auto last = x.rank() - 1;
  switch (m.random.below(6)) {
    case 0:
      return {m.add("Flatten", {x.name}).with("axis", m.random.between(0, static_cast<int64_t>(x.rank())))};
    case 1:
      return {m.add("Reshape", {x.name, m.ints({0, -1})})};
    case 2: {  // into heads
      if (x.is_open(last) || x.extent(last) % 2 != 0) return {};
      Ints shape(last, 0);
      shape.insert(shape.end(), {2, x.extent(last) / 2});
      return {m.add("Reshape", {x.name, m.ints(shape)})};
    }
    case 3: {  // by arithmetic on the shape
      const std::string rows = m.add("Mul", {m.extent_of(x.name, 0), m.extent_of(x.name, 1)});
      Names shape{rows};
      for (size_t axis = 2; axis < x.rank(); ++axis) shape.push_back(m.extent_of(x.name, axis));
      const std::string merged = m.add("Reshape", {x.name, m.add("Concat", shape).with("axis", int64_t{0})});
      return {m.add("Reshape", {m.add("Tanh", {merged}), m.add("Shape", {x.name})})};
    }
    case 4: {
      Ints shape(last - 1, 0);
      shape.push_back(-1);
      return {m.add("Reshape", {x.name, m.ints(shape)})};
    }
    default:
      return {m.add("Unsqueeze", {x.name, m.ints({m.random.between(0, static_cast<int64_t>(x.rank()))})})};
  }
}
Names windows(OpenMaker& m, const OpenValue& x) {
  // Padded to a multiple of 4, then folded, as windows of attention are.
  if (!x.is_rows() || x.rank() != 3) return {};
  const std::string over = m.add("Mod", {m.extent_of(x.name, 1), m.ints({4})});
  const std::string missing = m.add("Mod", {m.add("Sub", {m.ints({4}), over}), m.ints({4})});
  const std::string pads =
      m.add("Concat", {m.ints({0, 0, 0, 0}), missing, m.ints({0})}).with("axis", int64_t{0});
  return {m.add("Reshape", {m.add("Pad", {x.name, pads}), m.ints({0, -1, 4 * x.channels()})})};
}
Names repeated(OpenMaker& m, const OpenValue& x) {
  if (x.rank() == 0) return {};
  if (m.random.one_in(2)) {
    Ints repeats(x.rank(), 1);
    repeats[m.axis_of(x)] = 2;
    return {m.add("Tile", {x.name, m.ints(repeats)})};
  }
  const auto axis = static_cast<size_t>(m.axis_of(x));
  const std::string one = sliced(m, x.name, 0, 1, static_cast<int64_t>(axis));
  return {m.add("Expand", {one, m.add("Shape", {x.name})})};
}
Names product(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows()) return {};
  const int64_t features = m.random.of(Ints{1, 4, 8, 12, 16});
  const std::string w = m.weight({x.channels(), features});
  if (x.rank() == 2 && m.random.one_in(2)) return {m.add("Gemm", {x.name, w, m.weight({features})})};
  const std::string y = m.add("MatMul", {x.name, w});
  return {m.random.one_in(2)
              ? y
              : m.add(one_of(m, {"Relu", "Sigmoid"}), {m.add("Add", {y, m.weight({features})})})};
}
Names scores(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() < 2) return {};
  const std::string products =
      m.add("Mul", {m.add("MatMul", {x.name, with_last_two_swapped(m, x)}), m.number(0.2f)});
  const std::string masked =
      m.random.one_in(3)
          ? m.add("Trilu", {products, m.integer(m.random.between(-1, 1))}).with("upper", m.random.below(2))
          : products;
  return {m.add("MatMul", {m.add("Softmax", {masked}).with("axis", int64_t{-1}), x.name})};
}
Names attention(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows() || x.rank() != 3 || x.channels() % 2 != 0) return {};
  const int64_t c = x.channels();
  if (m.random.one_in(2))
    return {m.microsoft("Attention", {x.name, m.weight({c, 3 * c}), m.weight({3 * c})})
                .with("num_heads", int64_t{2})
                .with("unidirectional", m.random.below(2))};
  return {m.microsoft("MultiHeadAttention", {x.name, m.add("Tanh", {x.name}), x.name})
              .with("num_heads", int64_t{2})};
}
// A decoder's: a cache of the first steps of another sequence, and the new ones.
Names grouped(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows() || x.rank() != 3 || x.channels() % 2 != 0 || x.least(1) == 0) return {};
  const int64_t c = x.channels(), kv_heads = m.random.between(1, 2),
                heads = kv_heads * m.random.between(1, 2), size = 2 * m.random.between(1, 2);
  const auto projected = [&](int64_t width) { return m.add("MatMul", {x.name, m.weight({c, width})}); };
  const auto cache = [&] {
    const std::string cut = m.add("Reshape", {projected(kv_heads * size), m.ints({0, 0, kv_heads, size})}),
                      turned = m.add("Transpose", {cut}).with("perm", Ints{0, 2, 1, 3});
    return std::string(m.add(
        "Slice", {turned, m.ints({0}), m.add("Div", {m.extent_of(x.name, 1), m.ints({2})}), m.ints({2})}));
  };
  const std::string keys = cache(), values = cache();
  const std::string total = m.add("Add", {m.extent_of(keys, 2), m.extent_of(x.name, 1)}),
                    last = m.add("Expand", {m.add("Sub", {total, m.ints({1})}), m.extent_of(x.name, 0)});
  return m
      .microsoft(
          "GroupQueryAttention",
          {projected(heads * size), projected(kv_heads * size), projected(kv_heads * size), keys, values,
           m.add("Cast", {last}).with("to", int64_t{6}), m.add("Cast", {total}).with("to", int64_t{6})},
          3)
      .with("num_heads", heads)
      .with("kv_num_heads", kv_heads)
      .outputs;
}
Names einsum(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() != 3) return {};
  return {m.add("Einsum", {x.name, m.add("Tanh", {x.name})})
              .with("equation", one_of(m, {"ntc,nsc->nts", "ntc,ntd->ncd", "ntc,ntc->nt", "...c,...c->...",
                                           "ntc,nsc->st"}))};
}
Names recurrent(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows() || x.rank() != 3) return {};
  const std::string op = one_of(m, {"GRU", "LSTM", "RNN"}),
                    direction = one_of(m, {"forward", "reverse", "bidirectional"});
  const int64_t gates = op == "GRU"    ? 3
                        : op == "LSTM" ? 4
                                       : 1,
                directions = direction[0] == 'b' ? 2 : 1, hidden = 4;
  return m
      .add(op,
           {m.add("Transpose", {x.name}).with("perm", Ints{1, 0, 2}),
            m.weight({directions, gates * hidden, x.channels()}),
            m.weight({directions, gates * hidden, hidden})},
           2)
      .with("hidden_size", hidden)
      .with("direction", direction)
      .outputs;
}
Names scattered(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0 || x.least(0) == 0) return {};
  const std::string update = m.add("Tanh", {sliced(m, x.name, 0, 1, 0)});
  const std::string at = m.constant(
      HostTensor::of<int64_t>(DType::i64, {1, 1}, {m.random.between(-x.least(0), x.least(0) - 1)}));
  return {m.add("ScatterND", {x.name, at, update}).with("reduction", one_of(m, {"none", "add", "mul"}))};
}
Names chosen(OpenMaker& m, const OpenValue& x) {
  // Extents that depend on the data.
  if (!x.is_float() || x.rank() != 2) return {};
  const std::string sums = m.reduced("ReduceSum", x.name, {1}, false);
  return {m.add("Compress", {x.name, m.add("Greater", {sums, m.number(0)})}).with("axis", int64_t{0})};
}
Names shape_numbers(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() == 0) return {};
  const std::string count =
      m.add("Cast", {m.extent_of(x.name, static_cast<size_t>(m.axis_of(x)))}).with("to", int64_t{1});
  return {m.add("Div", {x.name, m.add("Add", {count, m.number(1)})})};
}
Names filled(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float()) return {};
  const std::string like = m.add("ConstantOfShape", {m.add("Shape", {x.name})});
  return {m.add("Sub", {like, x.name})};
}
Names reversed(OpenMaker& m, const OpenValue& x) {
  if (x.rank() < 2) return {};
  const std::string length = m.extent_of(x.name, 0), batch = m.extent_of(x.name, 1);
  return {m.add("ReverseSequence", {x.name, m.add("Expand", {length, batch})})
              .with("time_axis", int64_t{0})
              .with("batch_axis", int64_t{1})};
}

}  // namespace

const std::vector<OpenMotif>& open_motifs() {
  static const std::vector<OpenMotif> all = {
      {"unary", unary},           {"binary", binary},       {"compared", compared},
      {"reduction", reduction},   {"extreme", extreme},     {"softmax", softmax},
      {"normalized", normalized}, {"cumulated", cumulated}, {"slice", slice},
      {"concat", concat},         {"split", split},         {"pad", pad},
      {"gather", gather},         {"embedding", embedding}, {"topk", topk},
      {"moved", moved},           {"reshaped", reshaped},   {"windows", windows},
      {"repeated", repeated},     {"product", product},     {"scores", scores},
      {"attention", attention},   {"einsum", einsum},       {"recurrent", recurrent},
      {"scattered", scattered},   {"chosen", chosen},       {"shape_numbers", shape_numbers},
      {"filled", filled},         {"reversed", reversed},   {"grouped", grouped},
  };
  return all;
}

}  // namespace korch::fuzz
