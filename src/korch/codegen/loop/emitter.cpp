#include "korch/codegen/loop/emitter.h"

#include <fmt/format.h>

#include <set>

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/loop/compose.h"
#include "korch/codegen/loop/index_map.h"

namespace korch::tile {

struct ValueEmitter::State {
  State(const Graph& g, const Candidate& c, const Implementation& i, const Target& t)
      : graph(g),
        candidate(c),
        implementation(i),
        source(t.isa),
        composer(g, c, arguments(c, i), pool),
        body(pool, spelling(), source) {}

  static std::map<ValueId, Argument> arguments(const Candidate& candidate,
                                               const Implementation& implementation) {
    std::map<ValueId, Argument> result;
    int number = 0;
    for (size_t i = 0; i < candidate.inputs.size(); ++i)
      result[candidate.inputs[i]] = {number++, implementation.input_layouts[i]};
    for (ValueId constant : candidate.constants) result[constant] = {number++, Layout{}};
    return result;
  }

  std::string pointer(int number) const {
    const int inputs = static_cast<int>(candidate.inputs.size());
    const int constants = static_cast<int>(candidate.constants.size());
    const int outputs = static_cast<int>(candidate.outputs.size());
    if (number < inputs) return fmt::format("in{}", number);
    number -= inputs;
    if (number < constants) return fmt::format("const{}", number);
    number -= constants;
    return number < outputs ? fmt::format("out{}", number) : fmt::format("temp{}", number - outputs);
  }

  MemorySpelling spelling() {
    MemorySpelling memory;
    memory.pointer = [this](int buffer) { return pointer(buffer); };
    memory.stage = [this](const Expr& stage) {
      return StagePlace{{}, Index(0), providers.at(stage.value)(stage.coords)};
    };
    return memory;
  }

  void enter(Block& block) {
    body.forget();
    body.set_output(&block.code, block.indent);
    body.set_lanes(block.vector_variable, block.lanes, block.count);
  }

  const Graph& graph;
  const Candidate& candidate;
  Implementation implementation;
  SourceText source;
  ExprPool pool;
  Composer composer;
  std::map<ValueId, Provider> providers;
  BodyEmitter body;
};

namespace {

// Broadcasting drops the index of an axis of one element: one that moves there names an element that is none.
// Lanes beyond the first may, where they are masked.
void check_places(const Value& value, const std::vector<Index>& coords, const Block& block) {
  for (size_t axis = 0; axis < coords.size(); ++axis) {
    if (value.type.shape[axis] != 1) continue;
    const int64_t moved = block.lanes > 1 && coords[axis].depends_on(block.vector_variable) ? block.lanes : 1;
    const IndexRange range = coords[axis].range();
    KORCH_ASSERT(range.low <= 0 && range.high < moved,
                 fmt::format("index {} of axis {} of '{}' ({})", print(coords[axis]), axis, value.name,
                             korch::to_string(value.type)));
  }
}

}  // namespace

Block vector_block(const std::string& variable, int width, int64_t valid) {
  return {.vector_variable = variable,
          .lanes = width,
          .count = valid < width ? std::to_string(valid) : "",
          .code = "",
          .indent = "  "};
}

ValueEmitter::ValueEmitter(const Graph& graph, const Candidate& candidate,
                           const Implementation& implementation, const Target& target)
    : state_(std::make_unique<State>(graph, candidate, implementation, target)) {}

ValueEmitter::~ValueEmitter() = default;

void ValueEmitter::provide(ValueId value, Provider provider) {
  state_->composer.set_stage(value, true);
  state_->providers[value] = std::move(provider);
}

std::string ValueEmitter::obstacle(ValueId value) const {
  return state_->composer.obstacle(value);
}

std::string ValueEmitter::emit(ValueId value, const std::vector<Index>& coords, Block& block) {
  check_places(state_->graph.value(value), coords, block);
  state_->enter(block);
  state_->composer.clear_counts();
  const int root = state_->composer.compose(value, coords);
  const std::string text = block.lanes > 1 ? state_->body.emit_full(root) : state_->body.emit(root).text;
  const std::string name = state_->body.fresh("t");
  state_->body.line(fmt::format("const {} {} = {};",
                                type_name(state_->graph.value(value).type.dtype, block.lanes), name, text));
  return name;
}

void ValueEmitter::emit_store(ValueId output, const std::vector<Index>& coords, const std::string& vector,
                              Block& block) {
  const Candidate& candidate = state_->candidate;
  for (size_t i = 0; i < candidate.outputs.size(); ++i) {
    if (candidate.outputs[i] != output) continue;
    const TensorType& type = state_->graph.value(output).type;
    state_->enter(block);
    const int number = static_cast<int>(candidate.inputs.size() + candidate.constants.size() + i);
    state_->body.store(state_->pointer(number),
                       memory_offset(coords, type.shape, state_->implementation.output_layouts[i]),
                       type.dtype, vector, block.lanes > 1);
    return;
  }
  KORCH_ASSERT(false, "value " + std::to_string(output) + " is not an output of the candidate");
}

void ValueEmitter::use_function(const std::string& name, int lanes) {
  state_->source.use_function(name, lanes);
}

std::string ValueEmitter::preamble(const std::vector<int>& more_lanes) const {
  for (int lanes : more_lanes) state_->source.use_lanes(lanes);
  return state_->source.preamble();
}

std::string ValueEmitter::argument_declarations(int temporaries) const {
  const Candidate& candidate = state_->candidate;
  std::string text;
  int number = 0;
  auto declare = [&](const std::string& type) {
    text +=
        fmt::format("  {0}* const {1} = ({0}*)context->args[{2}];\n", type, state_->pointer(number), number);
    ++number;
  };
  auto element = [&](ValueId value) { return element_type(state_->graph.value(value).type.dtype); };
  for (ValueId value : candidate.inputs) declare("const " + element(value));
  for (ValueId value : candidate.constants) declare("const " + element(value));
  for (ValueId value : candidate.outputs) declare(element(value));
  for (int i = 0; i < temporaries; ++i) declare("float");
  return text;
}

std::vector<Packing> ValueEmitter::constant_packing() const {
  return std::vector<Packing>(state_->candidate.constants.size());
}

}  // namespace korch::tile
