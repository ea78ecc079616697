// Operators that only move elements, and masks made from positions.
#include <algorithm>

#include "korch/fission/rules.h"
#include "korch/ir/index_map.h"

namespace korch::rules {

ValueId concat_of_many(Emitter& e, const Node& node, const Inputs& in) {
  Inputs parts = in;
  while (parts.size() > 1) {
    Inputs wider;
    for (size_t i = 0; i < parts.size(); i += kMostConcatInputs) {
      const Inputs some(parts.begin() + i, parts.begin() + std::min(i + kMostConcatInputs, parts.size()));
      wider.push_back(some.size() == 1 ? some[0] : e.emit(Op::Concat, node.attrs, some));
    }
    parts = std::move(wider);
  }
  return parts[0];
}

ValueId tile(Emitter& e, const Node& node, const Inputs& in) {
  const Shape& repeats = std::get<ShapeAttrs>(node.attrs).shape;
  const Shape shape = e.shape(in[0]);
  Shape split, expanded, result;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    // An axis of extent 1 expands in place; any other gets the repetition as an axis before it.
    if (repeats[axis] != 1 && shape[axis] != 1) {
      split.push_back(1);
      expanded.push_back(repeats[axis]);
    }
    split.push_back(shape[axis]);
    expanded.push_back(shape[axis] == 1 ? repeats[axis] : shape[axis]);
    result.push_back(shape[axis] * repeats[axis]);
  }
  return e.reshape(e.expand(e.reshape(in[0], split), expanded), result);
}

ValueId blocks(Emitter& e, const Node& node, const Inputs& in) {
  const IndexMaps maps = index_maps(node.op, node.attrs, {{e.dtype(in[0]), e.shape(in[0])}}, {});
  const IndexMap& map = maps.operands[0];
  std::vector<int64_t> perm(map.view.size());
  for (size_t axis = 0; axis < perm.size(); ++axis)
    perm[map.coordinates[axis].axis] = static_cast<int64_t>(axis);
  return e.reshape(e.transpose(e.reshape(in[0], map.operand), perm), maps.result);
}

ValueId one_hot(Emitter& e, const Node& node, const Inputs& in) {
  const OneHotAttrs& attrs = std::get<OneHotAttrs>(node.attrs);
  Shape shape = e.shape(in[0]);
  const int64_t rank = static_cast<int64_t>(shape.size()) + 1;
  const int64_t axis = attrs.axis < 0 ? attrs.axis + rank : attrs.axis;
  shape.insert(shape.begin() + axis, 1);

  ValueId index = e.reshape(in[0], shape);
  if (e.dtype(index) != DType::i64) index = e.emit(Op::Cast, CastAttrs{DType::i64}, {index});
  const ValueId negative = e.emit(Op::Less, {index, e.scalar_like(index, 0)});
  const ValueId from_end = e.shifted(index, static_cast<double>(attrs.depth));
  const ValueId position = e.emit(Op::Where, {negative, from_end, index});

  const ValueId iota = e.along_axis(e.int_constant({attrs.depth}, axis_range(0, attrs.depth)), axis, rank);
  const ValueId off = e.reshape(e.emit(Op::Slice, SliceAttrs{{0}, {1}, {1}}, {in[1]}), {});
  const ValueId on = e.reshape(e.emit(Op::Slice, SliceAttrs{{1}, {1}, {1}}, {in[1]}), {});
  return e.emit(Op::Where, {e.emit(Op::Equal, {iota, position}), on, off});
}

ValueId trilu(Emitter& e, const Node& node, const Inputs& in) {
  const ScanAttrs& attrs = std::get<ScanAttrs>(node.attrs);
  const int64_t diagonal = attrs.axis;
  const bool upper = attrs.reverse;
  const Shape shape = e.shape(in[0]);
  const int64_t rows = shape[shape.size() - 2];
  const int64_t columns = shape[shape.size() - 1];
  HostTensor mask(TensorType{DType::bool_, {rows, columns}});
  uint8_t* kept = mask.mutable_data<uint8_t>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      kept[i * columns + j] = upper ? j >= i + diagonal : j <= i + diagonal;
    }
  }
  return e.emit(Op::Where, {e.constant(mask), in[0], e.scalar_like(in[0], 0)});
}

}  // namespace korch::rules
