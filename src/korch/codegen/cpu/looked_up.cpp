// Indices from data, and elements at places that they tell.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/cpu/lane_text.h"

namespace korch::tile {

BodyEmitter::Operand BodyEmitter::emit_checked(const Expr& e, bool vector) {
  const std::string at = vector ? emit_full(e.args[0]) : emit(e.args[0]).text;
  const std::string name = fresh("d");
  if (!vector) {
    line(fmt::format("int64_t {0} = {1} < 0 ? {1} + {2} : {1};", name, at, e.integer));
    line(fmt::format("if ((uint64_t){} >= {}) {}", name, e.integer, memory_.fail(name)));
    return {name, false};
  }
  const std::string type = type_name(e.type, lanes_);
  if (e.type == DType::i32) {
    // Lanes beyond the last one are 0.
    const std::string lanes = count_.empty() ? "" : fmt::format(" & lanes_below_m{}({})", lanes_, count_);
    source_.use_function("any_outside", lanes_);
    line(fmt::format("const {0} {1} = ({2} + (({2} < 0) & {3})){4};", type, name, at, e.integer, lanes));
    line(fmt::format("if (any_outside({}, {})) {}", name, e.integer, memory_.fail(name)));
    return {name, true};
  }
  const std::string lane = fresh("l");
  line(fmt::format("{0} {1} = {2} + (({2} < 0) & {3});", type, name, at, e.integer));
  line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) if ((uint64_t){2}[{0}] >= {3}) {4}", lane,
                   count_.empty() ? std::to_string(lanes_) : count_, name, e.integer, memory_.fail(name)));
  return {name, true};
}

// Where 32 bits hold what the lanes' places differ by, and the processor loads a vector of such places.
std::string BodyEmitter::gathered(DType type, const std::string& pointer, const Index& offset) {
  if (type != DType::f32 || memory_.aligned || !source_.loads_looked_up(lanes_)) return {};
  Index base = offset;
  std::string differences;
  int64_t most = 0;
  for (const Index::Term& term : offset.terms()) {
    const Index part = term_index(term);
    const std::set<int> dynamics = part.dynamics();
    const bool looked_up =
        std::any_of(dynamics.begin(), dynamics.end(), [&](int id) { return is_vector(id); });
    if (!looked_up && !part.depends_on(variable_)) continue;
    const Atom& atom = *term.atom;
    const bool is_index = atom.kind == AtomKind::dynamic && pool_[atom.id].type == DType::i32;
    if (!is_index && atom.kind != AtomKind::variable) return {};
    const int64_t last = is_index ? atom.range.high : lanes_ - 1;
    const int64_t step = std::abs(term.coefficient);
    if (step > std::numeric_limits<int32_t>::max() / std::max<int64_t>(last, 1)) return {};
    most += step * last;
    if (is_index) base = base - part;
    differences += fmt::format("{}{} * {}", differences.empty() ? "" : " + ",
                               is_index ? emit(atom.id).text : fmt::format("lane_numbers_{}()", lanes_),
                               term.coefficient);
  }
  if (most > std::numeric_limits<int32_t>::max()) return {};
  source_.use_function("load_looked_up", lanes_);
  return fmt::format("load_looked_up({} + ({}), {}, {})", pointer, index(base), differences,
                     count_.empty() ? std::to_string(lanes_) : count_);
}

}  // namespace korch::tile
