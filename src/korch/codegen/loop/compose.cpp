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
  return ScalarFn::eq <= fn && fn <= ScalarFn::logical_not;
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
    if (t.fn <= ScalarFn::arg2) return pool_[operands_[static_cast<size_t>(t.fn)]].type;
    if (t.fn <= ScalarFn::constant) return std::nullopt;
    if (t.fn == ScalarFn::cast) return result_;
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
    if (t.fn <= ScalarFn::arg2) return operands_[static_cast<size_t>(t.fn)];
    if (t.fn == ScalarFn::alpha) return pool_.constant(wanted, scalars_.alpha);
    if (t.fn == ScalarFn::beta) return pool_.constant(wanted, scalars_.beta);
    if (t.fn == ScalarFn::constant) return pool_.constant(wanted, t.value);
    if (t.fn == ScalarFn::cast) return pool_.call(t.fn, result_, {term(t.a, wanted)});
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
  if (op == Op::ReduceSum || op == Op::WindowSum || op == Op::WindowDot || op == Op::MatMul ||
      op == Op::NarrowMatMul || op == Op::Conv || op == Op::ConvTranspose)
    return ScalarFn::add;
  if (op == Op::ReduceProd) return ScalarFn::mul;
  if (op == Op::ReduceMax || op == Op::ArgMax || op == Op::WindowMax) return ScalarFn::max;
  if (op == Op::ReduceMin || op == Op::ArgMin) return ScalarFn::min;
  return std::nullopt;
}

Shape product_extents(const Graph& graph, const Node& node) {
  return {index_maps(graph, node).taps[0]};
}

Composer::Composer(const Graph& graph, const Candidate& candidate, std::map<ValueId, Argument> memory,
                   ExprPool& pool)
    : graph_(graph), memory_(std::move(memory)), pool_(pool) {
  for (NodeId node : candidate.nodes)
    for (ValueId output : graph.node(node).outputs) producers_[output] = node;
}

void Composer::set_intermediate(ValueId value, bool on) {
  if (on)
    intermediates_[value] = 1;
  else
    intermediates_.erase(value);
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
    if (!seen.insert(at).second || is_intermediate(at)) continue;
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
  if (is_intermediate(value)) {
    Expr e;
    e.kind = ExprKind::intermediate;
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
      if (!is_intermediate(operand) && producer(operand) != nullptr)
        pending.push_back({operand, std::move(place), false});
    };
    const Category category = info(node->op).category;
    if (category == Category::elementwise)
      for (ValueId input : node->inputs)
        add(input, broadcast_coords(at.coords, graph_.value(input).type.shape));
    else if (category == Category::layout && !looks_up(node->op))
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
  else if (looks_up(node->op))
    result = gather(*node, coords);
  else if (category == Category::layout)
    result = layout(*node, coords);
  else if (category == Category::window)
    result = combined_taps(*node, coords, {});
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
  if (indices == nullptr || node.op != Op::Gather) return std::nullopt;
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
  const IndexMaps maps = index_maps(graph_, node);
  const auto axis = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
  const int64_t extent = maps.operands[0].operand[axis];
  const std::vector<Index> index_coords = read_at(maps, 1, coords).coords;
  std::vector<Index> at = read_at(maps, 0, coords).coords;
  if (const std::optional<Index> known = known_index(node, index_coords)) {
    at[axis] = *known;
  } else {
    at[axis] = checked_index(pool_, compose(node.inputs[1], index_coords), extent);
  }
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

int Composer::product(ValueId value, const std::vector<Index>& coords, const std::vector<Index>& reduced) {
  ++evaluations_[value];
  return combined_taps(*producer(value), coords, reduced);
}

// Of a product's second operand, in the type of the sums; narrow ones as the floats that they stand for.
int Composer::weight(const Node& node, const std::vector<Index>& coords) {
  const DType type = graph_.value(node.outputs[0]).type.dtype;
  const auto wide = [&](size_t input, const std::vector<Index>& at) {
    return pool_.call(ScalarFn::cast, type, {compose(node.inputs[input], at)});
  };
  const int number = wide(1, coords);
  const auto* narrow = std::get_if<NarrowAttrs>(&node.attrs);
  if (narrow == nullptr) return number;
  const std::vector<Index> block = {floor_div(coords[0], narrow->block), coords[1]};
  const int difference =
      node.inputs.size() > 3 ? pool_.call(ScalarFn::sub, type, {number, wide(3, block)}) : number;
  return pool_.call(ScalarFn::mul, type, {difference, wide(2, block)});
}

int Composer::combined_taps(const Node& node, const std::vector<Index>& coords,
                            const std::vector<Index>& reduced) {
  const IndexMaps maps = index_maps(graph_, node);
  const DType type = graph_.value(node.outputs[0]).type.dtype;
  const ScalarFn combine = *combine_function(node.op);
  const int identity = identity_of(pool_, combine, type);
  const Shape kernel(maps.taps.begin() + static_cast<std::ptrdiff_t>(reduced.size()), maps.taps.end());
  const int result = over_taps(node.outputs[0], kernel, combine, [&](std::vector<Index> taps) {
    taps.insert(taps.begin(), reduced.begin(), reduced.end());
    const MappedRead data = read_at(maps, 0, coords, taps);
    if (data.when.always_false()) return -1;
    int operand = compose(node.inputs[0], data.coords);
    if (node.inputs.size() > 1)
      operand = pool_.call(
          ScalarFn::mul, type,
          {pool_.call(ScalarFn::cast, type, {operand}), weight(node, read_at(maps, 1, coords, taps).coords)});
    return pool_.guard(data.when, operand, identity);
  });
  return result < 0 ? identity : result;
}

}  // namespace korch::tile
