#include "korch/codegen/cpu/body_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "korch/codegen/cpu/bounded_values.h"

namespace korch::tile {
namespace {

constexpr int kDeepPool = 2000;  // expressions: more are emitted operands first, instead of by recursion

std::string float_literal(double value, DType type) {
  const bool single = type == DType::f32;
  if (std::isnan(value)) return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
  if (std::isinf(value))
    return fmt::format("{}{}", value < 0 ? "-" : "", single ? "__builtin_inff()" : "__builtin_inf()");
  if (single) return fmt::format("{:a}f", static_cast<double>(static_cast<float>(value)));
  return fmt::format("{:a}", value);
}

std::string integer_literal(int64_t value, DType type) {
  if (type == DType::bool_) return value != 0 ? "true" : "false";
  if (value == INT64_MIN) return fmt::format("({})(-9223372036854775807L - 1)", element_type(type));
  return fmt::format("({})({}L)", element_type(type), value);
}

// a fn b where C++ has an operator for it, else nothing. Single integers wrap around, which C++ promises of
// unsigned ones only.
std::string infix(ScalarFn fn, DType type, const std::string& a, const std::string& b, bool vector) {
  const char* op = nullptr;
  if (fn == ScalarFn::add) op = "+";
  if (fn == ScalarFn::sub) op = "-";
  if (fn == ScalarFn::mul) op = "*";
  if (fn == ScalarFn::div && is_float(type)) op = "/";
  if (op == nullptr) return {};
  if (vector || !is_integer(type)) return fmt::format("{} {} {}", a, op, b);
  return fmt::format("({})((uint64_t){} {} (uint64_t){})", element_type(type), a, op, b);
}

}  // namespace

BodyEmitter::BodyEmitter(const ExprPool& pool, MemorySpelling memory, SourceText& source)
    : pool_(pool), memory_(std::move(memory)), source_(source), scopes_(1) {}

void BodyEmitter::set_lanes(const std::string& variable, int lanes, const std::string& count,
                            bool from_multiple) {
  for (auto it = known_.begin(); it != known_.end();)
    it = it->second.vector ? known_.erase(it) : std::next(it);
  // A single element that depends on a variable which now counts lanes is not single any more.
  for (auto it = known_.begin(); it != known_.end();)
    it = lanes > 1 && pool_.variables(it->first).count(variable) != 0 ? known_.erase(it) : std::next(it);
  variable_ = lanes > 1 ? variable : std::string();
  lanes_ = lanes;
  count_ = count;
  from_multiple_ = from_multiple;
  source_.use_lanes(lanes);
}

void BodyEmitter::set_output(std::string* code, std::string indent) {
  code_ = code;
  indent_ = std::move(indent);
}

std::string BodyEmitter::fresh(const std::string& prefix) {
  return prefix + std::to_string(names_++);
}

void BodyEmitter::remember(int node, Operand operand) {
  known_[node] = std::move(operand);
  scopes_.back().push_back(node);
}

void BodyEmitter::open(const std::string& head) {
  line(head + (head.empty() ? "{" : " {"));
  indent_ += "  ";
  scopes_.emplace_back();
}

void BodyEmitter::close(const std::string& after) {
  for (int node : scopes_.back()) known_.erase(node);
  scopes_.pop_back();
  indent_.resize(indent_.size() - 2);
  line("}" + after);
}

bool BodyEmitter::is_vector(int node) const {
  return !variable_.empty() && pool_.variables(node).count(variable_) != 0;
}

std::string BodyEmitter::index(const Index& index) {
  IndexSpelling spelling;
  for (int dynamic : index.dynamics()) emit(dynamic);
  spelling.dynamic = [this](int id) {
    const Operand& operand = known_.at(id);
    return operand.vector ? fmt::format("(int64_t){}[{}]", operand.text, lane_) : operand.text;
  };
  if (!lane_.empty())
    spelling.variable = [this](const std::string& name) {
      return name == variable_ ? fmt::format("({} + {})", name, lane_) : name;
    };
  return print(index, spelling);
}

BodyEmitter::Operand BodyEmitter::define(DType type, bool vector, const std::string& value) {
  const std::string name = fresh("t");
  line(fmt::format("const {} {} = {};", type_name(type, vector ? lanes_ : 1), name, value));
  return {name, vector};
}

std::string BodyEmitter::as_vector(const Operand& operand, DType type) {
  if (operand.vector || lanes_ == 1) return operand.text;
  if (type == DType::f32 || type == DType::f64 || type == DType::i32 || type == DType::i64 ||
      type == DType::bool_)
    return fmt::format("splat_{}({})", type_name(type, lanes_), operand.text);
  return fmt::format("(({}){{}} + ({}){})", type_name(type, lanes_), element_type(type), operand.text);
}

BodyEmitter::Operand BodyEmitter::emit(int node) {
  const auto found = known_.find(node);
  if (found != known_.end()) return found->second;
  if (!nested_ && pool_.size() > kDeepPool) {
    nested_ = true;
    for (int inner : pool_.unconditional({node}))
      if (inner != node && pool_[inner].kind != ExprKind::constant) emit(inner);
    nested_ = false;
  }
  const Operand operand = emit_new(node);
  remember(node, operand);
  return operand;
}

std::string BodyEmitter::emit_full(int node) {
  return as_vector(emit(node), pool_[node].type);
}

// A condition that differs between lanes cannot be an `if` around vector code.
bool BodyEmitter::guards_lanes(int node) const {
  const Expr& e = pool_[node];
  if (e.kind == ExprKind::guard) {
    if (e.condition.depends_on(variable_) &&
        !(memory_.aligned && same_for_lanes(e.condition, variable_, lanes_)))
      return true;
    for (const Bound& bound : e.condition.bounds())
      for (int dynamic : bound.index.dynamics())
        if (is_vector(dynamic)) return true;
    return false;
  }
  if (e.kind != ExprKind::fold) return false;
  for (int inner : pool_.reachable({e.args[0]}))
    if (pool_[inner].kind == ExprKind::guard && is_vector(inner) && guards_lanes(inner)) return true;
  return false;
}

BodyEmitter::Operand BodyEmitter::emit_new(int node) {
  const Expr& e = pool_[node];
  const bool vector = is_vector(node);
  if (vector && guards_lanes(node))
    return holds_between_ends(e) ? emit_guard_by_ends(node) : emit_by_lane(node);
  switch (e.kind) {
    case ExprKind::constant:
      return emit_constant(e);
    case ExprKind::load:
      return emit_access(e, node, memory_.pointer(e.buffer), e.coords[0]);
    case ExprKind::intermediate: {
      const IntermediatePlace place = memory_.intermediate(e);
      if (!place.text.empty()) return {place.text, vector};
      return emit_access(e, node, place.pointer, place.offset);
    }
    case ExprKind::call:
      return emit_call(e, vector);
    case ExprKind::guard:
      return emit_guard(e, vector);
    case ExprKind::fold:
      return emit_fold(e, node, vector);
    case ExprKind::checked:
      return emit_checked(e, vector);
  }
  return {};
}

BodyEmitter::Operand BodyEmitter::emit_constant(const Expr& e) {
  if (e.type == DType::f16)
    return {integer_literal(float_to_half(static_cast<float>(e.number)), e.type), false};
  if (e.type == DType::bf16)
    return {integer_literal(float_to_bfloat16(static_cast<float>(e.number)), e.type), false};
  return {is_float(e.type) ? float_literal(e.number, e.type) : integer_literal(e.integer, e.type), false};
}

std::string BodyEmitter::combine(ScalarFn fn, DType type, const std::string& a, const std::string& b,
                                 int lanes) {
  if (type == DType::bool_)
    return fmt::format("{} {} {}", a, fn == ScalarFn::min || fn == ScalarFn::mul ? '&' : '|', b);
  if (lanes > 1 && !source_.is_vector_function(fn, type)) {
    KORCH_ASSERT(false, "a reduction of this type is not vectorized");
  }
  if (const std::string text = infix(fn, type, a, b, lanes > 1); !text.empty()) return text;
  return fmt::format("{}({}, {})", fn == ScalarFn::max ? "fn_max" : "fn_min", a, b);
}

std::string BodyEmitter::accumulator(ScalarFn fn, DType type, int lanes, bool positions) {
  ExprPool scratch;
  const std::string start = emit_constant(scratch[identity_of(scratch, fn, type)]).text;
  const std::string name = fresh("a"), spelled = type_name(type, lanes);
  line(fmt::format("{} {} = {};", spelled, name,
                   lanes > 1 ? fmt::format("splat_{}({})", spelled, start) : start));
  if (positions)
    line(fmt::format("{} {}_at = {};", type_name(DType::i64, lanes), name, lanes > 1 ? "{}" : "-1"));
  if (positions && lanes > 1) line(fmt::format("{0}_at = {0}_at - 1;", name));
  return name;
}

void BodyEmitter::take_extreme(ScalarFn fn, DType type, const std::string& accumulator,
                               const std::string& position, const std::string& element, const std::string& at,
                               bool select_last, bool nan_wins) {
  const bool max = fn == ScalarFn::max;
  const std::string take = fresh("take");
  auto less = [&](const std::string& a, const std::string& b, const char* fn_name, const char* op) {
    return lanes_ > 1 ? fmt::format("{}({}, {})", fn_name, a, b) : fmt::format("{} {} {}", a, op, b);
  };
  const char* name = select_last ? "fn_le" : "fn_lt";
  const char* op = select_last ? "<=" : "<";
  std::string better =
      "(" + (max ? less(accumulator, element, name, op) : less(element, accumulator, name, op)) + ")";
  const std::string none = lanes_ > 1 ? fmt::format("__builtin_convertvector({} < 0, {})", position,
                                                    type_name(DType::bool_, lanes_))
                                      : fmt::format("({} < 0)", position);
  better += " | " + none;
  if (is_float(type) && nan_wins) {
    const std::string nan = lanes_ > 1
                                ? fmt::format("(~fn_eq({0}, {0}) & fn_eq({1}, {1}))", element, accumulator)
                                : fmt::format("(({0} != {0}) & ({1} == {1}))", element, accumulator);
    better += " | " + nan;
  }
  line(fmt::format("const {} {} = {};", type_name(DType::bool_, lanes_), take, better));
  line(fmt::format("{0} = fn_select({1}, {2}, {0});", accumulator, take, element));
  const std::string wide = lanes_ > 1 ? fmt::format("splat_{}({})", type_name(DType::i64, lanes_), at)
                                      : fmt::format("(int64_t)({})", at);
  line(fmt::format("{0} = fn_select({1}, {2}, {0});", position, take, wide));
}

std::string BodyEmitter::call_text(const Expr& e, const std::vector<std::string>& args, int lanes) {
  const DType type = pool_[e.args.back()].type;  // of the operands
  const bool vector = lanes > 1;
  const auto is_product = [&](int arg) {
    return pool_[arg].kind == ExprKind::call && pool_[arg].fn == ScalarFn::mul;
  };
  if (e.fn == ScalarFn::sub && is_float(type) && std::any_of(e.args.begin(), e.args.end(), is_product))
    return fmt::format("fn_difference({}, {})", args[0], args[1]);
  if (args.size() == 2)
    if (const std::string text = infix(e.fn, type, args[0], args[1], vector); !text.empty()) return text;
  if (e.fn == ScalarFn::neg)
    return is_integer(type) && !vector ? infix(ScalarFn::sub, type, "0", args[0], false)
                                       : "-(" + args[0] + ")";
  if (e.fn == ScalarFn::reciprocal)
    return fmt::format("{} / {}", as_vector({float_literal(1, type), false}, type), args[0]);
  if (e.fn == ScalarFn::select) return fmt::format("fn_select({}, {}, {})", args[0], args[1], args[2]);
  if (e.fn == ScalarFn::logical_and) return fmt::format("{} & {}", args[0], args[1]);
  if (e.fn == ScalarFn::logical_or) return fmt::format("{} | {}", args[0], args[1]);
  if (e.fn == ScalarFn::logical_xor) return fmt::format("{} ^ {}", args[0], args[1]);
  if (e.fn == ScalarFn::logical_not) return vector ? "~" + args[0] : "!" + args[0];
  if (e.fn == ScalarFn::eq)
    return vector ? fmt::format("fn_eq({}, {})", args[0], args[1])
                  : fmt::format("{} == {}", args[0], args[1]);
  if (e.fn == ScalarFn::lt)
    return vector ? fmt::format("fn_lt({}, {})", args[0], args[1]) : fmt::format("{} < {}", args[0], args[1]);
  if (e.fn == ScalarFn::le)
    return vector ? fmt::format("fn_le({}, {})", args[0], args[1])
                  : fmt::format("{} <= {}", args[0], args[1]);
  if (e.fn == ScalarFn::is_nan)
    return vector ? fmt::format("~fn_eq({0}, {0})", args[0]) : fmt::format("{0} != {0}", args[0]);
  if (vector && is_float(type))
    if (const std::string text = bounded_text(e, args); !text.empty()) return text;
  const std::string name =
      e.decaying && type == DType::f32 ? "fn_exp_weight" : std::string("fn_") + korch::name(e.fn);
  if (e.fn != ScalarFn::min && e.fn != ScalarFn::max && e.fn != ScalarFn::abs)
    source_.use_function(name, lanes);
  std::string text = name + "(" + args[0];
  for (size_t i = 1; i < args.size(); ++i) text += ", " + args[i];
  return text + ")";
}

// Min and Max with a number that is not 0, whose sign a tie would decide: one instruction, NaN or not.
std::string BodyEmitter::bounded_text(const Expr& e, const std::vector<std::string>& args) {
  if (memory_.aligned || (e.fn != ScalarFn::min && e.fn != ScalarFn::max)) return "";
  int other = -1;
  const double bound = bound_of(pool_, e, other);
  if (std::isnan(bound) || bound == 0) return "";
  const size_t at = other == e.args[0] ? 0 : 1;
  const char* name = e.fn == ScalarFn::min ? "fn_at_most" : "fn_at_least";
  source_.use_function(name, lanes_);
  return fmt::format("{}({}, {})", name, args[at], args[1 - at]);
}

BodyEmitter::Operand BodyEmitter::emit_call(const Expr& e, bool vector) {
  if (e.fn == ScalarFn::cast) return emit_cast(e, vector);
  const DType type = e.fn == ScalarFn::select ? e.type : pool_[e.args[0]].type;
  if (vector && !source_.is_vector_function(e.fn, type)) return emit_lanewise_call(e);
  if (vector && memory_.aligned && e.fn == ScalarFn::select)  // vectors of a GPU have no masks
    if (const Operand which = emit(e.args[0]); !which.vector)
      return define(e.type, vector,
                    fmt::format("{} ? {} : {}", which.text, emit_full(e.args[1]), emit_full(e.args[2])));
  std::vector<std::string> args;
  for (int arg : e.args) args.push_back(vector ? emit_full(arg) : emit(arg).text);
  return define(
      e.type, vector, vector ? call_text(e, args, lanes_) : [&] {
        const int lanes = std::exchange(lanes_, 1);
        const std::string text = call_text(e, args, 1);
        lanes_ = lanes;
        return text;
      }());
}

BodyEmitter::Operand BodyEmitter::emit_lanewise_call(const Expr& e) {
  const std::string name = fresh("t"), lane = fresh("l");
  std::vector<std::string> args;
  for (int arg : e.args) {
    const Operand operand = emit(arg);
    std::string text = operand.vector ? fmt::format("{}[{}]", operand.text, lane) : operand.text;
    if (operand.vector && pool_[arg].type == DType::bool_) text = "(" + text + " != 0)";
    args.push_back(text);
  }
  line(fmt::format("{} {} = {{}};", type_name(e.type, lanes_), name));
  const int lanes = std::exchange(lanes_, 1);
  const std::string value =
      e.fn == ScalarFn::cast ? cast_text(pool_[e.args[0]].type, e.type, args[0], 1) : call_text(e, args, 1);
  lanes_ = lanes;
  line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}({4});", lane,
                   count_.empty() ? std::to_string(lanes_) : count_, name,
                   e.type == DType::bool_ ? "-(int)" : "", value));
  return {name, true};
}

std::string BodyEmitter::cast_text(DType from, DType to, const std::string& operand, int lanes) {
  const bool vector = lanes > 1;
  const auto convert = [&](const std::string& value, DType type) {
    return vector ? fmt::format("__builtin_convertvector({}, {})", value, type_name(type, lanes))
                  : fmt::format("({})({})", element_type(type), value);
  };
  const auto call = [&](const std::string& function, const std::string& argument) {
    source_.use_function(function, lanes);
    return fmt::format("{}({})", function, argument);
  };
  if (is_small_float(from))
    return call(std::string("from_") + korch::name(from), convert(operand, DType::i32));
  if (is_small_float(to)) return convert(call(std::string("to_") + korch::name(to), operand), to);
  if (to == DType::bool_)
    return vector ? fmt::format("__builtin_convertvector({} != 0, {})", operand, type_name(to, lanes))
                  : operand + " != 0";
  if (is_float(from) && is_integer(to))
    return convert(call(to == DType::u64 ? "to_unsigned" : "to_integer", operand), to);
  return convert((vector && from == DType::bool_ ? "-" : "") + operand, to);
}

// A vector of what int32 holds, by one instruction, which rounds where Round stands before the bounds. NaN
// becomes a number whose lower bytes are those of the smallest int64. Empty: the values may be larger.
std::string BodyEmitter::emit_int32(int node) {
  if (memory_.aligned) return "";
  constexpr double kEnd = 0x1p31;
  const FloatBounds bounds = float_bounds(pool_, node);
  if (!(bounds.low >= -kEnd && bounds.high < kEnd)) return "";
  int inner = unbounded(pool_, node);
  const Expr& e = pool_[inner];
  const bool is_rounded = e.kind == ExprKind::call && e.fn == ScalarFn::round &&
                          std::nearbyint(bounds.low) == bounds.low &&
                          std::nearbyint(bounds.high) == bounds.high;
  if (is_rounded) inner = e.args[0];
  const char* name = is_rounded ? "round_to_int32" : "to_int32";
  for (const char* function : {"fn_at_most", "fn_at_least", name}) source_.use_function(function, lanes_);
  const auto bound = [&](double number) {
    return as_vector({float_literal(number, DType::f32), false}, DType::f32);
  };
  return fmt::format("{}(fn_at_least(fn_at_most({}, {}), {}))", name, emit_full(inner), bound(bounds.high),
                     bound(bounds.low));
}

BodyEmitter::Operand BodyEmitter::emit_cast(const Expr& e, bool vector) {
  const DType from = pool_[e.args[0]].type;
  if (vector && is_float(from) && e.type == DType::u64) return emit_lanewise_call(e);
  if (vector && from == DType::f32 && is_integer(e.type) && size_bytes(e.type) <= 2)
    if (const std::string whole = emit_int32(e.args[0]); !whole.empty())
      return define(e.type, vector,
                    fmt::format("__builtin_convertvector({}, {})", whole, type_name(e.type, lanes_)));
  const std::string operand = vector ? emit_full(e.args[0]) : emit(e.args[0]).text;
  return define(e.type, vector, cast_text(from, e.type, operand, vector ? lanes_ : 1));
}

BodyEmitter::Operand BodyEmitter::emit_guard(const Expr& e, bool vector) {
  const std::string name = fresh("t");
  const std::string type = type_name(e.type, vector ? lanes_ : 1);
  for (const Bound& bound : e.condition.bounds())
    for (int dynamic : bound.index.dynamics()) emit(dynamic);
  IndexSpelling spelling;
  spelling.dynamic = [this](int id) { return known_.at(id).text; };
  line(fmt::format("{} {};", type, name));
  open("if (" + print(e.condition, spelling) + ")");
  line(fmt::format("{} = {};", name, vector ? emit_full(e.args[0]) : emit(e.args[0]).text));
  close();
  open("else");
  line(fmt::format("{} = {};", name, vector ? emit_full(e.args[1]) : emit(e.args[1]).text));
  close();
  return {name, vector};
}

BodyEmitter::Operand BodyEmitter::emit_fold(const Expr& e, int node, bool vector) {
  const int lanes = vector ? lanes_ : 1;
  if (vector && !source_.is_vector_function(e.fn, e.type)) return emit_by_lane(node);
  for (int inner : pool_.unconditional({e.args[0]}))
    if (pool_.variables(inner).count(e.over.name) == 0) emit(inner);
  const std::string name = accumulator(e.fn, e.type, lanes, false);
  open(fmt::format("for ({2} {0} = 0; {0} < {1}; ++{0})", e.over.name, e.over.extent, index_type_));
  const std::string element = vector ? emit_full(e.args[0]) : emit(e.args[0]).text;
  line(fmt::format("{} = {};", name, combine(e.fn, e.type, name, element, lanes)));
  close();
  return {name, vector};
}

// Where the first and the last lane satisfy the condition, all of them do.
bool BodyEmitter::holds_between_ends(const Expr& e) const {
  if (e.kind != ExprKind::guard) return false;
  for (const Bound& bound : e.condition.bounds()) {
    if (!bound.index.affine_in(variable_)) return false;
    for (int dynamic : bound.index.dynamics())
      if (is_vector(dynamic)) return false;
  }
  return true;
}

BodyEmitter::Operand BodyEmitter::emit_guard_by_ends(int node) {
  const Expr& e = pool_[node];
  const std::string name = fresh("t");
  const std::string last = count_.empty() ? std::to_string(lanes_ - 1) : count_ + " - 1";
  IndexSpelling spelling;
  for (const Bound& bound : e.condition.bounds())
    for (int dynamic : bound.index.dynamics()) emit(dynamic);
  spelling.dynamic = [this](int id) { return known_.at(id).text; };
  const std::string first_holds = print(e.condition, spelling);
  spelling.variable = [&](const std::string& variable) {
    return variable == variable_ ? fmt::format("({} + {})", variable, last) : variable;
  };
  line(fmt::format("{} {};", type_name(e.type, lanes_), name));
  open(fmt::format("if ({} && {})", first_holds, print(e.condition, spelling)));
  const std::string whole = emit_full(e.args[0]);
  line(fmt::format("{} = {};", name, whole));
  close();
  open("else");
  const std::string mixed = emit_by_lane(node).text;
  line(fmt::format("{} = {};", name, mixed));
  close();
  return {name, true};
}

// Everything below the node again as single elements, inside a loop over the lanes.
BodyEmitter::Operand BodyEmitter::emit_by_lane(int node) {
  const Expr& e = pool_[node];
  const std::string name = fresh("t"), lane = fresh("l"), outer = fresh("from");
  const std::string variable = variable_, count = count_;
  const int lanes = lanes_;
  line(fmt::format("{} {} = {{}};", type_name(e.type, lanes_), name));
  line(fmt::format("const {} {} = {};", index_type_, outer, variable));
  open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", lane,
                   count.empty() ? std::to_string(lanes) : count));
  line(fmt::format("const {} {} = {} + {};", index_type_, variable, outer, lane));
  std::map<int, Operand> known = known_;
  for (auto it = known_.begin(); it != known_.end();)
    it = it->second.vector ? known_.erase(it) : std::next(it);
  variable_.clear();
  lanes_ = 1;
  count_.clear();
  const std::string value = emit(node).text;
  line(fmt::format("{}[{}] = {}({});", name, lane, e.type == DType::bool_ ? "-(int)" : "", value));
  variable_ = variable;
  lanes_ = lanes;
  count_ = count;
  close();
  known_ = std::move(known);
  return {name, true};
}

void BodyEmitter::hoist(const std::vector<int>& roots, const std::set<std::string>& bound) {
  for (int node : pool_.unconditional(roots)) {
    if (pool_[node].kind == ExprKind::constant) continue;
    const std::set<std::string>& needs = pool_.variables(node);
    bool ready = true;
    for (const std::string& name : needs) ready = ready && bound.count(name) != 0;
    if (ready) emit(node);
  }
}

}  // namespace korch::tile
