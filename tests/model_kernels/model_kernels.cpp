#include "model_kernels.h"

#include <algorithm>
#include <random>
#include <unordered_map>

#include "generate.h"
#include "korch/base/error.h"
#include "korch/codegen/implementation.h"
#include "korch/fission/fission.h"
#include "korch/onnx/import.h"
#include "korch/onnx/models.h"
#include "korch/rewrite/alternatives.h"
#include "korch/search/plan_builder.h"
#include "korch/search/plan_chooser.h"
#include "korch/search/random_plan.h"
#include "korch/search/strategy.h"

namespace korch::testing {
namespace {

// Which kernels there are; what they cost is left to the bounds.
class Existence : public CostSource {
 public:
  Existence(const Graph& graph, const Columns& columns) : graph_(graph), columns_(columns) {}
  std::vector<Result<Cost>> measure(const std::vector<int>&, Care) override {
    KORCH_ASSERT(false, "nothing is measured");
    return {};
  }
  std::vector<std::optional<Refusal>> build(const std::vector<int>& columns) override {
    std::vector<std::optional<Refusal>> refusals;
    for (int column : columns) {
      const KernelRequest request = kernel_request(graph_, columns_, column);
      refusals.emplace_back();
      if (request.candidate == nullptr) continue;
      const Result<KernelSpec> kernel =
          propose(graph_, *request.candidate, *request.implementation, model_target());
      if (!kernel.ok()) refusals.back() = kernel.refusal();
    }
    return refusals;
  }
  double occupancy(int) const override { return 1; }
  bool has_rounds(int) const override { return false; }

 private:
  const Graph& graph_;
  const Columns& columns_;
};

class NoContests : public Contests {
 public:
  ContestOutcome run(const std::vector<int>&, const std::vector<int>&, const ContestEffort&) override {
    KORCH_ASSERT(false, "nothing is run");
    return {};
  }
  std::optional<SimulatedPlan> simulate(const std::vector<int>&) override { return std::nullopt; }
};

bool has_kernel(const Graph& graph, const Candidate& candidate) {
  for (const Implementation& way : implementations(graph, candidate, model_target(), Accuracy::standard))
    if (propose(graph, candidate, way, model_target()).ok()) return true;
  return false;
}

std::vector<Candidate> greedy_groups(const Graph& graph) {
  std::unordered_map<Hash, bool, HashHasher> known;
  const auto asked = [&](const Candidate& candidate) {
    const Hash hash = canonical_hash(graph, candidate);
    if (known.count(hash) == 0) known[hash] = has_kernel(graph, candidate);
    return known[hash];
  };
  return greedy_candidates(graph, asked).candidates;
}

// A layout change as a candidate: what its kernel computes is its operand.
ModelKernel reorder_kernel(const KernelRequest& request) {
  Graph graph;
  const ValueId x = graph.add_input(request.reorder_type, "x");
  graph.set_outputs({graph.add(Op::Reshape, ShapeAttrs{request.reorder_type.shape}, {x})}, {"y"});
  ModelKernel kernel;
  kernel.reorder = true;
  kernel.candidate = make_candidate(graph, graph.topological_order(), graph.outputs());
  kernel.way.input_layouts = {request.reorder_from};
  kernel.way.output_layouts = {request.reorder_to};
  kernel.graph = std::make_shared<Graph>(std::move(graph));
  return kernel;
}

// The kernels of the plan that the bounds choose among these candidates.
std::vector<ModelKernel> plan_of(const std::shared_ptr<const Graph>& graph, const Graph& base,
                                 std::vector<Candidate> candidates, const std::string& origin) {
  const Device target = model_target();
  Columns columns = build_columns(*graph, std::move(candidates), with_made_up_speeds(target));
  Existence costs(*graph, columns);
  NoContests contests;
  SearchOptions options;
  options.measure = false;
  const Choice choice = choose_plan(
      {graph.get(), &base, &target, options, &costs, &contests, nullptr, nullptr, {}, {}}, columns);
  std::vector<ModelKernel> kernels;
  for (int id : choice.solved.solution.chosen) {
    if (columns.infos[id].kind == ColumnInfo::Kind::view) continue;
    const KernelRequest request = kernel_request(*graph, columns, id);
    kernels.push_back(request.candidate == nullptr
                          ? reorder_kernel(request)
                          : ModelKernel{origin, graph, *request.candidate, *request.implementation});
    kernels.back().origin = origin;
  }
  return kernels;
}

Hash key_of(const ModelKernel& kernel) {
  return hash_text(canonical_hash(*kernel.graph, kernel.candidate).hex() + to_string(kernel.way));
}

}  // namespace

Device model_target() {
  Isa best = Isa::portable;
  for (const IsaRow& level : kIsas)
    if (runs_here(level.isa)) best = level.isa;
  Device target = cpu_device(best, 2);
  return target;
}

Result<tile::ScheduledGraph> tile_graph_of(const Graph& graph, const Candidate& candidate,
                                           const Implementation& way, bool reorder) {
  if (!reorder) return tile_graph(graph, candidate, way, model_target());
  return *propose_reorder(graph.value(candidate.inputs[0]).type, way.input_layouts[0], way.output_layouts[0],
                          model_target())
              .tiles;
}

std::vector<ModelKernel> ModelKernelSource::next(const std::string& model, size_t sample) {
  const Graph primitive = fission(import_onnx_bytes(fill_skeleton(KORCH_SOURCE_DIR "/models", model)));
  const Rewritten rewritten = add_alternatives(primitive, {});
  const auto base = std::make_shared<const Graph>(primitive),
             graph = std::make_shared<const Graph>(rewritten.graph);
  std::vector<Candidate> all = enumerate_candidates(*graph, linear_context()).candidates;
  std::vector<ModelKernel> found;
  std::set<Hash> in_plans;  // candidates
  const auto add = [&](std::vector<ModelKernel> kernels) {
    for (ModelKernel& kernel : kernels) {
      in_plans.insert(canonical_hash(*kernel.graph, kernel.candidate));
      if (seen_.insert(key_of(kernel)).second) found.push_back(std::move(kernel));
    }
  };
  add(plan_of(base, *base, greedy_groups(*base), "greedy plan"));
  std::vector<Candidate> with_groups = all;
  for (Candidate& group : greedy_groups(rewritten.base)) with_groups.push_back(std::move(group));
  add(plan_of(graph, rewritten.base, std::move(with_groups), "optimal plan"));

  std::mt19937_64 random(seed_);
  for (size_t i = 0, drawn = 0; i < all.size() && drawn < sample; ++i) {
    std::swap(all[i], all[i + random() % (all.size() - i)]);
    const Hash hash = canonical_hash(*graph, all[i]);
    if (in_plans.contains(hash) || !seen_.insert(hash).second) continue;
    std::vector<Implementation> ways = implementations(*graph, all[i], model_target(), Accuracy::standard);
    std::shuffle(ways.begin(), ways.end(), random);
    for (const Implementation& way : ways) {
      if (!tile_graph(*graph, all[i], way, model_target()).ok()) continue;
      found.push_back({"sample", graph, all[i], way});
      ++drawn;
      break;
    }
  }
  return found;
}

}  // namespace korch::testing
