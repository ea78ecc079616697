// The computation of a nest per element: a directed acyclic graph of scalar expressions over loads at
// symbolic offsets. Equal expressions are one node.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "korch/ir/graph.h"
#include "korch/kernel/index.h"

namespace korch::tile {

enum class ExprKind {
  constant,      // number (floats) or integer
  load,          // argument `buffer` at element coords[0]
  intermediate,  // an element of a Value held in a buffer of the kernel (or provided by the caller), at
                 // `coords`
  call,          // fn of args; the type at hand is that of the operands (ir/scalar.h); `type` is the result's
  guard,         // args[0] where `condition` holds, else args[1]; the other one is not evaluated
  fold,          // args[0] combined by fn over all values of `over`
  checked  // args[0], of i64 or i32, as an index of an axis of `integer` elements: negatives wrap, out of
           // range fails the kernel
};

struct LoopVariable {
  std::string name;
  int64_t extent = 1;
  bool operator==(const LoopVariable&) const = default;
};

struct Expr {
  ExprKind kind = ExprKind::constant;
  DType type = DType::f32;
  double number = 0;
  int64_t integer = 0;
  int buffer = -1;
  ValueId value = kNoId;
  std::vector<Index> coords;
  ScalarFn fn = ScalarFn::add;
  bool decaying = false;  // exp of what is never positive: 0 may stand for what is no normal number
  std::vector<int> args;
  Condition condition;
  LoopVariable over;
};

class ExprPool {
 public:
  int add(Expr expr);
  int constant(DType type, double number);
  int call(ScalarFn fn, DType type, std::vector<int> args);
  // From now on quotients stay quotients. Else what does not change while the dividend does is inverted once,
  // after it was compared with what has no inverse among floats; fields have no bound for comparisons.
  void keep_quotients() { keeps_quotients_ = true; }
  int decaying_exp(int arg);
  // a where the condition holds, else b; either alone when the condition is decided.
  int guard(const Condition& condition, int a, int b);

  const Expr& operator[](int id) const { return nodes_[id]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  // Names of the loop variables that the node's value depends on.
  const std::set<std::string>& variables(int id) const { return *variables_[id]; }
  // Operands, including the run-time indices inside its coordinates.
  std::vector<int> operands(int id) const;
  // All nodes that the roots need, operands first. With `into`, the operands of nodes for which it fails are
  // left out. Without recursion: a chain of fused primitives may be longer than a stack is deep.
  std::vector<int> reachable(const std::vector<int>& roots,
                             const std::function<bool(const Expr&)>& into = nullptr) const;
  // Those of them that every evaluation computes: neither alternatives of guards nor folded expressions.
  std::vector<int> unconditional(const std::vector<int>& roots) const;

 private:
  int tanh_of_softplus(DType type, int operand);
  int times_inverse(DType type, int x, int y);

  using Names = std::shared_ptr<const std::set<std::string>>;
  Names names_of(const Expr& expr, int id) const;
  // Where the node stands in slots_, or the free place where it would.
  size_t slot_of(const Expr& expr, size_t hash) const;
  void grow();

  bool keeps_quotients_ = false;
  std::vector<Expr> nodes_;
  std::vector<size_t> hashes_;    // of nodes
  std::vector<int> slots_;        // nodes by hash, open addressing; -1: free
  std::vector<Names> variables_;  // nodes of the same variables share them
};

// Copies expressions from one pool to another (or the same): variables replaced (by narrower ones, say), and
// everything simplified again, so that conditions which have become decided are gone.
class Rewriter {
 public:
  // What stands for a load or intermediate; its coordinates are already replaced.
  using Access = std::function<Expr(Expr)>;
  Rewriter(const ExprPool& from, ExprPool& to, Replacements replacements, Access access = {})
      : from_(from), to_(to), replacements_(std::move(replacements)), access_(std::move(access)) {}

  // Decides guards from now on: `condition`, whose variables are already replaced, holds, or does not.
  void assume(Condition condition, bool holds) { (holds ? known_ : refuted_) = std::move(condition); }

  std::vector<int> rewrite(const std::vector<int>& roots);
  Index rewrite(const Index& index) const;  // run-time values in it: only those that the roots need

 private:
  int rewrite_one(Expr e);
  int rewrite_guard(const Expr& e);
  int renamed(int id) const { return ids_.at(id); }

  const ExprPool& from_;
  ExprPool& to_;
  Replacements replacements_;
  Access access_;
  Condition known_;    // holds
  Condition refuted_;  // does not hold; always: nothing is refuted
  std::map<int, int> ids_;
};

// What a reduction starts from: 0, 1, -inf or +inf (the type's extreme for integers).
int identity_of(ExprPool& pool, ScalarFn combine, DType type);

// A coordinate that the expression tells, of an axis of `extent` elements; in 32 bits where these hold what
// its type does, since vectors have more lanes of them.
Index checked_index(ExprPool& pool, int expression, int64_t extent);

}  // namespace korch::tile
