#include "korch/codegen/cuda/print_cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cpu/slice_loops.h"
#include "korch/codegen/cuda/cuda_nest_printer.h"
#include "korch/codegen/cuda/pipeline.h"
#include "korch/codegen/cuda/row_printer.h"
#include "korch/codegen/cuda/scratch_places.h"
#include "korch/device/device.h"
#include "korch/kernel/in_place.h"

namespace korch::tile {
namespace {

// The most that an index, or a part of it, is away from 0 while it is computed.
double magnitude(const Index& index) {
  double most = std::abs(static_cast<double>(index.constant()));
  for (const Index::Term& term : index.terms()) {
    const Atom& atom = *term.atom;
    double inside = std::max(std::abs(static_cast<double>(atom.range.low)),
                             std::abs(static_cast<double>(atom.range.high)));
    if (atom.kind != AtomKind::variable && atom.kind != AtomKind::dynamic)
      inside = std::max({inside, magnitude(atom.arg), std::abs(static_cast<double>(atom.a)),
                         std::abs(static_cast<double>(atom.b))});
    most += std::abs(static_cast<double>(term.coefficient)) * inside;
  }
  return most;
}

// Whether 32 bits hold all that the phase computes of its variables: offsets, conditions, numbers of slices
// and of points.
bool fits_32_bits(const TileGraph& graph, const Phase& phase) {
  double most = static_cast<double>(phase.slices());
  const auto look = [&](const Index& index) { most = std::max(most, magnitude(index)); };
  const auto look_at = [&](const Condition& condition) {
    for (const Bound& bound : condition.bounds()) {
      look(bound.index);
      most = std::max(
          {most, std::abs(static_cast<double>(bound.low)), std::abs(static_cast<double>(bound.high))});
    }
  };
  for (const GridVariable& grid : phase.grid)
    most = std::max(most, static_cast<double>(grid.count()) * static_cast<double>(grid.chunk));
  for (const Nest& nest : phase.nests) {
    double points = 1;
    for (const std::vector<LoopVariable>* loops : {&nest.loops, &nest.reduced})
      for (const LoopVariable& loop : *loops) points *= static_cast<double>(loop.extent);
    most = std::max(most, points);
    look_at(nest.anew);
    look(nest.position);
    for (const Store& store : nest.stores) {
      look(store.offset);
      look_at(store.condition);
    }
    for (int id : graph.pool.reachable(nest.roots())) {
      const Expr& e = graph.pool[id];
      for (const Index& index : e.coords) look(index);
      look_at(e.condition);
    }
  }
  constexpr double kMost = 1 << 30;  // and room for a step beyond
  return most < kMost;
}

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int buffer) { return b.count(buffer) != 0; });
}

// A multiprocessor holds two blocks that make tiles, so that one multiplies while the other one waits: each
// thread has 128 registers at most.
constexpr const char* kBlocksOfTiles = ", 2";
// Half of the threads that it could hold, of those that wait for memory alone: 64 registers each.
constexpr const char* kBlocksOfMaps = ", 4";

int64_t workspace_bytes(const RowGraph& rows) {
  int64_t most = 0;
  for (size_t phase = 0; phase < rows.graph.phases.size(); ++phase)
    most = std::max(most, scratch_places(rows, phase).workspace_bytes);
  return most;
}

class CudaPrinter {
 public:
  CudaPrinter(const RowGraph& rows, size_t phase, SourceText& source)
      : groups_(rows),
        number_(phase),
        graph_(rows.graph),
        phase_(graph_.phases[phase]),
        schedule_(graph_.schedule[phase]),
        places_(scratch_places(rows, phase)),
        emitter_(graph_.pool, spelling(), source),
        loops_(phase_, emitter_),
        index_type_(fits_32_bits(graph_, phase_) ? "int" : "int64_t"),
        nests_(graph_, phase_, places_.held, emitter_, source),
        rows_(graph_, phase_, emitter_) {}

  std::string print(const std::string& symbol) {
    std::string body;
    emitter_.set_output(&body, "    ");
    emitter_.set_index_type(index_type_);
    emitter_.set_lanes("", 1, "");
    for (size_t i = 0; i < phase_.nests.size(); ++i) {
      if (const Pipeline* pipeline = pipeline_from(i)) {
        print_pipeline(*pipeline);
        i = pipeline->product;
      } else if (const RowGroup* group = groups_.group_of(number_, i)) {
        loops_.enter(phase_.nests[i].around);
        rows_.print(*group);
        i = group->end - 1;
      } else {
        loops_.enter(phase_.nests[i].around);
        nests_.print(phase_.nests[i], schedule_[i]);
      }
      barrier_after(i);
    }
    loops_.leave();
    std::string parameters;
    for (size_t i = 0; i < graph_.buffers.size(); ++i)
      if (graph_.buffers[i].role != BufferRole::scratch) parameters += parameter(static_cast<int>(i)) + ", ";
    return SourceText::as_cuda(fmt::format(R"(
extern "C" __global__ void __launch_bounds__({}{}) {}({}int* status, char* workspace) {{
{}  for ({} slice = blockIdx.x; slice < {}; slice += gridDim.x) {{
{}{}  }}
}}
)",
                                           kCudaThreads, blocks_at_least(), symbol, parameters, scratch(),
                                           index_type_, phase_.slices(), slice_variables(phase_, index_type_),
                                           body));
  }

 private:
  const char* blocks_at_least() const {
    if (!places_.held.empty()) return kBlocksOfTiles;
    const bool maps = std::all_of(phase_.nests.begin(), phase_.nests.end(),
                                  [](const Nest& nest) { return nest.kind == NestKind::map; });
    return maps ? kBlocksOfMaps : "";
  }
  const Pipeline* pipeline_from(size_t nest) const {
    for (const Pipeline& pipeline : places_.pipelines)
      if (pipeline.first == nest) return &pipeline;
    return nullptr;
  }

  // One loop over all k tiles, which fills the first panels before it multiplies any.
  void print_pipeline(const Pipeline& pipeline) {
    const std::vector<OuterLoop>& around = phase_.nests[pipeline.product].around;
    loops_.enter({around.begin(), around.begin() + static_cast<std::ptrdiff_t>(pipeline.outer)});
    const std::string step = emitter_.fresh("step");
    int64_t steps = 1;
    for (size_t i = pipeline.outer; i < around.size(); ++i) steps *= around[i].high - around[i].low;
    emitter_.open(fmt::format("for (int {0} = -1; {0} < {1}; ++{0})", step, steps));
    emitter_.line("wait_copies();");
    emitter_.line("__syncthreads();");
    emitter_.open(fmt::format("if ({} + 1 < {})", step, steps));
    enter_stage(pipeline, step + " + 1");
    for (size_t i = pipeline.first; i < pipeline.product; ++i)
      nests_.print_fill(phase_.nests[i], schedule_[i]);
    emitter_.close();
    emitter_.open(fmt::format("if ({} >= 0)", step));
    enter_stage(pipeline, step);
    nests_.print(phase_.nests[pipeline.product], schedule_[pipeline.product]);
    emitter_.close();
    emitter_.close();
  }

  // The variables of the loops and the panels of a step.
  void enter_stage(const Pipeline& pipeline, const std::string& step) {
    const std::vector<OuterLoop>& around = phase_.nests[pipeline.product].around;
    int64_t inner = 1;
    for (size_t i = around.size(); i-- > pipeline.outer;) {
      const OuterLoop& loop = around[i];
      const int64_t extent = loop.high - loop.low;
      std::string value = inner > 1 ? fmt::format("({}) / {}", step, inner) : step;
      if (i > pipeline.outer) value = fmt::format("({}) % {}", value, extent);
      emitter_.line(fmt::format("const {} {} = {} + {};", index_type_, loop.variable.name, loop.low, value));
      inner *= extent;
    }
    for (int panel : pipeline.panels)
      emitter_.line(fmt::format("{0}* const {1} = {1}_panels + ({2}) % {3} * {4};",
                                element_type(graph_.buffers[panel].type), graph_.name(panel), step,
                                pipeline.stages, graph_.buffers[panel].elements));
  }

  // What is only read, and shares no memory with a result, may be read by way of the cache for such data.
  std::string parameter(int buffer) const {
    const BufferRole role = graph_.buffers[buffer].role;
    bool is_alone = role == BufferRole::constant || role == BufferRole::input;
    if (role == BufferRole::input)
      for (const auto& [input, output] : in_place_pairs(graph_)) is_alone = is_alone && input != buffer;
    return fmt::format("{}{}* {}{}", is_alone ? "const " : "", element_type(graph_.buffers[buffer].type),
                       is_alone ? "__restrict__ " : "", graph_.name(buffer));
  }

  MemorySpelling spelling() const {
    MemorySpelling memory;
    memory.pointer = [this](int buffer) { return graph_.name(buffer); };
    memory.fail = [](const std::string& name) { return fmt::format("{{ *status = 1; {} = 0; }}", name); };
    memory.aligned = true;
    return memory;
  }

  bool uses_parts() const { return nests_.uses_parts() || rows_.uses_parts(); }

  // Whether threads meet in memory of the block, or slices follow one another: then the next slice has to
  // wait. Others could as well run in blocks of their own.
  bool slices_meet() const {
    return !places_.shared.empty() || !places_.workspace.empty() || uses_parts() ||
           std::any_of(phase_.grid.begin(), phase_.grid.end(),
                       [](const GridVariable& variable) { return variable.ordered; });
  }

  // Of the nest, and of those that are printed with it; with each buffer those that lie in its place.
  Accesses accesses_with(size_t number) const {
    Accesses result = accesses(groups_, number_, number);
    if (const RowGroup* group = groups_.group_of(number_, number))
      for (size_t i = group->first; i < group->end; ++i) result.add(accesses(groups_, number_, i));
    return {places_.with_neighbours(result.read), places_.with_neighbours(result.written)};
  }

  // None where the next nest, in the same loops, touches nothing that was written since the last one, and
  // writes nothing that was read; nor after the last one, where slices do not meet.
  void barrier_after(size_t number) {
    since_barrier_.add(accesses_with(number));
    const RowGroup* group = groups_.group_of(number_, number);
    const bool met = group != nullptr && rows_.meets(*group);
    if (!met && number + 1 < phase_.nests.size() &&
        phase_.nests[number + 1].around == phase_.nests[number].around) {
      const Accesses next = accesses_with(number + 1);
      if (!meet(since_barrier_.written, next.read) && !meet(since_barrier_.written, next.written) &&
          !meet(since_barrier_.read, next.written))
        return;
    }
    if (number + 1 == phase_.nests.size() && phase_.nests[number].around.empty() && !slices_meet()) return;
    emitter_.line("__syncthreads();");
    since_barrier_ = {};
  }

  std::string scratch() const {
    std::string text;
    if (uses_parts()) text += fmt::format("  __shared__ double parts[{}];\n", kCudaThreads);
    if (nests_.uses_turned())
      text += fmt::format("  __shared__ __align__(16) char turned[{}];\n", kTurnedBytes);
    if (places_.shared_bytes > 0)
      text += fmt::format("  __shared__ __align__(64) char shared[{}];\n", places_.shared_bytes);
    const auto pointer = [&](int buffer, const std::string& place) {
      text += fmt::format("  {0}* const {1}{2} = ({0}*)({3});\n", element_type(graph_.buffers[buffer].type),
                          graph_.name(buffer), places_.stages(buffer) > 1 ? "_panels" : "", place);
    };
    for (const auto& [buffer, offset] : places_.shared) pointer(buffer, fmt::format("shared + {}", offset));
    for (const auto& [buffer, offset] : places_.workspace)
      pointer(buffer, fmt::format("workspace + blockIdx.x * {}L + {}", workspace_bytes(groups_), offset));
    for (const auto& [buffer, tile] : places_.held) {
      const std::string name = graph_.name(buffer);
      if (tile.matrix_units) {
        text += fmt::format(
            "  float {0}[{1}][{2}][4];\n  const {3} {0}_row = threadIdx.x / 128 * {4} + threadIdx.x % 32 / "
            "4, "
            "{0}_column = threadIdx.x / 32 % 4 * {5} + threadIdx.x % 4 * 2;\n",
            name, tile.thread_rows / 2, tile.thread_columns / 2, index_type_, tile.warp_rows(),
            tile.warp_columns());
        continue;
      }
      const int64_t across = tile.columns / tile.thread_columns;
      text += fmt::format(
          "  f32x4 {0}[{1}][{2}];\n  const {4} {0}_row = threadIdx.x / {3} * 4, {0}_column = threadIdx.x % "
          "{3} "
          "* 4;\n",
          name, tile.thread_rows, tile.thread_columns / 4, across, index_type_);
    }
    return text;
  }

  const RowGraph& groups_;
  const size_t number_;  // of the phase
  const ScheduledGraph& graph_;
  const Phase& phase_;
  const std::vector<NestSchedule>& schedule_;
  const ScratchPlaces places_;
  BodyEmitter emitter_;
  SliceLoops loops_;
  const std::string index_type_;
  CudaNestPrinter nests_;
  RowPrinter rows_;
  Accesses since_barrier_;
};

}  // namespace

std::string cuda_phase_symbol(const std::string& symbol, size_t phase) {
  return phase == 0 ? symbol : fmt::format("{}_{}", symbol, phase);
}

int64_t cuda_workspace_bytes(const ScheduledGraph& graph) {
  return workspace_bytes(with_row_groups(graph));
}

std::string print_cuda(const ScheduledGraph& graph, const std::string& symbol) {
  SourceText source(Isa::portable);
  const RowGraph rows = with_row_groups(graph);
  std::string kernels;
  for (size_t i = 0; i < graph.phases.size(); ++i)
    kernels += CudaPrinter(rows, i, source).print(cuda_phase_symbol(symbol, i));
  return source.cuda_preamble() + kernels;
}

}  // namespace korch::tile
