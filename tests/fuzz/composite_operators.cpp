#include <algorithm>
#include <map>

#include "operator_parts.h"

namespace korch::fuzz {
namespace {

Grown normalization(GraphMaker& m, Op op) {
  const bool has_channels = op != Op::LayerNormalization && op != Op::LpNormalization;
  const ValueId x = m.pick_float(has_channels ? 3 : 1, 5);
  const Shape shape = m.shape_of(x);
  const DType dtype = m.type(x).dtype;
  NormAttrs norm;
  norm.epsilon = m.random.one_in(3) ? 1e-2F : 1e-5F;
  norm.axis = has_channels ? -1 : m.random.below(static_cast<int64_t>(shape.size()));
  std::vector<ValueId> inputs = {x};
  if (op == Op::LpNormalization) {
    norm.groups = m.random.between(1, 2);
    return m.add(op, norm, inputs);
  }
  if (op == Op::LayerNormalization) {
    if (m.random.one_in(2)) norm.axis = static_cast<int64_t>(shape.size()) - 1;
    const Shape rest(shape.begin() + norm.axis, shape.end());
    inputs.push_back(m.operand({dtype, rest}));
    if (m.random.one_in(2)) inputs.push_back(m.operand({dtype, rest}));
    return m.add(op, norm, inputs);
  }
  if (op == Op::GroupNormalization) {
    std::vector<int64_t> groups;
    for (int64_t g = 1; g <= shape[1]; ++g)
      if (shape[1] % g == 0) groups.push_back(g);
    if (groups.empty()) return std::nullopt;
    norm.groups = m.random.of(groups);
  }
  const int64_t each = op == Op::GroupNormalization && m.random.one_in(3) ? norm.groups : shape[1];
  const int parameters = op == Op::BatchNormalization ? 4 : 2;
  for (int i = 0; i < parameters; ++i)
    inputs.push_back(i == 3 ? m.constant({dtype, {each}}, Contents::positive) : m.operand({dtype, {each}}));
  return m.add(op, norm, inputs);
}

Grown einsum(GraphMaker& m) {
  static const std::vector<std::string> equations = {
      "ij,jk->ik",       "bij,bjk->bik",    "bij,bkj->bik",
      "bhid,bhjd->bhij", "bthd,bshd->bhts", "bhts,bshd->bthd",
      "ij->ji",          "ii->i",           "ij->i",
      "ij,ij->",         "i,j->ij",         "...ij,...jk->...ik",
      "bij,j->bi",       "abc,cd,de->abe",  "ij,ij->ij",
      "bic,bjc->bij",    "nchw,oc->nohw",   "i,i->"};
  const std::string equation = m.random.of(equations);
  std::map<char, int64_t> extents;
  for (char c = 'a'; c <= 'z'; ++c) extents[c] = m.extent(12);
  std::vector<Shape> shapes(1);
  for (size_t i = 0; i < equation.size() && equation[i] != '-'; ++i) {
    if (equation[i] == ',') shapes.emplace_back();
    if (equation[i] >= 'a' && equation[i] <= 'z') shapes.back().push_back(extents[equation[i]]);
    if (equation.compare(i, 3, "...") == 0) shapes.back().push_back(3);
  }
  std::vector<ValueId> inputs;
  for (const Shape& shape : shapes) inputs.push_back(m.operand({m.float_type, shape}));
  return m.add(Op::Einsum, EinsumAttrs{equation}, inputs);
}

Grown resize(GraphMaker& m) {
  const ValueId x = m.pick_float(3, 4);
  const Shape shape = m.shape_of(x);
  ResizeAttrs attrs;
  static const std::vector<double> scales = {1, 2, 2, 3, 0.5, 1.5, 4, 0.75};
  for (size_t i = 0; i < shape.size(); ++i) {
    const double scale = i < 2 ? 1 : m.random.of(scales);
    attrs.sizes.push_back(static_cast<int64_t>(static_cast<double>(shape[i]) * scale));
    attrs.scales.push_back(scale);
    if (attrs.sizes.back() == 0) return std::nullopt;
  }
  if (m.random.one_in(2)) std::fill(attrs.scales.begin() + 2, attrs.scales.end(), attrs.scales.back());
  for (size_t i = 0; i < shape.size(); ++i) {
    attrs.sizes[i] = static_cast<int64_t>(static_cast<double>(shape[i]) * attrs.scales[i]);
    if (attrs.sizes[i] == 0) return std::nullopt;
  }
  static const std::vector<std::string> modes = {"nearest", "nearest", "linear", "cubic"},
                                        coordinates = {"half_pixel", "asymmetric", "align_corners",
                                                       "pytorch_half_pixel"},
                                        nearest = {"round_prefer_floor", "floor", "ceil",
                                                   "round_prefer_ceil"};
  attrs.mode = m.random.of(modes);
  attrs.coordinate_mode = m.random.of(coordinates);
  attrs.nearest_mode = m.random.of(nearest);
  attrs.exclude_outside = attrs.mode == "cubic" && m.random.one_in(2);
  return m.add(Op::Resize, attrs, {x});
}

}  // namespace

Grown composite(GraphMaker& m, Op op) {
  switch (op) {
    case Op::LayerNormalization:
    case Op::InstanceNormalization:
    case Op::GroupNormalization:
    case Op::BatchNormalization:
    case Op::LpNormalization:
      return normalization(m, op);
    case Op::Gemm: {
      const ValueId x = m.pick_float(2, 2);
      GemmAttrs attrs{m.random.one_in(2) ? 1.0 : 0.5, m.random.one_in(2) ? 1.0 : 2.0, m.random.one_in(3),
                      m.random.one_in(2)};
      const int64_t rows = m.shape_of(x)[attrs.transpose_a ? 1 : 0],
                    inner = m.shape_of(x)[attrs.transpose_a ? 0 : 1];
      const int64_t columns = m.extent(40);
      std::vector<ValueId> inputs = {
          x, m.operand({m.type(x).dtype, attrs.transpose_b ? Shape{columns, inner} : Shape{inner, columns}})};
      static const std::vector<int> biases = {0, 1, 2, 3};
      const int bias = m.random.of(biases);
      if (bias == 1) inputs.push_back(m.operand({m.type(x).dtype, {columns}}));
      if (bias == 2) inputs.push_back(m.operand({m.type(x).dtype, {rows, columns}}));
      if (bias == 3) inputs.push_back(m.operand({m.type(x).dtype, {rows, 1}}));
      return m.add(op, attrs, inputs);
    }
    case Op::Einsum:
      return einsum(m);
    case Op::Resize:
      return resize(m);
    case Op::AveragePool:
      return window(m, op);
    case Op::LRN:
      return m.add(op, LrnAttrs{0.1F, 0.75F, 1, m.random.between(1, 5)}, {m.pick_float(3, 4)});
    case Op::Sum:
    case Op::Mean:
    case Op::VariadicMax:
    case Op::VariadicMin: {
      const ValueId x = m.pick_float();
      std::vector<ValueId> inputs = {x};
      for (int64_t more = m.random.below(4); more > 0; --more)
        inputs.push_back(m.operand({m.type(x).dtype, partner(m, m.shape_of(x))}));
      return m.add(op, NoAttrs{}, inputs);
    }
    case Op::Gelu:
    case Op::Mish:
      return unary(m, op);
    case Op::Tile: {
      const ValueId x = m.random.one_in(5) ? anything(m) : m.pick_float();
      Shape repeats;
      for (size_t i = 0; i < m.shape_of(x).size(); ++i)
        repeats.push_back(m.random.one_in(2) ? 1 : m.random.between(1, 3));
      return m.add(op, ShapeAttrs{repeats}, {x});
    }
    case Op::DepthToSpace:
    case Op::DepthToSpaceCRD:
    case Op::SpaceToDepth: {
      const int64_t block = m.random.between(1, 3);
      const bool to_depth = op == Op::SpaceToDepth;
      if (const Grown result = m.add(op, AxisAttrs{block}, {m.pick_float(4, 4)})) return result;
      const int64_t h = m.random.between(1, 5), w = m.random.between(1, 5), c = m.random.between(1, 5);
      const Shape shape = to_depth ? Shape{1, c, h * block, w * block}
                                   : Shape{m.random.between(1, 2), c * block * block, h, w};
      return m.add(op, AxisAttrs{block}, {m.input({m.float_type, shape})});
    }
    case Op::OneHot: {
      const ValueId indices = m.random.one_in(2)
                                  ? m.input({DType::i64, m.shape(static_cast<int>(m.random.below(3)), 30)})
                                  : m.constant({DType::i64, m.shape(2, 30)});
      const auto rank = static_cast<int64_t>(m.shape_of(indices).size());
      return m.add(op, OneHotAttrs{m.random.below(rank + 1), m.random.between(1, 9)},
                   {indices, m.operand({m.float_type, {2}})});
    }
    case Op::Trilu:
      return m.add(op, ScanAttrs{m.random.between(-2, 2), false, m.random.one_in(2)}, {m.pick_float(2)});
    case Op::Softmax:
    case Op::LogSoftmax:
    case Op::Hardmax: {
      const ValueId x = m.pick_float(1);
      const auto rank = static_cast<int64_t>(m.shape_of(x).size());
      return m.add(op, AxisAttrs{m.random.one_in(2) ? rank - 1 : m.random.below(rank)}, {x});
    }
    default:  // all that reduce
      return reduce(m, op);
  }
}

}  // namespace korch::fuzz
