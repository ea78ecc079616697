#include "minimize.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "graph_maker.h"
#include "korch/base/error.h"

namespace korch::fuzz {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kFails = 3;        // exit code of a try
constexpr uint64_t kDraws = 10;  // random plans per try, since a smaller graph has others

double seconds_after(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Edits {
  std::vector<ValueId> outputs;
  std::map<ValueId, ValueId> aliases;       // read the other instead
  std::set<ValueId> inputs;                 // no longer computed
  std::map<ValueId, HostTensor> constants;  // with other contents
  int64_t extent = -1, smaller = -1;        // wherever it stands
};

int64_t cut(const Edits& edits, int64_t extent) {
  return extent == edits.extent ? edits.smaller : extent;
}

Shape cut(const Edits& edits, Shape shape) {
  for (int64_t& extent : shape) extent = cut(edits, extent);
  return shape;
}

// The graph with edits; throws Error where the types do not fit any more.
Graph edited(const Graph& graph, const Edits& edits) {
  const auto real = [&](ValueId value) {
    for (auto found = edits.aliases.find(value); found != edits.aliases.end();
         found = edits.aliases.find(value))
      value = found->second;
    return value;
  };
  const auto is_input = [&](ValueId value) {
    return graph.is_input(value) || edits.inputs.count(value) != 0;
  };
  std::set<ValueId> needed;
  std::vector<ValueId> stack;
  const auto need = [&](ValueId value) {
    if (needed.insert(real(value)).second) stack.push_back(real(value));
  };
  for (ValueId output : edits.outputs) need(output);
  while (!stack.empty()) {
    const ValueId value = stack.back();
    stack.pop_back();
    if (is_input(value)) continue;
    for (ValueId input : graph.node(graph.value(value).producers[0]).inputs) need(input);
  }
  Graph result;
  std::map<ValueId, ValueId> made;
  const auto make_input = [&](ValueId value) {
    TensorType type = graph.value(value).type;
    type.shape = cut(edits, type.shape);
    made[value] = result.add_input(type, "x" + std::to_string(result.inputs().size()));
  };
  for (ValueId input : graph.inputs())
    if (needed.count(input) != 0) make_input(input);
  for (ValueId input : edits.inputs)
    if (needed.count(input) != 0) make_input(input);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (std::none_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId v) { return needed.count(v) != 0 && !is_input(v); }))
      continue;
    if (const HostTensor* constant = graph.constant(node.outputs[0])) {
      const auto other = edits.constants.find(node.outputs[0]);
      HostTensor tensor = other != edits.constants.end() ? other->second : *constant;
      if (const Shape shape = cut(edits, tensor.shape()); shape != tensor.shape())
        tensor = random_tensor({tensor.dtype(), shape}, Contents::normal, 0);
      made[node.outputs[0]] = result.add_constant(tensor);
      continue;
    }
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) inputs.push_back(made.at(real(input)));
    Attrs attrs = node.attrs;
    if (auto* shape = std::get_if<ShapeAttrs>(&attrs); shape != nullptr && node.op != Op::Tile)
      shape->shape = cut(edits, shape->shape);
    if (auto* slice = std::get_if<SliceAttrs>(&attrs)) slice->sizes = cut(edits, slice->sizes);
    if (auto* conv = std::get_if<ConvAttrs>(&attrs)) conv->group = cut(edits, conv->group);
    const NodeId copy = result.add_node(node.op, attrs, inputs);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (!is_input(node.outputs[i])) made[node.outputs[i]] = result.node(copy).outputs[i];
  }
  std::vector<ValueId> outputs;
  std::vector<std::string> names;
  for (ValueId output : edits.outputs) {
    outputs.push_back(made.at(real(output)));
    names.push_back("y" + std::to_string(names.size()));
  }
  result.set_outputs(outputs, names);
  result.remove_dead_nodes();
  return result.compact();
}

class Minimizer {
 public:
  Minimizer(const SavedCase& saved, const std::string& kind, double most_s)
      : best_(saved), kind_(kind), most_s_(most_s) {}

  SavedCase run() {
    for (bool changed = true; changed && !is_over();) {
      changed = outputs();
      changed = nodes() || changed;
      changed = extents() || changed;
      changed = constants() || changed;
      changed = setting() || changed;
    }
    plans();
    return best_;
  }

 private:
  bool is_over() const { return seconds_after(start_) > most_s_; }

  bool try_case(SavedCase candidate) {
    if (is_over()) return false;
    candidate.what.plans = best_.what.plans;
    if (!still_fails(candidate, kind_, 60)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool try_edits(const Edits& edits) {
    SavedCase candidate = best_;
    try {
      candidate.what.graph = edited(best_.what.graph, edits);
    } catch (const Error&) {
      return false;
    } catch (const std::out_of_range&) {
      return false;
    }
    return try_case(std::move(candidate));
  }

  Edits unchanged() const {
    Edits edits;
    edits.outputs = best_.what.graph.outputs();
    return edits;
  }

  // One output, the earliest Value that fails.
  bool outputs() {
    const Graph& graph = best_.what.graph;
    const size_t nodes = graph.live_node_count();
    for (NodeId id : graph.topological_order()) {
      if (graph.node(id).op == Op::Constant) continue;
      Edits edits;
      edits.outputs = {graph.node(id).outputs[0]};
      if (edits.outputs == graph.outputs()) return false;
      if (try_edits(edits)) return best_.what.graph.live_node_count() < nodes;
    }
    bool changed = false;
    for (size_t i = 0; i < best_.what.graph.outputs().size() && best_.what.graph.outputs().size() > 1;) {
      Edits edits = unchanged();
      edits.outputs.erase(edits.outputs.begin() + static_cast<int64_t>(i));
      if (try_edits(edits))
        changed = true;
      else
        ++i;
    }
    return changed;
  }

  bool nodes() {
    bool changed = false;
    for (bool again = true; again && !is_over();) {
      again = false;
      const Graph graph = best_.what.graph;
      for (NodeId id : graph.topological_order()) {
        const Node& node = graph.node(id);
        if (node.op == Op::Constant || node.outputs.size() != 1) continue;
        const ValueId value = node.outputs[0];
        Edits as_input = unchanged();
        as_input.inputs = {value};
        const bool is_output = std::count(graph.outputs().begin(), graph.outputs().end(), value) != 0;
        again = !is_output && try_edits(as_input);
        for (ValueId input : node.inputs) {
          if (again || graph.value(input).type != graph.value(value).type || graph.constant(input) != nullptr)
            continue;
          Edits alias = unchanged();
          alias.aliases[value] = input;
          again = try_edits(alias);
        }
        if (again) break;
      }
      changed = changed || again;
    }
    return changed;
  }

  bool extents() {
    bool changed = false;
    for (bool again = true; again && !is_over();) {
      again = false;
      std::set<int64_t> extents;
      const Graph& graph = best_.what.graph;
      for (ValueId value = 0; value < graph.value_count(); ++value)
        for (int64_t extent : graph.value(value).type.shape) extents.insert(extent);
      for (auto extent = extents.rbegin(); extent != extents.rend() && !again; ++extent)
        for (int64_t smaller : {int64_t{1}, int64_t{2}, *extent / 2, *extent - 1}) {
          if (smaller >= *extent || smaller < 1) continue;
          Edits edits = unchanged();
          edits.extent = *extent;
          edits.smaller = smaller;
          if ((again = try_edits(edits))) break;
        }
      changed = changed || again;
    }
    return changed;
  }

  bool constants() {
    bool changed = false;
    const Graph graph = best_.what.graph;
    Edits all = unchanged();
    for (NodeId id : graph.topological_order())
      if (const HostTensor* constant = graph.constant(graph.node(id).outputs[0]);
          constant != nullptr && is_float(constant->dtype()))
        all.constants[graph.node(id).outputs[0]] = random_tensor(constant->type(), Contents::normal, 0);
    if (all.constants.empty()) return false;
    Edits same = all;
    std::erase_if(same.constants, [&](const auto& item) {
      return ConstantAttrs{item.second} == ConstantAttrs{*graph.constant(item.first)};
    });
    if (same.constants.empty()) return false;
    if (try_edits(same)) return true;
    for (const auto& [value, tensor] : same.constants) {
      Edits one = unchanged();
      one.constants[value] = tensor;
      if (best_.what.graph.value_count() == graph.value_count() && try_edits(one)) changed = true;
    }
    return changed;
  }

  bool setting() {
    bool changed = false;
    for (int field = 0; field < 3; ++field) {
      SavedCase candidate = best_;
      Setting& setting = candidate.what.setting;
      if (field == 0) setting.threads = 1;
      if (field == 1) setting.target = "native";
      if (field == 2) candidate.input_seed = 1;
      const bool same = setting.threads == best_.what.setting.threads &&
                        setting.target == best_.what.setting.target &&
                        candidate.input_seed == best_.input_seed;
      changed = (!same && try_case(candidate)) || changed;
    }
    return changed;
  }

  // The fewest that show it.
  void plans() {
    std::vector<PlanChoice> few = best_.what.plans;
    few.push_back({Subject::Kind::greedy, 1});
    for (uint64_t seed = 0; seed < kDraws; ++seed) few.push_back({Subject::Kind::random, seed});
    for (const PlanChoice& plan : few) {
      SavedCase candidate = best_;
      candidate.what.plans = {plan};
      if (!still_fails(candidate, kind_ + " only", 60)) continue;
      best_ = candidate;
      return;
    }
  }

  SavedCase best_;
  const std::string kind_;
  const double most_s_;
  const Clock::time_point start_ = Clock::now();
};

}  // namespace

// `kind` with " only" behind it: by the case's own plans, without others.
bool still_fails(const SavedCase& saved, const std::string& kind, double hang_s) {
  const pid_t child = ::fork();
  KORCH_ASSERT(child >= 0, "cannot fork");
  if (child == 0) {
    const bool only = kind.ends_with(" only");
    const std::string wanted = only ? kind.substr(0, kind.size() - 5) : kind;
    Case what = saved.what;
    if (!only) {
      for (uint64_t seed = 0; seed < kDraws; ++seed) what.plans.push_back({Subject::Kind::random, seed});
      what.plans.push_back({Subject::Kind::greedy, 1});
    }
    Case one = what;
    for (const PlanChoice& plan : what.plans) {
      one.plans = {plan};
      for (const Finding& finding : check_case(saved.input_seed, one).findings)
        if (finding.mismatch.kind == wanted) ::_exit(kFails);
    }
    ::_exit(0);
  }
  const Clock::time_point start = Clock::now();
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (seconds_after(start) > hang_s) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return kind.starts_with("crash");
    }
    ::usleep(2000);
  }
  if (WIFSIGNALED(status)) return kind.starts_with("crash");
  return WEXITSTATUS(status) == kFails;
}

SavedCase minimized(const SavedCase& saved, const std::string& kind, double most_s) {
  return Minimizer(saved, kind, most_s).run();
}

}  // namespace korch::fuzz
