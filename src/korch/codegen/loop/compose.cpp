#include "korch/codegen/loop/compose.h"

#include <algorithm>
#include <set>

#include "korch/codegen/loop/index_map.h"

namespace korch::tile {
namespace {

constexpr int64_t kUnrolledWindow = 32;  // larger windows loop over their rows; the text would grow too long
constexpr size_t kShallow = 500;         // primitives that recursion may go through one after the other
constexpr int64_t kUnrolledRow = 256;    // and larger rows over their elements

bool is_comparison(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::eq:
    case ScalarFn::lt:
    case ScalarFn::le:
    case ScalarFn::is_nan:
    case ScalarFn::is_inf:
    case ScalarFn::logical_and:
    case ScalarFn::logical_or:
    case ScalarFn::logical_xor:
    case ScalarFn::logical_not:
      return true;
    default:
      return false;
  }
}

// Evaluates a ScalarExpr over already composed operands. A literal takes the type of its sibling operand.
class Terms {
 public:
  Terms(const ScalarExpr& expr, const ScalarAttrs& scalars, std::vector<int> operands, DType result,
        ExprPool& pool)
      : expr_(expr), scalars_(scalars), operands_(std::move(operands)), result_(result), pool_(pool) {}

  int evaluate() { return term(static_cast<int>(expr_.terms.size()) - 1, pool_[operands_[0]].type); }

 private:
  std::optional<DType> type_of(int index) const {
    const ScalarExpr::Term& t = expr_.terms[index];
    switch (t.fn) {
      case ScalarFn::arg0:
        return pool_[operands_[0]].type;
      case ScalarFn::arg1:
        return pool_[operands_[1]].type;
      case ScalarFn::arg2:
        return pool_[operands_[2]].type;
      case ScalarFn::alpha:
      case ScalarFn::beta:
      case ScalarFn::constant:
        return std::nullopt;
      case ScalarFn::cast:
        return result_;
      default:
        break;
    }
    if (is_comparison(t.fn)) return DType::bool_;
    for (int operand : {t.fn == ScalarFn::select ? -1 : t.a, t.b, t.c}) {
      if (operand < 0) continue;
      if (const std::optional<DType> type = type_of(operand)) return type;
    }
    return std::nullopt;
  }

  DType sibling_type(int a, int b) const {
    if (const std::optional<DType> type = type_of(a)) return *type;
    if (b >= 0)
      if (const std::optional<DType> type = type_of(b)) return *type;
    return pool_[operands_[0]].type;
  }

  int term(int index, DType wanted) {
    const ScalarExpr::Term& t = expr_.terms[index];
    switch (t.fn) {
      case ScalarFn::arg0:
        return operands_[0];
      case ScalarFn::arg1:
        return operands_[1];
      case ScalarFn::arg2:
        return operands_[2];
      case ScalarFn::alpha:
        return pool_.constant(wanted, scalars_.alpha);
      case ScalarFn::beta:
        return pool_.constant(wanted, scalars_.beta);
      case ScalarFn::constant:
        return pool_.constant(wanted, t.value);
      case ScalarFn::cast:
        return pool_.call(t.fn, result_, {term(t.a, wanted)});
      default:
        break;
    }
    if (t.fn == ScalarFn::select) {
      const DType type = type_of(t.b) || type_of(t.c) ? sibling_type(t.b, t.c) : wanted;
      return pool_.call(t.fn, type, {term(t.a, DType::bool_), term(t.b, type), term(t.c, type)});
    }
    const DType type = sibling_type(t.a, t.b);
    std::vector<int> args = {term(t.a, type)};
    if (t.b >= 0) args.push_back(term(t.b, type));
    return pool_.call(t.fn, is_comparison(t.fn) ? DType::bool_ : type, std::move(args));
  }

  const ScalarExpr& expr_;
  const ScalarAttrs scalars_;
  std::vector<int> operands_;
  DType result_;
  ExprPool& pool_;
};

}  // namespace

int apply_elementwise(ExprPool& pool, Op op, const ScalarAttrs& scalars, std::vector<int> operands,
                      DType result) {
  return Terms(scalar_semantics(op), scalars, std::move(operands), result, pool).evaluate();
}

std::optional<ScalarFn> combine_function(Op op) {
  switch (op) {
    case Op::ReduceSum:
    case Op::WindowSum:
    case Op::WindowDot:
    case Op::MatMul:
    case Op::Conv:
    case Op::ConvTranspose:
      return ScalarFn::add;
    case Op::ReduceProd:
      return ScalarFn::mul;
    case Op::ReduceMax:
    case Op::ArgMax:
    case Op::WindowMax:
      return ScalarFn::max;
    case Op::ReduceMin:
    case Op::ArgMin:
      return ScalarFn::min;
    default:
      return std::nullopt;
  }
}

Shape product_extents(const Graph& graph, const Node& node) {
  const Shape& data = graph.value(node.inputs[0]).type.shape;
  if (node.op == Op::MatMul)
    return {std::get<MatMulAttrs>(node.attrs).transpose_a ? data[data.size() - 2] : data.back()};
  return {data[1] / std::get<ConvAttrs>(node.attrs).group};
}

int64_t window_size(const PoolAttrs& pool) {
  int64_t size = 1;
  for (int64_t extent : pool.kernel) size *= extent;
  return size;
}

Composer::Composer(const Graph& graph, const Candidate& candidate, std::map<ValueId, Argument> memory,
                   ExprPool& pool)
    : graph_(graph), memory_(std::move(memory)), pool_(pool) {
  for (NodeId node : candidate.nodes)
    for (ValueId output : graph.node(node).outputs) producers_[output] = node;
}

void Composer::set_stage(ValueId value, bool on) {
  if (on)
    stages_[value] = 1;
  else
    stages_.erase(value);
  memo_.clear();
}

void Composer::clear_counts() {
  evaluations_.clear();
  memo_.clear();
}

const Node* Composer::producer(ValueId value) const {
  const auto found = producers_.find(value);
  return found == producers_.end() ? nullptr : &graph_.node(found->second);
}

int Composer::read(ValueId value, const std::vector<Index>& coords) {
  const TensorType& type = graph_.value(value).type;
  if (const HostTensor* constant = graph_.constant(value); constant != nullptr && constant->elements() == 1) {
    if (is_float(type.dtype)) return pool_.constant(type.dtype, element_as_double(*constant, 0));
    Expr e;
    e.type = type.dtype;
    e.integer = element_as_int(*constant, 0);
    return pool_.add(std::move(e));
  }
  const auto found = memory_.find(value);
  KORCH_ASSERT(found != memory_.end(), "value '" + graph_.value(value).name + "' lies nowhere");
  Expr e;
  e.kind = ExprKind::load;
  e.type = type.dtype;
  e.buffer = found->second.number;
  e.coords = {memory_offset(coords, type.shape, found->second.layout)};
  return pool_.add(std::move(e));
}

std::string Composer::obstacle(ValueId value) const {
  std::vector<ValueId> pending = {value};
  std::set<ValueId> seen;
  while (!pending.empty()) {
    const ValueId at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second || is_stage(at)) continue;
    const Node* node = producer(at);
    if (node == nullptr) continue;
    switch (info(node->op).category) {
      case Category::elementwise:
      case Category::window:
      case Category::layout:
        break;
      case Category::reduce:
      case Category::constant:
      case Category::linear:
      case Category::opaque:
      case Category::composite:
        return std::string(korch::name(node->op)) + " cannot be computed element by element";
    }
    pending.insert(pending.end(), node->inputs.begin(), node->inputs.end());
  }
  return {};
}

int Composer::compose(ValueId value, const std::vector<Index>& coords) {
  if (is_stage(value)) {
    Expr e;
    e.kind = ExprKind::stage;
    e.type = graph_.value(value).type.dtype;
    e.value = value;
    e.coords = coords;
    return pool_.add(std::move(e));
  }
  return define(value, coords);
}

int Composer::define(ValueId value, const std::vector<Index>& coords) {
  if (producers_.size() > kShallow) define_operands(value, coords);
  return define_one(value, coords);
}

void Composer::define_operands(ValueId value, const std::vector<Index>& coords) {
  struct Pending {
    ValueId value;
    std::vector<Index> coords;
    bool expanded;
  };
  std::vector<Pending> pending = {{value, coords, false}};
  while (!pending.empty()) {
    const Pending at = pending.back();
    if (at.expanded || memo_.count({at.value, at.coords}) != 0) {
      pending.pop_back();
      if (pending.empty()) return;  // the root is the caller's
      define_one(at.value, at.coords);
      continue;
    }
    pending.back().expanded = true;
    const Node* node = producer(at.value);
    if (node == nullptr) continue;
    const auto add = [&](ValueId operand, std::vector<Index> place) {
      if (!is_stage(operand) && producer(operand) != nullptr)
        pending.push_back({operand, std::move(place), false});
    };
    const Category category = info(node->op).category;
    if (category == Category::elementwise)
      for (ValueId input : node->inputs)
        add(input, broadcast_coords(at.coords, graph_.value(input).type.shape));
    else if (category == Category::layout && node->op != Op::Gather)
      for (const MappedRead& read : map_layout(graph_, *node, at.coords))
        add(node->inputs[read.operand], read.coords);
  }
}

int Composer::define_one(ValueId value, const std::vector<Index>& coords) {
  const Node* node = producer(value);
  if (node == nullptr) return read(value, coords);
  const Element key{value, coords};
  const auto found = memo_.find(key);
  if (found != memo_.end()) return found->second;
  ++evaluations_[value];
  int result = -1;
  const Category category = info(node->op).category;
  if (category == Category::elementwise)
    result = elementwise(*node, coords);
  else if (node->op == Op::Gather)
    result = gather(*node, coords);
  else if (category == Category::layout)
    result = layout(*node, coords);
  else if (category == Category::window)
    result = window(*node, coords);
  else
    KORCH_ASSERT(false, std::string("a loop nest cannot compute ") + name(node->op));
  memo_[key] = result;
  return result;
}

int Composer::elementwise(const Node& node, const std::vector<Index>& coords) {
  std::vector<int> operands;
  for (ValueId input : node.inputs)
    operands.push_back(compose(input, broadcast_coords(coords, graph_.value(input).type.shape)));
  const DType result = graph_.value(node.outputs[0]).type.dtype;
  const auto* scalars = std::get_if<ScalarAttrs>(&node.attrs);
  return apply_elementwise(pool_, node.op, scalars != nullptr ? *scalars : ScalarAttrs{}, std::move(operands),
                           result);
}

int Composer::layout(const Node& node, const std::vector<Index>& coords) {
  const std::vector<MappedRead> reads = map_layout(graph_, node, coords);
  const DType type = graph_.value(node.outputs[0]).type.dtype;
  int result = -1;
  // The last piece of a concat needs no condition: some piece always holds. Padding has a value instead.
  if (node.op == Op::Pad) result = pool_.constant(type, std::get<PadAttrs>(node.attrs).value);
  for (size_t i = reads.size(); i-- > 0;) {
    const int piece = compose(node.inputs[reads[i].operand], reads[i].coords);
    result = result < 0 ? piece : pool_.guard(reads[i].when, piece, result);
  }
  // Coordinates that no piece of a concat holds stand inside a guard that never reads them.
  return result < 0 ? pool_.constant(type, 0) : result;
}

std::optional<Index> Composer::known_index(const Node& node, const std::vector<Index>& index_coords) {
  const HostTensor* indices = graph_.constant(node.inputs[1]);
  if (indices == nullptr) return std::nullopt;
  const auto axis = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
  const int64_t extent = graph_.value(node.inputs[0]).type.shape[axis];
  const auto [place, inserted] = formulas_.emplace(node.outputs[0], std::nullopt);
  if (inserted) {
    std::vector<int64_t> values = as_int_vector(*indices);
    bool inside = true;
    for (int64_t& value : values) {
      if (value < 0) value += extent;
      inside = inside && value >= 0 && value < extent;
    }
    if (inside) place->second = find_formula(values);
  }
  if (!place->second) return std::nullopt;
  return place->second->at(flatten(index_coords, indices->shape()));
}

int Composer::gather(const Node& node, const std::vector<Index>& coords) {
  const auto axis = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
  const Shape& data = graph_.value(node.inputs[0]).type.shape;
  const size_t index_rank = graph_.value(node.inputs[1]).type.shape.size();
  const std::vector<Index> index_coords(coords.begin() + axis, coords.begin() + axis + index_rank);
  std::vector<Index> at(coords.begin(), coords.begin() + axis);
  if (const std::optional<Index> known = known_index(node, index_coords)) {
    at.push_back(*known);
  } else {
    Expr checked;
    checked.kind = ExprKind::checked;
    checked.type = DType::i64;
    checked.integer = data[axis];
    checked.args = {pool_.call(ScalarFn::cast, DType::i64, {compose(node.inputs[1], index_coords)})};
    at.push_back(Index::dynamic(pool_.add(std::move(checked)), data[axis]));
  }
  at.insert(at.end(), coords.begin() + axis + index_rank, coords.end());
  return compose(node.inputs[0], at);
}

int Composer::over_taps(ValueId value, const Shape& kernel, ScalarFn combine, const Tap& tap) {
  const DType type = graph_.value(value).type.dtype;
  // Outer axes loop until what is left can be unrolled.
  size_t looped = 0;
  int64_t unrolled = element_count(kernel);
  while (looped < kernel.size() && unrolled > (looped == 0 ? kUnrolledWindow : kUnrolledRow))
    unrolled /= kernel[looped++];
  // The variables of a looped window are named after the Value, so that equal windows share their loops.
  const auto over = [&](size_t axis) {
    return LoopVariable{"w" + std::to_string(value) + (axis > 0 ? "_" + std::to_string(axis) : ""),
                        kernel[axis]};
  };
  std::vector<std::vector<Index>> positions = {{}};
  for (size_t s = 0; s < kernel.size(); ++s) {
    std::vector<std::vector<Index>> next;
    for (const std::vector<Index>& position : positions) {
      const bool variable = s < looped;
      for (int64_t k = 0; k < (variable ? 1 : kernel[s]); ++k) {
        next.push_back(position);
        next.back().push_back(variable ? Index::variable(over(s).name, kernel[s]) : Index(k));
      }
    }
    positions = std::move(next);
  }
  int result = -1;
  for (const std::vector<Index>& position : positions) {
    const int element = tap(position);
    if (element < 0) continue;
    result = result < 0 ? element : pool_.call(combine, type, {result, element});
  }
  for (size_t axis = looped; result >= 0 && axis-- > 0;) {
    Expr fold;
    fold.kind = ExprKind::fold;
    fold.type = type;
    fold.fn = combine;
    fold.args = {result};
    fold.over = over(axis);
    result = pool_.add(std::move(fold));
  }
  return result;
}

int Composer::window(const Node& node, const std::vector<Index>& coords) {
  const auto& pool = std::get<PoolAttrs>(node.attrs);
  const Shape& in = graph_.value(node.inputs[0]).type.shape;
  const DType type = graph_.value(node.outputs[0]).type.dtype;
  const ScalarFn combine = *combine_function(node.op);
  const int identity = identity_of(pool_, combine, type);
  const int result =
      over_taps(node.outputs[0], pool.kernel, combine, [&](const std::vector<Index>& position) {
        std::vector<Index> at(coords.begin(), coords.begin() + 2);
        Condition inside;
        for (size_t s = 0; s < position.size(); ++s) {
          at.push_back(coords[2 + s] * pool.strides[s] + position[s] * pool.dilations[s] -
                       Index(pool.pads_before[s]));
          inside.require(at.back(), 0, in[2 + s] - 1);
        }
        if (inside.always_false()) return -1;
        int operand = compose(node.inputs[0], at);
        if (node.op == Op::WindowDot) {
          std::vector<Index> weight = position;
          weight.push_back(coords[1]);
          operand = pool_.call(ScalarFn::mul, type, {operand, compose(node.inputs[1], weight)});
        }
        return pool_.guard(inside, operand, identity);
      });
  return result < 0 ? identity : result;
}

// Of a transposed convolution a tap meets an output where the step back from it is a whole number of strides.
int Composer::conv_summand(const Node& node, const std::vector<Index>& coords, const Index& channel) {
  const auto& attrs = std::get<ConvAttrs>(node.attrs);
  const bool transposed = node.op == Op::ConvTranspose;
  const Shape &x = graph_.value(node.inputs[0]).type.shape, &w = graph_.value(node.inputs[1]).type.shape;
  const TensorType& result = graph_.value(node.outputs[0]).type;
  const int64_t out_per_group = result.shape[1] / attrs.group, in_per_group = x[1] / attrs.group;
  const Index in_channel = floor_div(coords[1], out_per_group) * in_per_group + channel;
  const int zero = pool_.constant(result.dtype, 0);
  const Shape kernel(w.begin() + 2, w.end());
  const int sum = over_taps(node.outputs[0], kernel, ScalarFn::add, [&](const std::vector<Index>& position) {
    std::vector<Index> at = {coords[0], in_channel};
    std::vector<Index> weight = {coords[1], channel};
    if (transposed) weight = {in_channel, floor_mod(coords[1], out_per_group)};
    Condition inside;
    for (size_t s = 0; s < position.size(); ++s) {
      const Index tap = position[s] * attrs.dilations[s];
      if (transposed) {
        const Index back = coords[2 + s] + Index(attrs.pads_before[s]) - tap;
        inside.require(floor_mod(back, attrs.strides[s]), 0, 0);
        at.push_back(floor_div(back, attrs.strides[s]));
      } else {
        at.push_back(coords[2 + s] * attrs.strides[s] + tap - Index(attrs.pads_before[s]));
      }
      inside.require(at.back(), 0, x[2 + s] - 1);
      weight.push_back(position[s]);
    }
    if (inside.always_false()) return -1;
    const int product =
        pool_.call(ScalarFn::mul, result.dtype,
                   {pool_.call(ScalarFn::cast, result.dtype, {compose(node.inputs[0], at)}),
                    pool_.call(ScalarFn::cast, result.dtype, {compose(node.inputs[1], weight)})});
    return pool_.guard(inside, product, zero);
  });
  return sum < 0 ? zero : sum;
}

int Composer::product(ValueId value, const std::vector<Index>& coords, const std::vector<Index>& reduced) {
  const Node& node = *producer(value);
  const DType type = graph_.value(value).type.dtype;
  ++evaluations_[value];
  if (node.op != Op::MatMul) return conv_summand(node, coords, reduced[0]);
  const auto& attrs = std::get<MatMulAttrs>(node.attrs);
  const auto operand = [&](size_t number, const Index& row, const Index& column, bool transposed) {
    std::vector<Index> at(coords.begin(), coords.end() - 2);
    at.push_back(transposed ? column : row);
    at.push_back(transposed ? row : column);
    const Shape& shape = graph_.value(node.inputs[number]).type.shape;
    Shape batch(shape.begin(), shape.end() - 2);
    std::vector<Index> outer = broadcast_coords({at.begin(), at.end() - 2}, batch);
    outer.insert(outer.end(), at.end() - 2, at.end());
    return pool_.call(ScalarFn::cast, type, {compose(node.inputs[number], outer)});
  };
  const Index &row = coords[coords.size() - 2], &column = coords.back();
  return pool_.call(
      ScalarFn::mul, type,
      {operand(0, row, reduced[0], attrs.transpose_a), operand(1, reduced[0], column, attrs.transpose_b)});
}

}  // namespace korch::tile
