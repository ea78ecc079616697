// Expressions of an ExprPool as C++ statements, one element or one vector of `lanes` along one loop variable
// at a time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/codegen/cpu/source_text.h"
#include "korch/kernel/expr.h"

namespace korch::tile {

// Where an intermediate's element lies: in memory at pointer[offset], or already in `text` (a vector, or a
// scalar when lanes is 1 or the coordinates do not mention the vector variable).
struct IntermediatePlace {
  std::string pointer;
  Index offset;
  std::string text;
};

// How the body's loads and stores are spelled; filled in by the printer of the loops.
struct MemorySpelling {
  std::function<std::string(int buffer)> pointer;
  std::function<IntermediatePlace(const Expr& intermediate)> intermediate;
  // The statement for a gather index (a variable of this name) that is out of range.
  std::function<std::string(const std::string& name)> fail = [](const std::string&) { return "return 1;"; };
  // Vectors are loaded and stored at once only where they are aligned, as `load_aligned`. Lanes then start at
  // multiples of their number.
  bool aligned = false;
};

// Whether `lanes` values of the variable from a multiple of them on lie beside each other, from a multiple of
// them on.
bool is_aligned(const Index& index, const std::string& variable, int lanes);
// Whether an index is the same for all `lanes` values of the variable from a multiple of them on.
bool is_same_for_lanes(const Index& index, const std::string& variable, int lanes);
// Whether a condition is the same for all `lanes` values of the variable from a multiple of them on.
bool same_for_lanes(const Condition& condition, const std::string& variable, int lanes);

class BodyEmitter {
 public:
  BodyEmitter(const ExprPool& pool, MemorySpelling memory, SourceText& source);

  struct Operand {
    std::string text;
    bool vector = false;
  };

  // Sets the lanes for all that is emitted from now on; the first lane is at a multiple of their number or
  // anywhere. Vectors emitted before are forgotten, single elements stay known.
  void set_lanes(const std::string& variable, int lanes, const std::string& count,
                 bool from_multiple = false);
  // Emission appends here.
  void set_output(std::string* code, std::string indent);
  const std::string& indent() const { return indent_; }
  // Of variables that count; narrower ones where every index fits.
  void set_index_type(const std::string& type) { index_type_ = type; }
  const std::string& index_type() const { return index_type_; }
  void line(const std::string& text) { *code_ += indent_ + text + "\n"; }

  Operand emit(int node);
  // A vector when lanes > 1, whatever the node depends on.
  std::string emit_full(int node);
  std::string as_vector(const Operand& operand, DType type);
  void store(const std::string& pointer, const Index& offset, DType type, const std::string& value,
             bool vector);
  // The element stored there now; earlier reads of it do not count.
  std::string stored(const std::string& pointer, const Index& offset, DType type, bool vector) {
    return load(type, vector, false, pointer, offset).text;
  }

  // Stores a whole vector past the caches, if it is a cache line. (The caller's own buffers need not be
  // aligned.)
  void store_line(const std::string& pointer, const Index& offset, const std::string& value);

  // Opens and closes a block { }. Values emitted inside are forgotten at its end.
  void open(const std::string& head);
  void close(const std::string& after = "");
  // Emits those parts of `roots` that are unconditional and depend on the variables in `bound` alone.
  void hoist(const std::vector<int>& roots, const std::set<std::string>& bound);
  // A load that the caller has already made under this name.
  void preset(int node, const std::string& name, bool vector = true) { remember(node, {name, vector}); }

  std::string fresh(const std::string& prefix);
  std::string index(const Index& index);
  int lanes() const { return lanes_; }
  // Declares a variable with a reduction's start value (with `positions` a second one, NAME_at, of i64).
  std::string accumulator(ScalarFn fn, DType type, int lanes, bool positions);
  // Replaces accumulator and its position where the element is the new extreme. With `nan_wins` the first NaN
  // wins for good.
  void take_extreme(ScalarFn fn, DType type, const std::string& accumulator, const std::string& position,
                    const std::string& element, const std::string& at, bool select_last, bool nan_wins);
  std::string combine(ScalarFn fn, DType type, const std::string& a, const std::string& b, int lanes);

 private:
  bool is_vector(int node) const;
  bool guards_lanes(int node) const;
  // Elements from a lane to the next one; nothing where that differs.
  std::optional<int64_t> lane_stride(const Index& offset) const;
  std::string at_once(const char* access, const Index& offset) const;
  void remember(int node, Operand operand);
  Operand define(DType type, bool vector, const std::string& value);
  Operand emit_new(int node);
  Operand emit_constant(const Expr& e);
  Operand emit_access(const Expr& e, int node, const std::string& pointer, const Index& offset);
  Operand load(DType type, bool vector, bool dynamic_lanes, const std::string& pointer, const Index& offset);
  Operand emit_call(const Expr& e, bool vector);
  std::string call_text(const Expr& e, const std::vector<std::string>& args, int lanes);
  Operand emit_lanewise_call(const Expr& e);
  std::string emit_int32(int node);
  std::string bounded_text(const Expr& e, const std::vector<std::string>& args);
  Operand emit_cast(const Expr& e, bool vector);
  std::string cast_text(DType from, DType to, const std::string& operand, int lanes);
  Operand emit_guard(const Expr& e, bool vector);
  Operand emit_fold(const Expr& e, int node, bool vector);
  Operand emit_checked(const Expr& e, bool vector);
  // A vector of elements whose places data tell, loaded at once; empty: one by one.
  std::string gathered(DType type, const std::string& pointer, const Index& offset);
  bool holds_between_ends(const Expr& e) const;
  Operand emit_guard_by_ends(int node);
  Operand emit_by_lane(int node);

  const ExprPool& pool_;
  MemorySpelling memory_;
  SourceText& source_;
  std::string* code_ = nullptr;
  std::string indent_;
  std::string index_type_ = "int64_t";
  std::string variable_;  // the vector variable
  int lanes_ = 1;
  std::string count_;
  bool from_multiple_ = false;
  std::string lane_;  // spelling of the current lane while going lane by lane
  std::map<int, Operand> known_;
  std::vector<std::vector<int>> scopes_;
  int names_ = 0;
  bool nested_ = false;  // inside an emission that goes operands first
};

}  // namespace korch::tile
