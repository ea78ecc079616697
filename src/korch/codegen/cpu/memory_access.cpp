// How elements are loaded and stored: one by one, as vectors, or lane by lane.
#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/body_emitter.h"

namespace korch::tile {

bool is_aligned(const Index& index, const std::string& variable, int lanes) {
  return index.affine_in(variable) && index.stride(variable) == 1 && index.constant() % lanes == 0 &&
         std::all_of(index.terms().begin(), index.terms().end(), [&](const Index::Term& term) {
           return term.coefficient % lanes == 0 || term.atom->name == variable;
         });
}

bool is_same_for_lanes(const Index& index, const std::string& variable, int lanes) {
  return std::all_of(index.terms().begin(), index.terms().end(), [&](const Index::Term& term) {
    const Atom& atom = *term.atom;
    return !term_index(term).depends_on(variable) ||
           (atom.kind == AtomKind::div && atom.a % lanes == 0 && is_aligned(atom.arg, variable, lanes));
  });
}

bool same_for_lanes(const Condition& condition, const std::string& variable, int lanes) {
  return std::all_of(condition.bounds().begin(), condition.bounds().end(), [&](const Bound& bound) {
    return !bound.index.depends_on(variable) ||
           (is_aligned(bound.index, variable, lanes) && bound.index.dynamics().empty() &&
            bound.low % lanes == 0 && (bound.high + 1) % lanes == 0);
  });
}

BodyEmitter::Operand BodyEmitter::emit_access(const Expr& e, int node, const std::string& pointer,
                                              const Index& offset) {
  bool dynamic_lanes = false;
  for (int dynamic : offset.dynamics()) dynamic_lanes = dynamic_lanes || is_vector(dynamic);
  const bool vector = is_vector(node) && (dynamic_lanes || offset.depends_on(variable_));
  return load(e.type, vector, dynamic_lanes, pointer, offset);
}

BodyEmitter::Operand BodyEmitter::load(DType type, bool vector, bool dynamic_lanes,
                                       const std::string& pointer, const Index& offset) {
  const bool is_bool = type == DType::bool_;
  if (!vector)
    return define(type, false, fmt::format("{}[{}]{}", pointer, index(offset), is_bool ? " != 0" : ""));
  const std::string stored = type_name(is_bool ? DType::u8 : type, lanes_);
  const std::optional<int64_t> known_stride = dynamic_lanes ? std::nullopt : lane_stride(offset);
  std::string value;
  if (known_stride == 0) return {as_vector(load(type, false, false, pointer, offset), type), true};
  if (known_stride) {
    const int64_t stride = *known_stride;
    const std::string at = fmt::format("{} + ({})", pointer, index(offset));
    const std::string count = count_.empty() ? std::to_string(lanes_) : count_;
    if (stride == 1 && count_.empty())
      value = fmt::format("{}<{}>({})", at_once("load", offset), stored, at);
    else if (stride == 1)
      value = fmt::format("load_first<{}>({}, {})", stored, at, count_);
    else if (stride == 2 && type == DType::f32 && count_.empty()) {
      source_.use_function("load_every_second_" + stored, lanes_);
      value = fmt::format("load_every_second_{}({})", stored, at);
    } else
      value = fmt::format("load_strided<{}>({}, {}, {})", stored, at, stride, count);
  } else if (value = gathered(type, pointer, offset); value.empty()) {
    for (int dynamic : offset.dynamics()) emit(dynamic);
    const std::string name = fresh("g");
    line(fmt::format("{} {} = {{}};", stored, name));
    lane_ = fresh("l");
    line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}[{4}];", lane_,
                     count_.empty() ? std::to_string(lanes_) : count_, name, pointer, index(offset)));
    lane_.clear();
    value = name;
  }
  if (is_bool) value = fmt::format("mask_of_bytes({})", value);
  return define(type, true, value);
}

// Lanes that begin at a multiple of their number cross no multiple of it: a division by one is the same for
// all, and its remainder counts them.
std::optional<int64_t> BodyEmitter::lane_stride(const Index& offset) const {
  int64_t stride = 0;
  for (const Index::Term& term : offset.terms()) {
    if (!term_index(term).depends_on(variable_)) continue;
    const Atom& atom = *term.atom;
    const bool divides = atom.kind == AtomKind::div || atom.kind == AtomKind::mod;
    if (atom.kind != AtomKind::variable &&
        !(from_multiple_ && divides && atom.a % lanes_ == 0 && is_aligned(atom.arg, variable_, lanes_)))
      return std::nullopt;
    if (atom.kind != AtomKind::div) stride += term.coefficient;
  }
  return stride;
}

std::string BodyEmitter::at_once(const char* access, const Index& offset) const {
  return fmt::format("{}{}", access,
                     memory_.aligned && is_aligned(offset, variable_, lanes_) ? "_aligned" : "");
}

void BodyEmitter::store_line(const std::string& pointer, const Index& offset, const std::string& value) {
  if (!count_.empty()) return store(pointer, offset, DType::f32, value, true);
  const std::string to = fmt::format("({} + ({}))", pointer, index(offset));
  open(fmt::format("if (((unsigned long){} & {}) == 0)", to, lanes_ * size_bytes(DType::f32) - 1));
  line(fmt::format("__builtin_nontemporal_store({}, ({}*){});", value, type_name(DType::f32, lanes_), to));
  close();
  open("else");
  store(pointer, offset, DType::f32, value, true);
  close();
}

void BodyEmitter::store(const std::string& pointer, const Index& offset, DType type, const std::string& value,
                        bool vector) {
  if (!vector) {
    line(fmt::format("{}[{}] = {};", pointer, index(offset), value));
    return;
  }
  const std::string stored = type == DType::bool_ ? fmt::format("bytes_of_mask({})", value) : value;
  const std::string count = count_.empty() ? std::to_string(lanes_) : count_;
  const std::optional<int64_t> known_stride = lane_stride(offset);
  if (!known_stride) {
    const std::string name = fresh("x");
    line(fmt::format("const {} {} = {};", type_name(type == DType::bool_ ? DType::u8 : type, lanes_), name,
                     stored));
    lane_ = fresh("l");
    line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{3}] = {4}[{0}];", lane_, count, pointer,
                     index(offset), name));
    lane_.clear();
    return;
  }
  const int64_t stride = *known_stride;
  const std::string at = fmt::format("{} + ({})", pointer, index(offset));
  if (stride == 1 && count_.empty())
    line(fmt::format("{}({}, {});", at_once("store", offset), at, stored));
  else if (stride == 1)
    line(fmt::format("store_first({}, {}, {});", at, stored, count_));
  else
    line(fmt::format("store_strided({}, {}, {}, {});", at, stride, stored, count));
}

}  // namespace korch::tile
