#include "korch/block/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace korch::block {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// An axis whose extent is not known counts so many values.
constexpr double kUnknownExtent = 256;

// Goes through the choices depth first: the class that waits longest takes its nodes in turn.
class ChoiceSearch {
 public:
  using Choice = Chooser::Choice;

  ChoiceSearch(const EGraph& graph, const std::vector<bool>& fit, const std::vector<double>& own_cost,
               const std::vector<double>& tree_cost)
      : graph_(graph), fit_(fit), own_cost_(own_cost), tree_cost_(tree_cost) {}

  void run(const std::vector<ClassId>& results, double slack, int most, Pruned& pruned,
           const std::function<bool(const Choice&)>& take) {
    slack_ = slack, left_ = most, pruned_ = &pruned, take_ = &take;
    chosen_.assign(tree_cost_.size(), -1);
    limit_ = kInfinite;
    std::vector<ClassId> open;
    for (ClassId result : results) open.push_back(graph_.find(result));
    go(open, 0);
  }

 private:
  void go(std::vector<ClassId> open, double cost) {
    if (left_ == 0) return;
    if (cost > limit_) {
      ++(*pruned_)["dearer"];
      return;
    }
    while (!open.empty() && chosen_[open.back()] >= 0) open.pop_back();
    if (open.empty()) return found(cost);
    const ClassId id = open.back();
    open.pop_back();
    for (int node : nodes_in_order(id)) {
      chosen_[id] = node;
      std::vector<ClassId> next = open;
      for (const ENode::Part& part : graph_.node(node).parts) next.push_back(graph_.find(part.of));
      go(std::move(next), cost + own_cost_[node]);
      chosen_[id] = -1;
      if (left_ == 0) return;
    }
  }

  std::vector<int> nodes_in_order(ClassId id) const {
    std::vector<std::pair<double, int>> nodes;
    for (int node : graph_.nodes_of(id)) {
      double cost = own_cost_[node];
      for (const ENode::Part& part : graph_.node(node).parts) cost += tree_cost_[graph_.find(part.of)];
      if (fit_[node] && cost < kInfinite) nodes.push_back({cost, node});
    }
    std::sort(nodes.begin(), nodes.end());
    std::vector<int> order;
    for (const auto& [cost, node] : nodes) order.push_back(node);
    return order;
  }

  void found(double cost) {
    std::vector<int> state(chosen_.size(), 0);
    for (ClassId id = 0; id < static_cast<ClassId>(chosen_.size()); ++id)
      if (chosen_[id] >= 0 && !ends(id, state)) {
        ++(*pruned_)["a value that needs itself"];
        return;
      }
    limit_ = std::min(limit_, cost * slack_);
    --left_;
    if (!(*take_)(chosen_)) left_ = 0;
  }

  // Whether no value below needs itself; state: 1 being looked at, 2 seen.
  bool ends(ClassId id, std::vector<int>& state) const {
    if (state[id] != 0) return state[id] == 2;
    state[id] = 1;
    for (const ENode::Part& part : graph_.node(chosen_[id]).parts)
      if (!ends(graph_.find(part.of), state)) return false;
    state[id] = 2;
    return true;
  }

  const EGraph& graph_;
  const std::vector<bool>& fit_;
  const std::vector<double>& own_cost_;
  const std::vector<double>& tree_cost_;
  Choice chosen_;
  double slack_ = 1, limit_ = 0;
  int left_ = 0;
  Pruned* pruned_ = nullptr;
  const std::function<bool(const Choice&)>* take_ = nullptr;
};

}  // namespace

Chooser::Chooser(const EGraph& graph, std::vector<Axis> axes) : graph_(graph), axes_(std::move(axes)) {
  learn_differences();
  for (int i = 0; i < graph_.node_slots(); ++i) {
    fit_.push_back(false);
    own_cost_.push_back(kInfinite);
    if (!graph_.is_live(i)) continue;
    const std::string why = why_unfit(graph_.node(i), graph_.class_of(i));
    if (!why.empty()) {
      ++unfit_[why];
      continue;
    }
    fit_[i] = true;
    own_cost_[i] = own_cost(graph_.node(i));
  }
  learn_costs();
}

double Chooser::size(AxisSet axes) const {
  double size = 1;
  for (size_t i = 0; i < axes_.size(); ++i)
    if ((axes & axis_set(static_cast<int>(i))) != 0)
      size *= axes_[i].extent > 0 ? static_cast<double>(axes_[i].extent) : kUnknownExtent;
  return size;
}

double Chooser::weight(Op op) {
  constexpr Op kCheap[] = {Op::Add,     Op::Sub,
                           Op::Mul,     Op::Max,
                           Op::Min,     Op::Neg,
                           Op::Abs,     Op::Relu,
                           Op::Where,   Op::Equal,
                           Op::Less,    Op::Not,
                           Op::And,     Op::Or,
                           Op::Xor,     Op::LeakyRelu,
                           Op::Sign,    Op::PRelu,
                           Op::Floor,   Op::LessOrEqual,
                           Op::Greater, Op::GreaterOrEqual,
                           Op::Ceil};
  if (std::find(std::begin(kCheap), std::end(kCheap), op) != std::end(kCheap)) return 1;
  if (op == Op::Div || op == Op::Reciprocal || op == Op::Sqrt) return 4;
  return 10;
}

void Chooser::learn_differences() {
  for (int i = 0; i < graph_.node_slots(); ++i) {
    const ENode& node = graph_.node(i);
    if (!graph_.is_live(i) || !node.is_kept_difference()) continue;
    const ClassId of = graph_.find(node.parts[0].of);
    differences_.emplace(graph_.class_of(i), of);
    extrema_.emplace(graph_.find(node.parts[1].of), of);
  }
}

// Exponentials that laws took apart serve proofs: of a softmax they lack the maximum and overflow.
std::string Chooser::why_unfit(const ENode& node, ClassId id) const {
  if (node.kind == ENode::Kind::exp && !node.given) return "exp that the group does not take";
  const auto difference = differences_.find(id), extremum = extrema_.find(id);
  if (difference != differences_.end() && !node.is_kept_difference())
    return "another form of a difference from a maximum";
  if (extremum != extrema_.end() &&
      (node.kind != ENode::Kind::fold || graph_.find(node.parts[0].of) != extremum->second))
    return "another form of a difference from a maximum";
  if (graph_.axes(node) != graph_.axes(id)) return "over an axis that it does not depend on";
  if (node.kind == ENode::Kind::fold && (node.over & ~graph_.axes(node.parts[0].of)) != 0)
    return "a fold over an axis that its terms do not depend on";
  if (node.kind == ENode::Kind::fold && node.type != DType::f32) return "a fold of what is no float32";
  return {};
}

Pairing Chooser::pairing(const ENode& node) const {
  const bool is_sum = node.kind == ENode::Kind::sum;
  Pairing result;
  for (const ENode::Part& part : node.parts) {
    const bool inverse = part.times < 0;
    const double times = std::fabs(part.times);
    const Pairing::Operand operand = {part.of, is_sum ? times : 1, graph_.axes(part.of), inverse};
    result.operands.insert(result.operands.end(), is_sum ? 1 : static_cast<size_t>(times), operand);
  }
  if (is_sum && node.number != 0) result.operands.push_back({-1, std::fabs(node.number), 0, node.number < 0});
  result.given = static_cast<int>(result.operands.size());
  std::vector<int> left;
  for (int i = 0; i < result.given; ++i) left.push_back(i);
  while (left.size() > 1) {
    size_t best_a = 0, best_b = 1;
    double least = kInfinite;
    for (size_t a = 0; a < left.size(); ++a)
      for (size_t b = a + 1; b < left.size(); ++b) {
        const Pairing::Operand &one = result.operands[left[a]], &other = result.operands[left[b]];
        const double elements = size(one.axes | other.axes);
        if (elements < least) least = elements, best_a = a, best_b = b;
      }
    int a = left[best_a], b = left[best_b];
    if (result.operands[a].inverse && !result.operands[b].inverse) std::swap(a, b);
    const Pairing::Operand &one = result.operands[a], &other = result.operands[b];
    const bool differ = one.inverse != other.inverse;
    const Op op = is_sum ? (differ ? Op::Sub : Op::Add) : (differ ? Op::Div : Op::Mul);
    const Pairing::Operand made = {-1, 1, one.axes | other.axes, one.inverse};
    result.pairs.push_back({a, b, op});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best_b));
    left[best_a] = static_cast<int>(result.operands.size());
    result.operands.push_back(made);
  }
  result.inverse = result.operands[left[0]].inverse;
  return result;
}

double Chooser::own_cost(const ENode& node) const {
  switch (node.kind) {
    case ENode::Kind::leaf:
    case ENode::Kind::window:
      return size(graph_.axes(node));
    case ENode::Kind::number:
      return 0;
    case ENode::Kind::exp:
      return weight(Op::Exp) * size(graph_.axes(node));
    case ENode::Kind::call:
      return weight(node.op) * size(graph_.axes(node));
    case ENode::Kind::fold:
      return size(graph_.axes(node.parts[0].of));
    case ENode::Kind::sum:
    case ENode::Kind::product:
      break;
  }
  const Pairing pairs = pairing(node);
  double cost = 0;
  for (size_t i = 0; i < pairs.pairs.size(); ++i)
    cost += weight(pairs.pairs[i].op) * size(pairs.operands[pairs.given + i].axes);
  for (int i = 0; i < pairs.given; ++i)
    if (pairs.operands[i].of >= 0 && pairs.operands[i].factor != 1) cost += size(pairs.operands[i].axes);
  if (pairs.inverse)
    cost += (node.kind == ENode::Kind::sum ? 1 : weight(Op::Reciprocal)) * size(graph_.axes(node));
  return cost;
}

void Chooser::learn_costs() {
  const auto classes = static_cast<size_t>(graph_.class_slots());
  tree_cost_.assign(classes, kInfinite);
  cheapest_.assign(classes, -1);
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < graph_.node_slots(); ++i) {
      if (!fit_[i]) continue;
      double cost = own_cost_[i];
      for (const ENode::Part& part : graph_.node(i).parts) cost += tree_cost_[graph_.find(part.of)];
      const ClassId id = graph_.class_of(i);
      // A hair less is rounding, which would go on.
      if (!(cost < tree_cost_[id] * (1 - 1e-9))) continue;
      tree_cost_[id] = cost;
      cheapest_[id] = i;
      changed = true;
    }
  }
}

void Chooser::choices(const std::vector<ClassId>& results, double slack, int most, Pruned& pruned,
                      const std::function<bool(const Choice&)>& take) const {
  ChoiceSearch(graph_, fit_, own_cost_, tree_cost_).run(results, slack, most, pruned, take);
}

}  // namespace korch::block
