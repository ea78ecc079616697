// Index: an integer expression over loop variables, kept in a normal form: constant + sum of coefficient *
// atom, where an atom is a variable, a floor division or modulo by a constant, an absolute value, a clamp, or
// a value known only at run time. Every constructor simplifies with the ranges of the variables, so (g*4 + c)
// / 4 with 0 <= c < 4 is g. Immutable; equal expressions print equal. Atoms are interned for the whole
// process: an index is copied and compared without touching text or memory of its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace korch::tile {

// For tables in memory: `hash` with one more value. No content hash (base/hash.h).
inline size_t mixed(size_t hash, size_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15 ^ (hash >> 29);
}

struct Atom;

struct IndexRange {
  int64_t low = 0, high = 0;  // both inclusive
  bool inside(int64_t least, int64_t most) const { return low >= least && high <= most; }
};

class Index {
 public:
  struct Term {
    int64_t coefficient = 0;
    const Atom* atom = nullptr;
  };

  // Summands in a row. Few of them need no memory of their own.
  class Terms {
   public:
    const Term* begin() const { return more_.empty() ? few_.data() : more_.data(); }
    const Term* end() const { return begin() + size_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const Term& operator[](size_t i) const { return begin()[i]; }
    void add(const Term& term);

   private:
    static constexpr size_t kFew = 4;
    size_t size_ = 0;
    std::array<Term, kFew> few_;
    std::vector<Term> more_;  // all of them, once they are more than a few
  };

  Index(int64_t constant = 0) : constant_(constant) {}  // NOLINT: integers are indices
  // `name` is the variable's identity and its C++ spelling; values are low .. high, inclusive.
  static Index variable(const std::string& name, int64_t low, int64_t high);
  static Index variable(const std::string& name, int64_t extent) { return variable(name, 0, extent - 1); }
  // A value computed at run time (the index operand of a gather), within [0, extent); `id` is what names it.
  static Index dynamic(int id, int64_t extent);

  bool is_constant() const { return terms_.empty(); }
  int64_t constant() const { return constant_; }
  const Terms& terms() const { return terms_; }  // sorted by the atoms' keys, coefficients not 0
  IndexRange range() const;

  // d(this)/d(variable) when the expression is affine in it, i.e. no division, clamp ... contains it.
  bool affine_in(const std::string& variable) const;
  int64_t stride(const std::string& variable) const;  // meaningful when affine_in; 0 when absent
  bool depends_on(const std::string& variable) const;
  std::set<std::string> variables() const;
  std::set<int> dynamics() const;

  // Variables are the same by name, whatever their ranges.
  bool operator==(const Index& other) const;
  size_t hash() const;

 private:
  friend class SumBuilder;

  int64_t constant_ = 0;
  Terms terms_;
};

enum class AtomKind { variable, dynamic, div, mod, abs, clamp };

// There is one object for all equal atoms whose variables have equal ranges; it is never freed.
struct Atom {
  AtomKind kind = AtomKind::variable;
  IndexRange range;
  std::string name;      // variable
  int id = -1;           // dynamic
  Index arg;             // the rest
  int64_t a = 0, b = 0;  // divisor; clamp's low and high
  std::string_view key;  // canonical text: equal for equal atoms, whatever the ranges of their variables
  size_t identity = 0;   // one number per key
  std::set<std::string> variables;
  std::set<int> dynamics;
};

int64_t floor_quotient(int64_t a, int64_t b);  // b != 0

Index term_index(const Index::Term& term);  // one summand alone
Index operator+(const Index& a, const Index& b);
Index operator-(const Index& a, const Index& b);
Index operator*(const Index& a, int64_t b);
Index floor_div(const Index& a, int64_t divisor);  // divisor > 0
Index floor_mod(const Index& a, int64_t divisor);  // in [0, divisor)
Index absolute(const Index& a);
Index clamp(const Index& a, int64_t low, int64_t high);

// The same kind of atom with another argument.
Index rebuilt(const Atom& atom, const Index& arg);

using Replacements = std::map<std::string, Index>;
// Replaces variables (by name) and simplifies again. Also how a variable gets a narrower range. `dynamics`,
// if given, renames run-time values.
Index substitute(const Index& index, const Replacements& replacements,
                 const std::function<int(int)>& dynamics = {});

// A place where a variable would have to be split for a division or modulo to disappear:
// variable = outer * inner_extent + inner.
struct Split {
  std::string variable;
  int64_t inner_extent;
};
// The first useful one among the variables that `allowed` names, or inner_extent 0.
Split find_split(const Index& index, const std::function<bool(const std::string&)>& allowed);

// Values of `variable` (when it is the only variable of a clamp or absolute value) at which the expression
// changes its affine piece: x such that pieces are [.., x) and [x, ..).
void collect_breakpoints(const Index& index, const std::string& variable, std::set<int64_t>& points);

// C++ text over int64_t variables. `dynamic` spells run-time values (may be empty when there are none);
// `variable` overrides the spelling of variables when set.
struct IndexSpelling {
  std::function<std::string(int id)> dynamic;
  std::function<std::string(const std::string& name)> variable;
};
std::string print(const Index& index, const IndexSpelling& spelling = {});

// low <= index <= high.
struct Bound {
  Index index;
  int64_t low, high;
  bool operator==(const Bound&) const = default;
};

// A conjunction of bounds, simplified: bounds that always hold are gone.
class Condition {
 public:
  static Condition always() { return {}; }
  Condition& require(const Index& index, int64_t low, int64_t high);
  Condition& require(const Condition& other);
  bool always_true() const { return !never_ && bounds_.empty(); }
  bool always_false() const { return never_; }
  const std::vector<Bound>& bounds() const { return bounds_; }
  bool operator==(const Condition&) const = default;
  size_t hash() const;
  bool depends_on(const std::string& variable) const;
  std::set<std::string> variables() const;

 private:
  std::vector<Bound> bounds_;
  bool never_ = false;
};

Condition substitute(const Condition& condition, const Replacements& replacements,
                     const std::function<int(int)>& dynamics = {});
void collect_breakpoints(const Condition& condition, const std::string& variable, std::set<int64_t>& points);
std::string print(const Condition& condition, const IndexSpelling& spelling = {});

}  // namespace korch::tile
