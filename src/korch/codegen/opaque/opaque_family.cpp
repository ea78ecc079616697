#include "korch/codegen/opaque/opaque_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "korch/codegen/loop/index_map.h"
#include "korch/codegen/opaque/primitive_kernel.h"

namespace korch {
namespace {

using namespace tile;

constexpr int64_t kElementsPerSlice = 4096;
constexpr int64_t kLeastChunk = 16;  // of the innermost axis: a cache line

int64_t elements(const Shape& shape, size_t from, size_t to) {
  return element_count(Shape(shape.begin() + from, shape.begin() + to));
}

Shape joined(const Shape& a, const Shape& b) {
  Shape result = a;
  result.insert(result.end(), b.begin(), b.end());
  return result;
}

// Loops over a shape, row-major: the inner ones in a slice, the outer ones in the grid.
struct Walk {
  std::vector<GridVariable> grid;
  std::vector<LoopVariable> loops;
  std::vector<Index> at;  // per axis of the shape
};

// Slices of about kElementsPerSlice elements, where a point stands for `weight` of them.
Walk walk(const Shape& shape, int64_t weight = 1) {
  Walk result;
  result.at.resize(shape.size());
  int64_t inside = weight;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const LoopVariable variable{fmt::format("i{}", axis), shape[axis]};
    if (variable.extent == 1) continue;
    result.at[axis] = Index::variable(variable.name, variable.extent);
    const int64_t least = axis + 1 == shape.size() && weight > 1 ? kLeastChunk : 1;
    const int64_t chunk = std::max(least, kElementsPerSlice / inside);
    if (chunk > 1) result.loops.insert(result.loops.begin(), variable);
    if (chunk < variable.extent)
      result.grid.insert(result.grid.begin(), {variable, std::max<int64_t>(chunk, 1)});
    inside *= chunk < variable.extent ? std::max(kElementsPerSlice, inside) : variable.extent;
  }
  return result;
}

// All of it in one slice, in order.
Walk walk_in_order(const Shape& shape) {
  Walk result;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    result.at.push_back(Index::variable(fmt::format("i{}", axis), shape[axis]));
    if (shape[axis] > 1) result.loops.push_back({fmt::format("i{}", axis), shape[axis]});
  }
  return result;
}

void add_map(PrimitiveKernel& j, NestKind kind, Walk walk, int buffer, const Index& offset, int value) {
  Nest nest;
  nest.kind = kind;
  nest.loops = std::move(walk.loops);
  nest.stores = {{buffer, offset, value}};
  j.add_nest(std::move(walk.grid), std::move(nest));
}

void copy_data(PrimitiveKernel& j) {
  const Walk w = walk({j.outputs[0].elements()});
  add_map(j, NestKind::map, w, j.out[0], w.at[0], j.load(0, w.at[0]));
}

// The element of the data that the element `at` of the indices addresses: on one axis the index, on the
// others its own coordinate.
Index addressed_element(PrimitiveKernel& j, const std::vector<Index>& at) {
  const auto axis = static_cast<size_t>(j.attrs<AxisAttrs>().axis);
  std::vector<Index> coords = at;
  coords[axis] = j.checked_index(flatten(at, j.inputs[1].shape), j.inputs[0].shape[axis]);
  return flatten(coords, j.inputs[0].shape);
}

// The tuples along the last axis of the indices address slices of the data's axes after the batch axes; of
// the slice of tuple `at` (without its last coordinate, which counts the slice's elements).
struct Slices {
  Shape walked;  // tuples, then elements of a slice
  int64_t length = 1;
};
Slices slices_of_tuples(const PrimitiveKernel& j, int64_t batch_axes) {
  const Shape &data = j.inputs[0].shape, &indices = j.inputs[1].shape;
  Slices result;
  result.length = elements(data, batch_axes + indices.back(), data.size());
  result.walked = joined(Shape(indices.begin(), indices.end() - 1), {result.length});
  return result;
}

Index addressed_slice(PrimitiveKernel& j, const std::vector<Index>& at, int64_t batch_axes) {
  const Shape &data = j.inputs[0].shape, &indices = j.inputs[1].shape;
  const Shape strides = row_major_strides(data);
  const int64_t depth = indices.back();
  std::vector<Index> tuple(at.begin(), at.end() - 1);
  Index offset = at.back();
  for (int64_t axis = 0; axis < batch_axes; ++axis) offset = offset + tuple[axis] * strides[axis];
  tuple.emplace_back(0);
  for (int64_t d = 0; d < depth; ++d) {
    const int64_t axis = batch_axes + d;
    tuple.back() = Index(d);
    offset = offset + j.checked_index(flatten(tuple, indices), data[axis]) * strides[axis];
  }
  return offset;
}

// Later updates of one element win, so one slice does them all, in order.
void scatter_elements(PrimitiveKernel& j) {
  copy_data(j);
  const Walk w = walk_in_order(j.inputs[1].shape);
  add_map(j, NestKind::scatter, w, j.out[0], addressed_element(j, w.at),
          j.load(2, flatten(w.at, j.inputs[1].shape)));
}

void gather_nd(PrimitiveKernel& j) {
  const int64_t batch_axes = j.attrs<AxisAttrs>().axis;
  const Shape walked = slices_of_tuples(j, batch_axes).walked;
  const Walk w = walk(walked);
  add_map(j, NestKind::map, w, j.out[0], flatten(w.at, walked),
          j.load(0, addressed_slice(j, w.at, batch_axes)));
}

void scatter_nd(PrimitiveKernel& j) {
  copy_data(j);
  const Shape walked = slices_of_tuples(j, 0).walked;
  const Walk w = walk_in_order(walked);
  add_map(j, NestKind::scatter, w, j.out[0], addressed_slice(j, w.at, 0), j.load(2, flatten(w.at, walked)));
}

// A tensor as rows along an axis: [before, extent, after].
struct Rows {
  int64_t before, extent, after;
  Index element(const Walk& w, const Index& along, int64_t count) const {
    return flatten({w.at[0], along, w.at[1]}, {before, count, after});
  }
};
Rows rows_of(const Shape& shape, int64_t axis) {
  return {elements(shape, 0, axis), shape[axis], elements(shape, axis + 1, shape.size())};
}

void reduce_along(Nest& nest, const std::string& name, int64_t extent) {
  if (extent > 1) nest.reduced.push_back({name, extent});
}

void cum_sum(PrimitiveKernel& j) {
  const auto& attrs = j.attrs<ScanAttrs>();
  const Rows rows = rows_of(j.inputs[0].shape, attrs.axis);
  Walk w = walk({rows.before, rows.after}, rows.extent);
  const Index step = Index::variable("r0", rows.extent);
  const auto along = [&](const Index& at) { return attrs.reverse ? Index(rows.extent - 1) - at : at; };
  Nest nest;
  nest.kind = NestKind::scan;
  nest.loops = w.loops;
  reduce_along(nest, "r0", rows.extent);
  int value = j.load(0, rows.element(w, along(attrs.exclusive ? step - 1 : step), rows.extent));
  if (attrs.exclusive)
    value = j.graph.pool.guard(Condition().require(step, 1, rows.extent - 1), value,
                               j.graph.pool.constant(j.inputs[0].dtype, 0));
  nest.stores = {{j.out[0], rows.element(w, along(step), rows.extent), value}};
  j.add_nest(std::move(w.grid), std::move(nest));
}

void top_k(PrimitiveKernel& j) {
  const auto& attrs = j.attrs<TopKAttrs>();
  const Rows rows = rows_of(j.inputs[0].shape, attrs.axis);
  Walk w = walk({rows.before, rows.after}, rows.extent);
  Nest nest;
  nest.kind = NestKind::top_k;
  nest.combine = attrs.largest ? ScalarFn::max : ScalarFn::min;
  nest.loops = w.loops;
  nest.reduced = {{"r0", rows.extent}};
  nest.rank = {"k0", attrs.k};
  const int value = j.load(0, rows.element(w, Index::variable("r0", rows.extent), rows.extent));
  const Index place = rows.element(w, Index::variable("k0", attrs.k), attrs.k);
  int positions = j.out[1];
  if (positions < 0) {
    positions = j.add_buffer(BufferRole::temporary, j.outputs[1]);
  }
  nest.stores = {{positions, place, value}};
  if (j.out[0] >= 0) nest.stores.push_back({j.out[0], place, value});
  j.add_nest(std::move(w.grid), std::move(nest));
}

// Of boxes one by one, the best that overlaps none before it. In float64: what is as large as the threshold
// in float32 is so everywhere.
void non_max_suppression(PrimitiveKernel& j) {
  const auto& attrs = j.attrs<SuppressionAttrs>();
  const Shape &boxes = j.inputs[0].shape, &scores = j.inputs[1].shape;
  Walk w = walk({scores[0], scores[1]}, scores[2]);
  ExprPool& pool = j.graph.pool;
  const auto call = [&](ScalarFn fn, int a, int b) { return pool.call(fn, DType::f64, {a, b}); };
  const Index along = Index::variable("r0", scores[2]), taken = Index::variable("r1", scores[2]);
  const auto coordinate = [&](const Index& box, int64_t number) {
    return pool.call(ScalarFn::cast, DType::f64, {j.load(0, flatten({w.at[0], box, Index(number)}, boxes))});
  };
  const auto extent = [&](const Index& box, int64_t axis) {
    return call(ScalarFn::sub, coordinate(box, axis + 2), coordinate(box, axis));
  };
  const auto shared = [&](int64_t axis) {
    const int end = call(ScalarFn::min, coordinate(along, axis + 2), coordinate(taken, axis + 2)),
              begin = call(ScalarFn::max, coordinate(along, axis), coordinate(taken, axis));
    return call(ScalarFn::max, pool.constant(DType::f64, 0), call(ScalarFn::sub, end, begin));
  };
  const auto area = [&](const Index& box) { return call(ScalarFn::mul, extent(box, 0), extent(box, 1)); };
  const int both = call(ScalarFn::mul, shared(0), shared(1));
  const int any = call(ScalarFn::sub, call(ScalarFn::add, area(along), area(taken)), both);
  const int excluded =
      pool.call(ScalarFn::lt, DType::bool_,
                {pool.constant(DType::f64, attrs.threshold), call(ScalarFn::div, both, any)});
  const int work = j.add_buffer(BufferRole::temporary, {DType::i64, scores});
  Nest nest;
  nest.kind = NestKind::suppress;
  nest.combine = ScalarFn::max;
  nest.loops = w.loops;
  nest.reduced = {{"r0", scores[2]}, {"r1", scores[2]}};
  nest.rank = {"k0", attrs.k};
  const Index place = flatten({w.at[0], w.at[1], Index::variable("k0", attrs.k)}, j.outputs[0].shape);
  const Index element = flatten({w.at[0], w.at[1], along}, scores);
  nest.stores = {{j.out[0], place, j.load(1, element)}, {work, element, excluded}};
  j.add_nest(std::move(w.grid), std::move(nest));
}

// The flat position of each window's maximum in the whole input; the first of equals.
void max_pool_indices(PrimitiveKernel& j) {
  const auto& pool = j.attrs<PoolAttrs>();
  const Shape &in = j.inputs[0].shape, &out = j.outputs[0].shape;
  Walk w = walk(out, element_count(pool.kernel));
  Nest nest;
  nest.kind = NestKind::arg_reduce;
  nest.combine = ScalarFn::max;
  nest.nan_wins = false;
  nest.loops = w.loops;
  std::vector<Index> taps;
  for (size_t s = 0; s < pool.kernel.size(); ++s) {
    const std::string name = fmt::format("r{}", s);
    reduce_along(nest, name, pool.kernel[s]);
    taps.push_back(Index::variable(name, pool.kernel[s]));
  }
  const MappedRead read = read_at(index_maps(j.node.op, pool, j.inputs, out), 0, w.at, taps);
  nest.position = flatten(read.coords, in);
  nest.stores = {{j.out[0], flatten(w.at, out), j.load(0, nest.position), read.when}};
  j.add_nest(std::move(w.grid), std::move(nest));
}

using Builder = void (*)(PrimitiveKernel&);

const std::map<Op, Builder>& builders() {
  static const std::map<Op, Builder> table = {
      {Op::GatherND, gather_nd},
      {Op::ScatterElements, scatter_elements},
      {Op::ScatterND, scatter_nd},
      {Op::CumSum, cum_sum},
      {Op::TopK, top_k},
      {Op::NonMaxSuppression, non_max_suppression},
      {Op::MaxPoolIndices, max_pool_indices},
  };
  return table;
}

// Why there is no kernel for these operands and results.
std::optional<Refusal> unsupported(const Graph& graph, const Node& node) {
  const bool computes = node.op == Op::CumSum || node.op == Op::TopK || node.op == Op::MaxPoolIndices;
  for (const std::vector<ValueId>* list : {&node.inputs, &node.outputs})
    for (ValueId value : *list) {
      const TensorType& type = graph.value(value).type;
      if (type.elements() == 0)
        return Refusal{RefusalReason::no_kernel_family, "no elements: " + to_string(type)};
      if (computes && is_small_float(type.dtype))
        return Refusal{RefusalReason::unsupported_type, to_string(type)};
    }
  return std::nullopt;
}

}  // namespace

void list_opaque(const Graph& graph, const Candidate& candidate, const Device&, Accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  if (candidate.nodes.size() != 1 || builders().count(graph.node(candidate.nodes[0]).op) == 0) return;
  if (const std::optional<Refusal> refusal = unsupported(graph, graph.node(candidate.nodes[0]))) {
    refused.push_back(*refusal);
    return;
  }
  Implementation implementation;
  implementation.family = "opaque";
  implementation.input_layouts.resize(candidate.inputs.size());
  implementation.output_layouts.resize(candidate.outputs.size());
  for (ValueId value : candidate.outputs)
    implementation.bytes += static_cast<double>(graph.value(value).type.bytes());
  found.push_back(std::move(implementation));
}

Result<ScheduledGraph> build_opaque(const Graph& graph, const Candidate& candidate, const Implementation&,
                                    const Device&) {
  PrimitiveKernel j = primitive_kernel(graph, candidate);
  builders().at(j.node.op)(j);
  for (const Phase& phase : j.graph.phases)
    for (const Nest& nest : phase.nests)
      if (nest.stores[0].condition.always_false())
        return Refusal{RefusalReason::no_kernel_family, "windows without an element"};
  return std::move(j.graph);
}

}  // namespace korch
