// An e-graph over Terms: classes of terms that are equal by the laws of laws.h, of which each holds every way
// found so far to compute it from other classes (Willsey et al., egg, POPL'21). What is ours:
//
// - Sums and products are nodes of many operands with coefficients and integer powers. So commutativity,
//   associativity, negation, division, and numbers need no laws: they are the normal form of a node.
// - A class knows the axes on which its value depends: those common to all its nodes, since equal values
//   depend on equal axes. Laws about folds ask for them.
// - x - max_a(x) keeps a node of its own as a call of Sub, which no law takes apart: exponentials of it are
// at
//   most 1, those of equal forms may round otherwise.
//
// Its numbers are real numbers: arithmetic on constants that would round stays undone. x/x is 1 as in a
// field. What infinities and NaN do is no business of its own (docs/design/block.md).
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "korch/block/term.h"

namespace korch::block {

using ClassId = int;

struct ENode {
  enum class Kind {
    leaf,
    number,
    sum,      // number + the sum of times * operand
    product,  // of operand ^ times; coefficients are a sum's
    exp,
    call,  // any other elementwise primitive: equal operands, equal results
    fold,
    window  // which no law takes apart
  };
  struct Part {
    ClassId of = 0;
    double times = 1;
    bool operator==(const Part&) const = default;
  };
  Kind kind = Kind::number;
  DType type = DType::f32;  // of leaves, calls and folds
  int leaf = -1;
  double number = 0;
  Op op = Op::Add;
  ScalarAttrs scalars = {};
  ScalarFn combine = ScalarFn::add;
  AxisSet over = 0;
  Window window = {};
  std::vector<Part> parts = {};  // operands; of sums and products each once, in the order of classes
  // Stands in a term that was added, other than those that laws made.
  bool given = false;

  // x - r, where r is the maximum or minimum of x over some axes.
  bool is_kept_difference() const { return kind == Kind::call && op == Op::Sub && is_float(type); }
};

// The same node but for `given`.
bool equal_nodes(const ENode& a, const ENode& b);

// Powers up to this one are products, in either direction.
constexpr double kMostPower = 8;

// If it is a number without rounding.
std::optional<double> exact_product(double a, double b);

class EGraph {
 public:
  explicit EGraph(std::vector<Leaf> leaves) : leaves_(std::move(leaves)) {}

  // The class of each of the terms that the wanted ones read, and theirs; -1 for the others.
  std::vector<ClassId> add(const Terms& terms, const std::vector<int>& wanted);
  // Of a node whose operands are classes, brought to its normal form.
  ClassId add(ENode node);
  void unite(ClassId a, ClassId b);
  // After unite: nodes whose operands became equal are one again. No: after many passes some are not.
  bool rebuild();

  ClassId find(ClassId id) const;
  bool same(ClassId a, ClassId b) const { return find(a) == find(b); }
  const std::vector<int>& nodes_of(ClassId id) const { return classes_[find(id)].nodes; }
  const ENode& node(int index) const { return nodes_[index]; }
  ClassId class_of(int node) const { return find(owner_[node]); }
  // A node that was found equal to another one stays in no class.
  bool is_live(int node) const { return live_[node]; }
  int node_slots() const { return static_cast<int>(nodes_.size()); }
  int class_slots() const { return static_cast<int>(parent_.size()); }

  AxisSet axes(ClassId id) const { return classes_[find(id)].axes; }
  AxisSet axes(const ENode& node) const;
  std::optional<double> number(ClassId id) const { return classes_[find(id)].number; }
  const std::vector<Leaf>& leaves() const { return leaves_; }

  int live_nodes() const;
  int live_classes() const;
  int unions() const { return unions_; }
  // Two numbers became equal, or something was divided by 0: the terms are none of a field, and nothing that
  // this e-graph says of them counts.
  bool contradiction() const { return contradiction_; }

 private:
  struct Class {
    std::vector<int> nodes = {};
    AxisSet axes = 0;
    std::optional<double> number = {};
    // A node times * operand of a sum, which other sums and products take apart.
    std::optional<ENode::Part> scaled = {};
  };
  struct Hasher {
    size_t operator()(const ENode& node) const;
  };
  struct Equal {
    bool operator()(const ENode& a, const ENode& b) const { return equal_nodes(a, b); }
  };

  void keep_difference(const Term& term, const Terms& terms, const std::vector<ClassId>& classes, ClassId id);
  ENode node_of(const Term& term, const Terms& terms, const std::vector<ClassId>& classes);
  // The node in its normal form; or the class that it turns out to be.
  std::optional<ClassId> normalize(ENode& node);
  std::optional<ClassId> normalize_sum(ENode& node);
  std::optional<ClassId> normalize_product(ENode& node);
  void merge_powers(std::vector<ENode::Part>& parts);
  ClassId add_normal(ENode node);
  bool is_infinite(ClassId id) const;
  bool is_scaled_by(ClassId of, ClassId id) const;
  void learn(ClassId id, const ENode& node);
  bool renormalize_all();
  void learn_axes();

  std::vector<Leaf> leaves_;
  std::vector<ENode> nodes_;
  std::vector<ClassId> owner_;
  std::vector<bool> live_;
  std::vector<Class> classes_;
  std::vector<ClassId> parent_;
  std::unordered_map<ENode, int, Hasher, Equal> known_;
  int unions_ = 0;
  bool contradiction_ = false;
};

}  // namespace korch::block
