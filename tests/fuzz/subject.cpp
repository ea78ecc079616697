#include "subject.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "graph_maker.h"
#include "korch/codegen/implementation.h"
#include "korch/fission/fission.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/loops.h"
#include "korch/ir/text.h"
#include "korch/onnx/export.h"
#include "korch/onnx/import.h"
#include "korch/search/plan_builder.h"
#include "korch/search/strategy.h"
#include "korch/tensor/npy.h"
#include "plan_runner.h"

namespace korch::fuzz {

struct Subject::Program {
  const Graph* graph;
  Columns columns;
  std::unique_ptr<KernelBank> bank;
};

namespace {

constexpr int64_t kNoFootprint = 1 << 20;  // matters to measuring alone

// What a step left in memory, row-major; padding of blocks must be zeros, kernels rely on them.
HostTensor row_major(const PlanTensor& tensor, const void* memory, bool* padding_is_zero) {
  HostTensor physical(TensorType{tensor.type.dtype, physical_shape(tensor.type.shape, tensor.layout)});
  if (physical.bytes() > 0)
    std::memcpy(physical.mutable_raw(), memory, static_cast<size_t>(physical.bytes()));
  HostTensor result(tensor.type);
  const size_t width = size_bytes(tensor.type.dtype);
  std::vector<bool> used(static_cast<size_t>(physical.elements()), false);
  Shape index(tensor.type.shape.size(), 0);
  for (int64_t i = 0; i < result.elements(); ++i) {
    const int64_t at = element_offset(tensor.type.shape, tensor.layout, index);
    used[at] = true;
    std::memcpy(static_cast<char*>(result.mutable_raw()) + i * width,
                static_cast<const char*>(physical.raw()) + at * width, width);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < tensor.type.shape[axis]) break;
      index[axis] = 0;
    }
  }
  for (int64_t i = 0; i < physical.elements(); ++i)
    if (!used[i] && element_as_double(physical, i) != 0) *padding_is_zero = false;
  return result;
}

// Where the definition says what becomes of infinities and NaN, and rewriting keeps to it: no products are
// summed, nothing of them becomes an integer.
bool keeps_specials(const Graph& graph) {
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const Category category = info(node.op).category;
    const bool is_plain = category == Category::constant || category == Category::elementwise ||
                          category == Category::layout || node.op == Op::ReduceMax ||
                          node.op == Op::ReduceMin || node.op == Op::ReduceSum;
    const auto* cast = std::get_if<CastAttrs>(&node.attrs);
    if (!is_plain || (cast != nullptr && !is_float(cast->to) && cast->to != DType::bool_)) return false;
  }
  return true;
}

std::string step_name(const PlanStep& step) {
  return fmt::format("{}, {}", step.label, step.implementation);
}

}  // namespace

Subject::Subject(const Graph& graph, const Setting& setting, uint64_t input_seed)
    : imported_(graph),
      setting_(setting),
      target_(with_made_up_speeds(detect_device(setting.target, setting.threads))) {
  verify(imported_, GraphForm::imported);
  inputs_ = random_inputs(imported_, input_seed);
  const bool specials = setting_.specials && keeps_specials(imported_);
  if (specials) sprinkle_specials(input_seed);
  try {
    outside_ = std::make_unique<Oracle>(imported_, inputs_, products());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid) throw;
    return;
  }
  is_defined_ = outside_->is_moderate(specials);
  if (!is_defined_) return;
  primitive_ = fission(imported_);
  verify(primitive_, GraphForm::primitive);
  rewritten_ = add_alternatives(primitive_, {.strict = setting_.accuracy == Accuracy::strict,
                                             .bytes = target_.multiplies_bytes,
                                             .floats = target_.is_gpu(),
                                             .bfloat16_products = products() == DType::bf16});
  verify(rewritten_.graph, GraphForm::primitive);
  inside_ = std::make_unique<Oracle>(rewritten_.graph, inputs_, products());
}

Subject::~Subject() = default;

// Targets that multiply bfloat16 are drawn for that.
DType Subject::products() const {
  return setting_.accuracy == Accuracy::standard && multiplies_bfloat16(target_) ? DType::bf16 : DType::f32;
}

void Subject::sprinkle_specials(uint64_t seed) {
  static const std::vector<double> specials = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1};
  Random random(seed);
  for (HostTensor& input : inputs_) {
    if (!is_float(input.dtype())) continue;
    HostTensor wide = converted(input, DType::f64);
    HostTensor changed(wide.type());
    for (int64_t i = 0; i < wide.elements(); ++i)
      changed.mutable_data<double>()[i] = random.one_in(8) ? random.of(specials) : wide.data<double>()[i];
    input = converted(changed, input.dtype());
  }
}

std::optional<Mismatch> Subject::check_import() const {
  std::string model;
  try {
    model = export_onnx_bytes(primitive_);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unsupported) return std::nullopt;
    return Mismatch{"import", "export", error.what()};
  }
  try {
    const Graph again = import_onnx_bytes(model);
    const Oracle oracle(again, inputs_);
    for (size_t i = 0; i < imported_.outputs().size(); ++i)
      if (const auto text = outside_->difference(imported_.outputs()[i], oracle.exact(again.outputs()[i])))
        return Mismatch{"import", "exported and imported", *text};
  } catch (const Error& error) {
    return Mismatch{"import", error.what(), error.what()};
  }
  return std::nullopt;
}

bool Subject::write_model(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  try {
    export_onnx(primitive_, path + ".onnx");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unsupported) return false;
    throw;
  }
  for (size_t i = 0; i < inputs_.size(); ++i) write_npy(fmt::format("{}.input{}.npy", path, i), inputs_[i]);
  for (size_t i = 0; i < imported_.outputs().size(); ++i) {
    const ValueId value = imported_.outputs()[i];
    const std::vector<double> tolerance = outside_->tolerance(value);
    write_npy(fmt::format("{}.output{}.npy", path, i), converted(outside_->exact(value), DType::f64));
    write_npy(fmt::format("{}.tolerance{}.npy", path, i),
              HostTensor::of(DType::f64, imported_.value(value).type.shape, tolerance));
  }
  return true;
}

std::optional<Mismatch> Subject::check_rewriting() {
  if (const auto mismatch = check_import()) return mismatch;
  for (size_t i = 0; i < imported_.outputs().size(); ++i) {
    const ValueId value = rewritten_.graph.outputs()[i];
    if (const auto text = outside_->difference(imported_.outputs()[i], inside_->exact(value)))
      return Mismatch{"fission", "output " + imported_.output_names()[i], *text};
  }
  const Graph& graph = rewritten_.graph;
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (graph.value(node.outputs[0]).producers[0] == id) continue;
    std::vector<HostTensor> inputs;
    for (ValueId value : node.inputs)
      if (inside_->knows(value)) inputs.push_back(inside_->exact(value));
    if (inputs.size() != node.inputs.size()) continue;
    std::vector<TensorType> types;
    for (ValueId output : node.outputs) types.push_back(graph.value(output).type);
    const std::vector<HostTensor> results = evaluate_node(node, inputs, types, Precision::float64);
    for (size_t i = 0; i < results.size(); ++i)
      if (const auto text = inside_->difference(node.outputs[i], results[i])) {
        const auto rule = rewritten_.rule_of.find(id);
        return Mismatch{"rule", rule == rewritten_.rule_of.end() ? "" : rule->second,
                        print(graph, id) + ": " + *text};
      }
  }
  return std::nullopt;
}

Subject::Program& Subject::program(Kind kind) {
  std::unique_ptr<Program>& program = programs_[kind];
  if (program != nullptr) return *program;
  program = std::make_unique<Program>();
  program->graph = kind == Kind::random ? &rewritten_.graph : &rewritten_.base;
  const Graph& graph = *program->graph;
  std::vector<Candidate> candidates;
  if (kind == Kind::random) candidates = enumerate_candidates(graph, linear_context()).candidates;
  if (kind == Kind::unfused) candidates = unfused_candidates(graph);
  if (kind == Kind::greedy)
    candidates =
        greedy_candidates(graph, [&](const Candidate& candidate) {
          for (const Implementation& way : implementations(graph, candidate, target_, setting_.accuracy))
            if (propose(graph, candidate, way, target_).ok()) return true;
          return false;
        }).candidates;
  program->columns = build_columns(graph, std::move(candidates), target_, {.accuracy = setting_.accuracy});
  program->bank = std::make_unique<KernelBank>(graph, target_, nullptr, kNoFootprint);
  return *program;
}

std::optional<Mismatch> Subject::check_plan(Kind kind, uint64_t seed, Coverage& coverage) {
  Program& p = program(kind);
  const RandomPlan drawn = draw_plan(*p.graph, p.columns, *p.bank, seed);
  if (drawn.solution.status == SolveStatus::infeasible || drawn.solution.status == SolveStatus::unknown) {
    std::string text = "no plan exists";
    for (const auto& [reason, detail] : drawn.refusal_examples)
      text += fmt::format("; {}: {}", name(reason), detail);
    return Mismatch{"refused", "", text};
  }
  if (const auto found = drawn.refusal_examples.find(RefusalReason::compile_failed);
      found != drawn.refusal_examples.end())
    return Mismatch{"refused", "compiler", found->second};
  const BuiltPlan built =
      build_plan(*p.graph, p.columns, drawn.solution.chosen, *p.bank, target_, setting_.accuracy);
  cover(p, drawn.solution.chosen, coverage);
  return run(p, built);
}

std::optional<Mismatch> Subject::run(Program& program, const BuiltPlan& built) {
  const Plan& plan = built.plan;
  std::optional<Mismatch> found;
  const Loops loops(*program.graph);
  const auto observe = [&](int number, int output, const void* memory) {
    if (found) return;
    const PlanStep& step = plan.steps[number];
    const PlanTensor& tensor = plan.tensors[step.outputs[output]];
    const auto value = static_cast<ValueId>(tensor.value);
    if (step.other_end >= 0 || loops.of_value(value) >= 0) return;  // it is another in each step of a loop
    if (program.graph == &rewritten_.graph && !inside_->knows(value)) return;
    bool padding_is_zero = true;
    const HostTensor got = row_major(tensor, memory, &padding_is_zero);
    // The base has the ids of the graph with alternatives.
    if (const auto text = inside_->difference(value, got))
      found = Mismatch{"kernel", step_name(step), "%" + tensor.name + ": " + *text};
    else if (!padding_is_zero)
      found = Mismatch{"kernel", step_name(step), "%" + tensor.name + ": padding of a block is not zero"};
  };
  const PlanRun run = run_plan(built, target_, inputs_, observe);
  if (found) return found;
  if (run.trouble) {
    std::string steps;
    for (const PlanStep& step : plan.steps) steps += "\n  " + step_name(step);
    return Mismatch{"memory", *run.trouble, *run.trouble + steps};
  }
  // With alternatives: one of them may err more, by the rule's own measure (check_rewriting compares both).
  for (size_t i = 0; i < run.outputs.size(); ++i)
    if (const auto text = inside_->difference(rewritten_.graph.outputs()[i], run.outputs[i]))
      return Mismatch{"output", imported_.output_names()[i], *text};
  return std::nullopt;
}

void Subject::cover(const Program& program, const std::vector<int>& chosen, Coverage& coverage) const {
  std::set<std::string> seen;
  const Graph& graph = *program.graph;
  for (NodeId id : imported_.topological_order()) {
    const Node& node = imported_.node(id);
    if (node.op == Op::Constant) continue;
    seen.insert(fmt::format("operator {}", name(node.op)));
    for (ValueId value : node.outputs)
      seen.insert(fmt::format("type {}", name(imported_.value(value).type.dtype)));
  }
  for (int id : chosen) {
    const ColumnInfo& info = program.columns.infos[id];
    const Column& column = program.columns.problem.columns[id];
    std::vector<NodeId> nodes;
    switch (info.kind) {
      case ColumnInfo::Kind::view:
        seen.insert(fmt::format("view {}", name(graph.node(info.view_node).op)));
        nodes = {info.view_node};
        break;
      case ColumnInfo::Kind::reorder: {
        const auto kind = [](const Layout& layout) {
          return layout.is_row_major() ? "row-major" : layout.block_axis >= 0 ? "blocked" : "channels-last";
        };
        seen.insert(fmt::format("layout change {} -> {}",
                                kind(program.columns.tensors[column.inputs[0]].layout),
                                kind(program.columns.tensors[column.outputs[0]].layout)));
        break;
      }
      case ColumnInfo::Kind::kernel: {
        nodes = program.columns.candidates[info.candidate].nodes;
        const std::string& family = info.implementation.family;
        seen.insert("family " + family);
        if (nodes.size() > 1) seen.insert("family " + family + ", fused");
        if (column.outputs.size() > 1) seen.insert("family " + family + ", several outputs");
        break;
      }
    }
    for (NodeId node : nodes)
      if (const auto rule = rewritten_.rule_of.find(node); rule != rewritten_.rule_of.end())
        seen.insert("rule " + rule->second);
  }
  seen.insert(fmt::format("target {}, {} threads", target_.code, target_.workers));
  for (const std::string& what : seen) ++coverage[what];
}

}  // namespace korch::fuzz
