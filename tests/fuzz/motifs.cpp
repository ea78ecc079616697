#include "motifs.h"

#include <algorithm>

#include "motif_parts.h"
#include "operators.h"

namespace korch::fuzz {
namespace motif {

// More than the second cache is summed.
void large_normalization(GraphMaker& m) {
  const int64_t rows = m.random.between(1, 2);
  m.enlarge(1 << 20);
  const ValueId x = m.input({DType::f32, {rows, 263000 + m.random.below(40)}});
  const double n = static_cast<double>(m.shape_of(x)[1]);
  const ValueId mean = m.must(Op::Div, kNone, {sum_of(m, x, {1}), scalar(m, x, n)});
  const ValueId d = m.must(Op::Sub, kNone, {x, mean});
  const ValueId variance =
      m.must(Op::Div, kNone, {sum_of(m, m.must(Op::Mul, kNone, {d, d}), {1}), scalar(m, x, n)});
  const ValueId root = m.must(Op::Sqrt, kNone, {m.must(Op::Add, kNone, {variance, scalar(m, x, 1e-5)})});
  m.must(Op::Div, kNone, {d, root});
}

void normalization(GraphMaker& m) {
  static const std::vector<Op> ops = {Op::LayerNormalization,
                                      Op::LayerNormalization,
                                      Op::GroupNormalization,
                                      Op::InstanceNormalization,
                                      Op::BatchNormalization,
                                      Op::Softmax,
                                      Op::LogSoftmax,
                                      Op::LpNormalization,
                                      Op::MeanVarianceNormalization};
  const auto y = grow(m, m.random.of(ops));
  if (!y) throw GraphMaker::GaveUp{};
  const ValueId z = dressed(m, *y, 3);
  if (m.shape_of(z).size() >= 2 && m.random.one_in(2)) dressed(m, matmul(m, z, m.extent(33)), 3);
}

namespace {

ValueId upsampled(GraphMaker& m, ValueId x) {
  const Shape s = m.shape_of(x);
  const int64_t a = m.random.between(1, 3), b = m.random.one_in(2) ? a : m.random.between(1, 3);
  const ValueId apart = reshape(m, x, {s[0], s[1], s[2], 1, s[3], 1});
  const ValueId repeated = m.must(Op::Expand, ShapeAttrs{{s[0], s[1], s[2], a, s[3], b}}, {apart});
  return reshape(m, repeated, {s[0], s[1], s[2] * a, s[3] * b});
}

}  // namespace

void upsampling(GraphMaker& m) {
  const ValueId x = m.input(
      {DType::f32, {few(m), m.random.between(1, 20), m.random.between(1, 7), m.random.between(1, 7)}});
  ValueId up = upsampled(m, x);
  const Shape shape = m.shape_of(up);
  const int64_t k = m.random.of(Ints{1, 1, 3, 3, 5});
  if (k > 1 && m.random.one_in(3)) {
    PadAttrs pad{{0, 0, k / 2, k / 2},
                 {0, 0, k / 2, k / 2},
                 m.random.one_in(2) ? PadMode::edge : PadMode::constant,
                 0};
    dressed(m, conv(m, m.must(Op::Pad, pad, {up}), m.random.between(1, 20), {k, k}, plain(1, 0)), 2);
    return;
  }
  if (m.random.one_in(2)) {
    Shape other = shape;
    other[1] = m.random.between(1, 20);
    std::vector<ValueId> parts = {up, m.operand({DType::f32, other})};
    if (m.random.one_in(2)) std::swap(parts[0], parts[1]);
    up = m.must(Op::Concat, AxisAttrs{1}, parts);
  } else if (m.random.one_in(3)) {
    up = activation(m, up);
  }
  dressed(m, conv(m, up, m.random.between(1, 24), {k, k}, plain(1, k / 2)), 3);
}

// Rearrangement, function, rearrangement back or another.
void layout_chain(GraphMaker& m) {
  ValueId x = m.pick_float(2, 5);
  const Shape start = m.shape_of(x);
  switch (m.random.below(5)) {
    case 0: {
      const Ints perm = random_permutation(m, start.size());
      Ints back(perm.size());
      for (size_t i = 0; i < perm.size(); ++i) back[perm[i]] = static_cast<int64_t>(i);
      dressed(m, transpose(m, activation(m, transpose(m, x, perm)), back), 2);
      return;
    }
    case 1: {
      const Shape to = random_factors(m, element_count(start), 3);
      dressed(m, reshape(m, activation(m, reshape(m, x, to)), start), 2);
      return;
    }
    case 2: {
      const int64_t axis = m.random.below(static_cast<int64_t>(start.size()));
      const ValueId both = activation(m, m.must(Op::Concat, AxisAttrs{axis}, {x, m.operand(m.type(x))}));
      const int64_t extent = m.shape_of(both)[axis];
      if (extent == 0) return;
      const int64_t first = m.random.below(extent);
      activation(m, slice(m, both, axis, first, m.random.between(1, extent - first)));
      return;
    }
    case 3: {
      const ValueId padded = activation(m, m.must(Op::Pad, random_pad(m, start), {x}));
      m.must(Op::Slice, random_slice(m, m.shape_of(padded)), {padded});
      return;
    }
    case 4:
      for (int64_t count = m.random.between(2, 5); count > 0; --count) {
        static const std::vector<Op> ops = {Op::Transpose, Op::Reshape, Op::Slice, Op::Pad, Op::Concat,
                                            Op::Gather,    Op::Expand,  Op::Relu,  Op::Add, Op::Tile};
        grow(m, m.random.of(ops));
      }
      return;
  }
}

void slices_concatenated(GraphMaker& m) {
  const ValueId x = m.input({floats(m), {few(m), m.random.between(2, 12), m.random.between(1, 9)}});
  const int64_t extent = m.shape_of(x)[1], cut = m.random.between(1, extent - 1);
  ValueId a = slice(m, x, 1, 0, cut), b = slice(m, x, 1, cut, extent - cut);
  const ValueId rope = m.must(Op::Concat, AxisAttrs{1}, {m.must(Op::Neg, kNone, {b}), a});
  dressed(m,
          m.random.one_in(2) ? m.must(Op::Concat, AxisAttrs{1}, {activation(m, a), activation(m, b)}) : rope,
          3);
}

// A value beside a part of itself, or beside itself in another shape: a kernel may see the same bytes twice.
void beside_itself(GraphMaker& m) {
  const int64_t rows = m.random.between(2, 9), columns = m.random.between(2, 33);
  const ValueId x = activation(m, m.input({floats(m), {rows, columns}}));
  ValueId other;
  switch (m.random.below(4)) {
    case 0:
      other = slice(m, x, 0, m.random.below(rows), 1);
      break;
    case 1:
      other = slice(m, x, 1, m.random.below(columns), 1);
      break;
    case 2:
      other = transpose(m, reshape(m, x, {columns, rows}), {1, 0});
      break;
    default:
      other = slice(m, reshape(m, x, {rows * columns}), 0, m.random.below((rows - 1) * columns), columns);
  }
  std::vector<ValueId> pair = {x, other};
  if (m.random.one_in(2)) std::swap(pair[0], pair[1]);
  dressed(m, m.must(m.random.of(std::vector<Op>{Op::Add, Op::Sub, Op::Mul}), kNone, pair), 2);
}

void repetition(GraphMaker& m) {
  Shape from = m.shape(static_cast<int>(m.random.between(1, 4)), 200);
  for (int64_t& extent : from)
    if (m.random.one_in(2)) extent = 1;
  Shape to = from;
  for (int64_t& extent : to)
    if (extent == 1) extent = m.random.between(1, 7);
  ValueId x = m.must(Op::Expand, ShapeAttrs{to}, {m.input({floats(m), from})});
  for (int64_t count = m.random.between(1, 3); count > 0; --count) x = activation(m, x);
  if (m.random.one_in(2)) m.add(Op::Add, kNone, {x, m.operand(m.type(x))});
}

void pools(GraphMaker& m) {
  // Along one axis too: two become one after the other.
  const bool row = m.random.one_in(3);
  const ValueId x = row ? prologue(m, m.input({floats(m), {few(m), m.random.between(1, 20), m.extent(33)}}))
                        : image(m, m.random.between(1, 20), 14);
  if (m.shape_of(x).size() < 3) throw GraphMaker::GaveUp{};  // a prologue reshaped it
  const size_t axes = m.shape_of(x).size() - 2;
  const auto centred = [&](int64_t k) {
    const auto all = [&](int64_t each) { return Ints(axes, each); };
    return PoolAttrs{all(k), all(1), all(1), all(k / 2), all(k / 2), false};
  };
  const int64_t k = m.random.of(Ints{3, 5});
  const ValueId a = m.must(Op::WindowMax, centred(k), {x});
  if (m.random.one_in(2)) {  // of pools
    const ValueId b = m.must(Op::WindowMax, centred(k), {a});
    if (m.random.one_in(2)) m.must(Op::Concat, AxisAttrs{1}, {x, a, b});
  } else {
    const ValueId b = m.must(Op::WindowMax, centred(k + m.random.of(Ints{2, 4, 8})), {x});
    if (m.random.one_in(2)) m.must(Op::Concat, AxisAttrs{1}, {x, a, b});
  }
}

// A loop, and something that reads what it makes.
void loops(GraphMaker& m) {
  if (!grow(m, Op::LoopBegin)) throw GraphMaker::GaveUp{};
  grow(m, m.random.of<Op>({Op::Exp, Op::ReduceSum, Op::Add, Op::MatMul, Op::LoopBegin}));
}

void one_operator(GraphMaker& m) {
  static const std::vector<Op> ops = [] {
    std::vector<Op> all;
#define X(name, ...) all.push_back(Op::name);
    KORCH_OPS(X)
#undef X
    return all;
  }();
  for (int64_t count = m.random.between(1, 5); count > 0; --count)
    for (int tries = 0; tries < 5 && !grow(m, m.random.of(ops)); ++tries) {
    }
}

void elementwise(GraphMaker& m) {
  ValueId x = m.pick_float();
  x = dressed(m, x, 5);
  if (m.random.one_in(3)) m.add(Op::Tanh, kNone, {m.must(Op::Softplus, kNone, {x})});
}

void reductions(GraphMaker& m) {
  static const std::vector<Op> ops = {Op::ReduceSum,  Op::ReduceMax,       Op::ReduceMin,
                                      Op::ReduceMean, Op::ReduceProd,      Op::ReduceL2,
                                      Op::Softmax,    Op::ReduceLogSumExp, Op::ArgMax};
  const ValueId x = m.pick_float(1);
  const auto y = grow(m, m.random.of(ops));
  if (y && m.type(*y).dtype == m.type(x).dtype) m.add(Op::Sub, kNone, {x, *y});
}

}  // namespace motif

const std::vector<Motif>& motifs() {
  static const std::vector<Motif> table = {
      {"one_operator", 30, motif::one_operator},
      {"rows_times_matrix", 12, motif::rows_times_matrix},
      {"pointwise", 8, motif::pointwise},
      {"convolution", 9, motif::convolution},
      {"winograd", 9, motif::winograd},
      {"strassen", 9, motif::strassen},
      {"grouped", 5, motif::grouped},
      {"depthwise", 9, motif::depthwise},
      {"small_attention", 5, motif::small_attention},
      {"large_attention", 4, motif::large_attention},
      {"long_attention", 2, motif::long_attention},
      {"quantized_product", 8, motif::quantized_product},
      {"narrow_product", 8, [](GraphMaker& m) { motif::narrow_product(m); }},
      {"large_normalization", 3, motif::large_normalization},
      {"normalization", 7, motif::normalization},
      {"upsampling", 18, motif::upsampling},
      {"merges", 14, motif::merges},
      {"scaling", 10, motif::scaling},
      {"factor_after", 5, motif::factor_after},
      {"matmul_chain", 3, motif::matmul_chain},
      {"sum_beside_matmul", 3, motif::sum_beside_matmul},
      {"rows_as_images", 13, motif::rows_as_images},
      {"layout_chain", 10, motif::layout_chain},
      {"slices_concatenated", 3, motif::slices_concatenated},
      {"beside_itself", 5, motif::beside_itself},
      {"repetition", 6, motif::repetition},
      {"pools", 9, motif::pools},
      {"patches", 3, motif::patches},
      {"focus", 4, motif::focus},
      {"transposed", 4, motif::transposed},
      {"large_kernel", 7, motif::large_kernel},
      {"strided", 9, motif::strided},
      {"library_chain", 24, motif::library_chain},
      {"elementwise", 6, motif::elementwise},
      {"reductions", 5, motif::reductions},
      {"loops", 4, motif::loops},
  };
  return table;
}

Graph random_graph(uint64_t seed, const std::string& only) {
  GraphMaker maker(seed);
  static const std::vector<DType> types = {DType::f32, DType::f32,  DType::f32, DType::f32,
                                           DType::f32, DType::f32,  DType::f32, DType::f32,
                                           DType::f16, DType::bf16, DType::f64};
  maker.float_type = maker.random.of(types);
  std::vector<Motif> drawn;
  int total = 0;
  for (const Motif& motif : motifs()) {
    if (!only.empty() && motif.name != only) continue;
    drawn.push_back(motif);
    total += motif.weight;
  }
  KORCH_ASSERT(!drawn.empty(), "a motif's name");
  const int64_t wanted = maker.random.between(1, 9);
  for (int tries = 0; tries < 12 && !maker.is_enlarged() && (tries == 0 || maker.computing_nodes() < wanted);
       ++tries) {
    int64_t at = maker.random.below(total);
    for (const Motif& motif : drawn) {
      at -= motif.weight;
      if (at >= 0) continue;
      try {
        motif.add(maker);
      } catch (const GraphMaker::GaveUp&) {
        // What it has added so far stays.
      }
      break;
    }
  }
  constexpr uint64_t kAnother = uint64_t{1} << 40;
  return maker.computing_nodes() > 0 ? maker.finish() : random_graph(seed + kAnother, only);
}

}  // namespace korch::fuzz
