// Ensembles of trees: all trees go down one level at a time, each by a lookup of its node's feature,
// threshold and children; then the votes of the leaves where they are. Comparisons are those of float32, or
// of float64 for such features, as ONNX Runtime's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "korch/onnx/learners.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {
namespace {

// What a node asks of its feature. The last has no question: a leaf.
enum class Branch { leq, lt, gte, gt, eq, neq, member, leaf };
constexpr const char* kBranches[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                     "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};

struct TreeNode {
  Branch branch = Branch::leaf;
  int64_t feature = 0;
  double threshold = 0;
  int64_t yes = 0, no = 0;  // nodes of the forest
  bool missing_is_yes = false;
};

struct Vote {
  int64_t node, target;
  double weight;
};

enum class Aggregate { average, sum, min, max };
constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  std::vector<Vote> votes;
  int64_t targets = 1;
};

// Deeper ones are refused: each level is some operators of its own.
constexpr int64_t kMaxDepth = 256;

// The longest way from each root to a leaf. Refuses cycles.
int64_t depth_of(NodeImport& n, const Forest& forest) {
  enum class State : uint8_t { fresh, open, done };
  std::vector<State> states(forest.nodes.size(), State::fresh);
  std::vector<int64_t> depths(forest.nodes.size(), 0);
  int64_t result = 0;
  std::vector<int64_t> stack;
  for (int64_t root : forest.roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const int64_t at = stack.back();
      const TreeNode& node = forest.nodes[at];
      if (states[at] != State::fresh || node.branch == Branch::leaf) {
        if (states[at] == State::open) depths[at] = 1 + std::max(depths[node.yes], depths[node.no]);
        states[at] = State::done;
        stack.pop_back();
        continue;
      }
      states[at] = State::open;
      for (int64_t child : {node.yes, node.no}) {
        if (states[child] == State::open) n.invalid("its nodes form a cycle: a child is above its parent");
        if (states[child] == State::fresh) stack.push_back(child);
      }
    }
    result = std::max(result, depths[root]);
  }
  if (result > kMaxDepth) n.unsupported(fmt::format("trees of {} levels, more than {}", result, kMaxDepth));
  return result;
}

void require_features(NodeImport& n, const Forest& forest, int64_t features) {
  for (const TreeNode& node : forest.nodes)
    if (node.branch != Branch::leaf && (node.feature < 0 || node.feature >= features))
      n.invalid(fmt::format("a node asks for feature {} of {}", node.feature, features));
}

// Tables of the forest's nodes.
class ForestTables {
 public:
  ForestTables(NodeImport& n, const Forest& forest, DType type) : n_(n), forest_(forest), type_(type) {
    for (const TreeNode& node : forest.nodes) {
      if (node.branch == Branch::leaf) continue;
      if (!branch_) branch_ = node.branch;
      uniform_ = uniform_ && node.branch == *branch_;
      missing_ = missing_ || node.missing_is_yes;
    }
  }

  // The nodes [rows, trees] where features [rows, features] lead.
  Term leaves(const Term& x, int64_t depth) {
    const auto trees = static_cast<int64_t>(forest_.roots.size());
    Term at = reshape(numbers(DType::i32, forest_.roots), {1, trees});
    for (int64_t level = 0; level < depth; ++level) {
      const Term feature = of_nodes(
          at, [](const TreeNode& node) { return static_cast<double>(node.feature); }, DType::i32);
      const Term value = level == 0 ? apply(Op::Gather, {x, reshape(feature, {trees})}, AxisAttrs{1})
                                    : gather_elements(x, feature, 1);
      const Term yes = goes_on(at, value);
      at = apply(Op::Gather, {children(), at * 2.0 + cast(yes, DType::i32)}, AxisAttrs{0});
    }
    if (depth > 0) return at;
    const Term first =
        apply(Op::Gather, {x, numbers(DType::i64, Shape(forest_.roots.size(), 0))}, AxisAttrs{1});
    return expand_like(at, first);
  }

 private:
  Term numbers(DType type, const std::vector<int64_t>& values) { return cast({n_, n_.ints(values)}, type); }

  template <typename F>
  Term of_nodes(const Term& at, F&& value, DType type) {
    std::vector<double> values;
    for (const TreeNode& node : forest_.nodes) values.push_back(value(node));
    const Term table = constant(n_, type, {static_cast<int64_t>(values.size())}, values);
    return apply(Op::Gather, {table, at}, AxisAttrs{0});
  }
  template <typename F>
  Term flag_of_nodes(const Term& at, F&& value) {
    return of_nodes(
               at, [&](const TreeNode& node) { return value(node) ? 1.0 : 0.0; }, DType::i32) == 1.0;
  }

  // The child for no and the child for yes of each node; a leaf's is itself.
  Term children() {
    std::vector<int64_t> values;
    for (const TreeNode& node : forest_.nodes) values.insert(values.end(), {node.no, node.yes});
    return numbers(DType::i32, values);
  }

  Term goes_on(const Term& at, const Term& value) {
    const Term threshold = of_nodes(
        at, [](const TreeNode& node) { return node.threshold; }, type_);
    const Term yes =
        uniform_ ? asked(branch_.value_or(Branch::leq), value, threshold) : mixed(at, value, threshold);
    if (!missing_) return yes;
    return yes || (apply(Op::IsNaN, {value}) &&
                   flag_of_nodes(at, [](const TreeNode& node) { return node.missing_is_yes; }));
  }

  static Term asked(Branch branch, const Term& x, const Term& threshold) {
    switch (branch) {
      case Branch::leq:
        return x <= threshold;
      case Branch::lt:
        return x < threshold;
      case Branch::gte:
        return threshold <= x;
      case Branch::gt:
        return threshold < x;
      case Branch::neq:
        return !(x == threshold);
      case Branch::eq:
      case Branch::member:
      case Branch::leaf:
        break;
    }
    return x == threshold;
  }

  // Nodes of several kinds: what each says of a lesser, an equal and a greater feature. NEQ takes NaN, too.
  Term mixed(const Term& at, const Term& x, const Term& threshold) {
    const auto one_of = [&](std::initializer_list<Branch> branches) {
      return flag_of_nodes(at, [&](const TreeNode& node) {
        return std::find(branches.begin(), branches.end(), node.branch) != branches.end();
      });
    };
    const Term less = x < threshold && one_of({Branch::leq, Branch::lt});
    const Term equal = x == threshold && one_of({Branch::leq, Branch::gte, Branch::eq});
    const Term greater = threshold < x && one_of({Branch::gte, Branch::gt});
    return less || equal || greater || (!(x == threshold) && one_of({Branch::neq}));
  }

  NodeImport& n_;
  const Forest& forest_;
  const DType type_;
  std::optional<Branch> branch_;
  bool uniform_ = true, missing_ = false;
};

// The votes at leaves [rows, trees] of each target, [rows, trees, targets]; `none` where there is no vote.
template <typename F>
Term votes_at(const Term& leaves, const Forest& forest, DType type, double none, F&& join) {
  NodeImport& n = leaves.node();
  const auto nodes = static_cast<int64_t>(forest.nodes.size());
  n.require_moderate({type, {nodes, forest.targets}});
  std::vector<double> table(static_cast<size_t>(nodes * forest.targets), none);
  std::vector<bool> voted(table.size(), false);
  for (const Vote& vote : forest.votes) {
    const auto place = static_cast<size_t>(vote.node * forest.targets + vote.target);
    table[place] = voted[place] ? join(table[place], vote.weight) : vote.weight;
    voted[place] = true;
  }
  return apply(Op::Gather, {constant(n, type, {nodes, forest.targets}, table), leaves}, AxisAttrs{0});
}

// [rows, targets]; 0 where no leaf votes for a target.
Term aggregated(const Term& leaves, const Forest& forest, DType type, Aggregate how) {
  if (how == Aggregate::sum || how == Aggregate::average) {
    const Term votes = votes_at(leaves, forest, type, 0, [](double a, double b) { return a + b; });
    const Term sum = reduce(Op::ReduceSum, votes, {1}, false);
    return how == Aggregate::sum ? sum : sum / static_cast<double>(forest.roots.size());
  }
  const bool least = how == Aggregate::min;
  const double none =
      least ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  const Term votes = votes_at(leaves, forest, type, none,
                              [&](double a, double b) { return least ? std::min(a, b) : std::max(a, b); });
  const Term best = reduce(least ? Op::ReduceMin : Op::ReduceMax, votes, {1}, false);
  return select(best == none, 0, best);
}

Term forest_leaves(const Term& x, const Forest& forest) {
  NodeImport& n = x.node();
  if (forest.roots.empty()) n.invalid("there is no tree");
  require_features(n, forest, x.extent(1));
  const int64_t depth = depth_of(n, forest);
  return ForestTables(n, forest, x.dtype()).leaves(x, depth);
}

// An attribute of numbers that may come as a tensor instead.
std::vector<double> numbers_of(NodeImport& n, const std::string& name) {
  const std::string tensor = name + "_as_tensor";
  if (!n.has(tensor.c_str())) return n.floats_attr(name.c_str());
  if (n.has(name.c_str())) n.invalid(fmt::format("both {} and {}", name, tensor));
  const HostTensor values = n.tensor_attr(tensor.c_str());
  if (!is_float(values.dtype())) n.invalid(tensor + " is not of floats");
  std::vector<double> result;
  for (int64_t i = 0; i < values.elements(); ++i) result.push_back(element_as_double(values, i));
  return result;
}

void require_count(NodeImport& n, const char* what, size_t count, const char* of, size_t expected) {
  if (count != expected) n.invalid(fmt::format("{} {} for {} {}", count, what, expected, of));
}

Branch branch_named(NodeImport& n, const std::string& word) {
  for (size_t i = 0; i < std::size(kBranches); ++i)
    if (word == kBranches[i] && i != static_cast<size_t>(Branch::member)) return static_cast<Branch>(i);
  n.invalid("nodes_modes " + quoted_name(word));
}

// Nodes by the numbers of tree and node; the first of each tree is its root.
struct NumberedNodes {
  Forest forest;
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  int64_t at(NodeImport& n, int64_t tree, int64_t node, const char* who) const {
    const auto found = places.find({tree, node});
    if (found == places.end())
      n.invalid(fmt::format("{} names node {} of tree {}, which is not there", who, node, tree));
    return found->second;
  }
};

// What both kinds of ensembles say of their nodes: a list of each, as long as that of the features.
struct NodeLists {
  std::vector<int64_t> features, yes, no, missing;

  bool missing_is_yes(size_t node) const { return !missing.empty() && missing[node] == 1; }
};

NodeLists read_node_lists(NodeImport& n, const std::vector<std::pair<const char*, size_t>>& others) {
  NodeLists lists{n.ints_attr("nodes_featureids", {}), n.ints_attr("nodes_truenodeids", {}),
                  n.ints_attr("nodes_falsenodeids", {}), n.ints_attr("nodes_missing_value_tracks_true", {})};
  n.ignore("nodes_hitrates");
  const size_t count = lists.features.size();
  require_count(n, "nodes_truenodeids", lists.yes.size(), "nodes", count);
  require_count(n, "nodes_falsenodeids", lists.no.size(), "nodes", count);
  if (!lists.missing.empty())
    require_count(n, "nodes_missing_value_tracks_true", lists.missing.size(), "nodes", count);
  for (const auto& [name, size] : others) require_count(n, name, size, "nodes", count);
  return lists;
}

NumberedNodes read_nodes(NodeImport& n) {
  const std::vector<int64_t> trees = n.ints_attr("nodes_treeids", {}), ids = n.ints_attr("nodes_nodeids", {});
  const std::vector<std::string> modes = n.strings_attr("nodes_modes", {});
  const std::vector<double> values = numbers_of(n, "nodes_values");
  n.ignore("nodes_hitrates_as_tensor");
  const NodeLists lists = read_node_lists(n, {{"nodes_treeids", trees.size()},
                                              {"nodes_nodeids", ids.size()},
                                              {"nodes_modes", modes.size()},
                                              {"nodes_values", values.size()}});
  const size_t count = trees.size();
  NumberedNodes result;
  for (size_t i = 0; i < count; ++i) {
    const auto place = static_cast<int64_t>(i);
    if (!result.places.emplace(std::pair(trees[i], ids[i]), place).second)
      n.invalid(fmt::format("node {} of tree {} is given twice", ids[i], trees[i]));
    if (i == 0 || trees[i] != trees[i - 1]) result.forest.roots.push_back(place);
  }
  for (size_t i = 0; i < count; ++i) {
    TreeNode node{branch_named(n, modes[i]), lists.features[i],       values[i],
                  static_cast<int64_t>(i),   static_cast<int64_t>(i), lists.missing_is_yes(i)};
    if (node.branch != Branch::leaf) {
      node.yes = result.at(n, trees[i], lists.yes[i], "nodes_truenodeids");
      node.no = result.at(n, trees[i], lists.no[i], "nodes_falsenodeids");
    } else {
      node.feature = 0;
    }
    result.forest.nodes.push_back(node);
  }
  return result;
}

// Votes, whose attributes begin with `prefix`.
Forest read_forest(NodeImport& n, const std::string& prefix, int64_t targets) {
  NumberedNodes nodes = read_nodes(n);
  const auto ints = [&](const char* name) { return n.ints_attr((prefix + name).c_str(), {}); };
  const std::vector<int64_t> ids = ints("_ids"), trees = ints("_treeids"), places = ints("_nodeids");
  const std::vector<double> weights = numbers_of(n, prefix + "_weights");
  require_count(n, "treeids", trees.size(), "votes", ids.size());
  require_count(n, "nodeids", places.size(), "votes", ids.size());
  require_count(n, "weights", weights.size(), "votes", ids.size());
  n.bounded((prefix + "_ids").c_str(), ids, 0, targets - 1);
  nodes.forest.targets = targets;
  for (size_t i = 0; i < ids.size(); ++i) {
    const int64_t node = nodes.at(n, trees[i], places[i], "a vote");
    if (nodes.forest.nodes[node].branch == Branch::leaf)
      nodes.forest.votes.push_back({node, ids[i], weights[i]});
  }
  return std::move(nodes.forest);
}

Aggregate aggregate_function(NodeImport& n) {
  const std::string word = n.string_attr("aggregate_function", "SUM");
  for (size_t i = 0; i < std::size(kAggregates); ++i)
    if (word == kAggregates[i]) return static_cast<Aggregate>(i);
  n.invalid("aggregate_function " + quoted_name(word));
}

Term with_transform(const Term& scores, ScoreTransform transform) {
  return scores.extent(1) == 1 ? transformed_single(scores, transform) : transformed(scores, transform);
}

Results tree_ensemble_regressor(NodeImport& n) {
  const Term x = feature_rows(n, true);
  const int64_t targets = n.int_attr("n_targets", 1);
  n.bounded("n_targets", {targets}, 1, kMaxStep);
  const Forest forest = read_forest(n, "target", targets);
  const std::vector<double> base = numbers_of(n, "base_values");
  if (!base.empty()) require_count(n, "base_values", base.size(), "targets", static_cast<size_t>(targets));
  Term scores = aggregated(forest_leaves(x, forest), forest, x.dtype(), aggregate_function(n));
  if (!base.empty()) scores = scores + constant(n, x.dtype(), {targets}, base);
  return {cast(with_transform(scores, score_transform(n)), DType::f32)};
}

// Of two classes of which one alone has votes, as ONNX Runtime has it: the votes are the score of the second
// class. It wins above 0.5 where no vote is negative, above 0 else.
Results of_one_score(const Term& sums, const Forest& forest, const std::vector<double>& base,
                     ScoreTransform transform, const ClassLabels& labels) {
  const int64_t target = forest.votes[0].target;
  const bool all_positive = std::none_of(forest.votes.begin(), forest.votes.end(),
                                         [](const Vote& vote) { return vote.weight < 0; });
  const Term votes = slice(sums, 1, target, 1), nothing = votes * 0.0;
  const Term score = base.empty() || (target == 1 && base.size() == 1)
                         ? votes
                         : votes + base[static_cast<size_t>(base.size() == 2 ? target : 0)];
  const double least = all_positive ? 0.5 : 0;
  const Term positive = cast(reshape(number_like(score, least) < score, {sums.extent(0)}), DType::i64);
  const auto both = [&] {
    if (target == 1) return transformed(concat({nothing, score}, 1), transform);
    if (base.size() == 2) return transformed(concat({score, nothing}, 1), transform);
    return both_scores(score, !all_positive, transform);
  };
  return {chosen_labels(positive, labels), cast(both(), DType::f32)};
}

Results tree_ensemble_classifier(NodeImport& n) {
  const Term x = feature_rows(n, true);
  const ClassLabels labels = class_labels(n, "classlabels_int64s", "classlabels_strings");
  if (labels.count < 2) n.unsupported("one class alone");
  const Forest forest = read_forest(n, "class", labels.count);
  const std::vector<double> base = numbers_of(n, "base_values");
  const auto classes = static_cast<size_t>(labels.count);
  const bool one_votes = classes == 2 && !forest.votes.empty() &&
                         std::all_of(forest.votes.begin(), forest.votes.end(),
                                     [&](const Vote& vote) { return vote.target == forest.votes[0].target; });
  if (!base.empty() && !(one_votes && base.size() == 1))
    require_count(n, "base_values", base.size(), "classes", classes);
  const Term sums = aggregated(forest_leaves(x, forest), forest, x.dtype(), Aggregate::sum);
  const ScoreTransform transform = score_transform(n);
  if (one_votes) return of_one_score(sums, forest, base, transform, labels);
  const Term scores = base.empty() ? sums : sums + constant(n, x.dtype(), {labels.count}, base);
  return {chosen_labels(greatest_class(scores), labels), cast(transformed(scores, transform), DType::f32)};
}

// Inner nodes and leaves in lists of their own.
class SplitForest {
 public:
  explicit SplitForest(NodeImport& n) : n_(n) {
    yes_leaf_ = n.ints_attr("nodes_trueleafs", {}), no_leaf_ = n.ints_attr("nodes_falseleafs", {});
    splits_ = values("nodes_splits"), modes_ = values("nodes_modes");
    lists_ = read_node_lists(n, {{"nodes_trueleafs", yes_leaf_.size()},
                                 {"nodes_falseleafs", no_leaf_.size()},
                                 {"nodes_splits", splits_.size()},
                                 {"nodes_modes", modes_.size()}});
  }

  Forest read() {
    Forest forest;
    forest.targets = n_.int_attr("n_targets", 1);
    n_.bounded("n_targets", {forest.targets}, 1, kMaxStep);
    const std::vector<int64_t> targets = n_.ints_attr("leaf_targetids", {});
    const std::vector<double> weights = values("leaf_weights");
    require_count(n_, "leaf_weights", weights.size(), "leaves", targets.size());
    n_.bounded("leaf_targetids", targets, 0, forest.targets - 1);
    forest.roots = n_.ints_attr("tree_roots", {});
    n_.bounded("tree_roots", forest.roots, 0, static_cast<int64_t>(lists_.features.size()) - 1);
    read_inner(forest, static_cast<int64_t>(targets.size()));
    for (size_t i = 0; i < targets.size(); ++i) {
      const auto place = static_cast<int64_t>(forest.nodes.size());
      forest.nodes.push_back({Branch::leaf, 0, 0, place, place, false});
      forest.votes.push_back({place, targets[i], weights[i]});
    }
    split_members(forest);
    return forest;
  }

 private:
  std::vector<double> values(const char* name) {
    const HostTensor tensor = n_.tensor_attr(name);
    std::vector<double> result;
    for (int64_t i = 0; i < tensor.elements(); ++i) result.push_back(element_as_double(tensor, i));
    return result;
  }

  void read_inner(Forest& forest, int64_t leaves) {
    const auto count = static_cast<int64_t>(lists_.features.size());
    const auto child = [&](int64_t place, int64_t is_leaf, const char* who) {
      const int64_t limit = is_leaf != 0 ? leaves : count;
      if (place < 0 || place >= limit)
        n_.invalid(fmt::format("{} names {} {} of {}", who, is_leaf != 0 ? "leaf" : "node", place, limit));
      return is_leaf != 0 ? count + place : place;
    };
    for (int64_t i = 0; i < count; ++i) {
      if (modes_[i] < 0 || modes_[i] > static_cast<double>(Branch::member))
        n_.invalid(fmt::format("nodes_modes {}", modes_[i]));
      forest.nodes.push_back({static_cast<Branch>(static_cast<int>(modes_[i])), lists_.features[i],
                              splits_[i], child(lists_.yes[i], yes_leaf_[i], "nodes_truenodeids"),
                              child(lists_.no[i], no_leaf_[i], "nodes_falsenodeids"),
                              lists_.missing_is_yes(i)});
    }
  }

  // A node that asks for a member of a set becomes one for each member, each the next one's no.
  void split_members(Forest& forest) {
    std::vector<double> members;
    if (n_.has("membership_values")) members = values("membership_values");
    size_t at = 0;
    for (size_t i = 0; i < lists_.features.size(); ++i) {
      if (forest.nodes[i].branch != Branch::member) continue;
      std::vector<double> set;
      for (; at < members.size() && !std::isnan(members[at]); ++at) set.push_back(members[at]);
      ++at;  // behind the NaN
      if (set.empty()) n_.invalid("a node of mode BRANCH_MEMBER without members in membership_values");
      forest.nodes[i].branch = Branch::eq;
      const TreeNode node = forest.nodes[i];
      size_t last = i;
      forest.nodes[i].threshold = set[0];
      for (size_t member = 1; member < set.size(); ++member) {
        forest.nodes[last].no = static_cast<int64_t>(forest.nodes.size());
        last = forest.nodes.size();
        forest.nodes.push_back(node);
        forest.nodes[last].threshold = set[member];
      }
      forest.nodes[last].no = node.no;
    }
    if (at < members.size())
      n_.invalid("membership_values has more sets than there are nodes of mode BRANCH_MEMBER");
  }

  NodeImport& n_;
  NodeLists lists_;
  std::vector<int64_t> yes_leaf_, no_leaf_;
  std::vector<double> splits_, modes_;
};

Results tree_ensemble(NodeImport& n) {
  const Term x = feature_rows(n, true);
  const Forest forest = SplitForest(n).read();
  const int64_t how = n.int_attr("aggregate_function", 1), transform = n.int_attr("post_transform", 0);
  n.bounded("aggregate_function", {how}, 0, static_cast<int64_t>(std::size(kAggregates)) - 1);
  n.bounded("post_transform", {transform}, 0, static_cast<int64_t>(std::size(kScoreTransforms)) - 1);
  const Term scores = aggregated(forest_leaves(x, forest), forest, x.dtype(), static_cast<Aggregate>(how));
  return {cast(with_transform(scores, static_cast<ScoreTransform>(transform)), n.input(0)->dtype())};
}

}  // namespace

std::vector<RuleRow> tree_rules() {
  return {
      {"TreeEnsembleRegressor", tree_ensemble_regressor, 1, 3},
      {"TreeEnsembleClassifier", tree_ensemble_classifier, 1, 3},
      {"TreeEnsemble", tree_ensemble, 5, 5},
  };
}

}  // namespace korch::onnx
