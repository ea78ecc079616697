#include "korch/codegen/cuda/print_cuda.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/cpu/top_k_printer.h"
#include "korch/codegen/passes/vectorize.h"

namespace korch::tile {
namespace {

constexpr int kWarp = 32;

class CudaPrinter {
 public:
  CudaPrinter(const TileGraph& graph, const Phase& phase, SourceText& source)
      : graph_(graph), phase_(phase), source_(source), emitter_(graph.pool, spelling(), source_) {}

  std::string print(const std::string& symbol) {
    std::string body;
    emitter_.set_output(&body, "    ");
    emitter_.set_lanes("", 1, "");
    for (const Nest& nest : phase_.nests) print_nest(nest);
    std::string parameters;
    for (size_t i = 0; i < graph_.buffers.size(); ++i)
      if (graph_.buffers[i].role != BufferRole::scratch)
        parameters +=
            fmt::format("{}* {}, ", element_type(graph_.buffers[i].type), graph_.name(static_cast<int>(i)));
    return SourceText::as_cuda(fmt::format(R"(
extern "C" __global__ void __launch_bounds__({}) {}({}int* status, char* workspace) {{
{}  for (int64_t slice = blockIdx.x; slice < {}; slice += gridDim.x) {{
{}{}  }}
}}
)",
                                           kCudaThreads, symbol, parameters, scratch(), phase_.slices(),
                                           slice_variables(), body));
  }

 private:
  MemorySpelling spelling() const {
    MemorySpelling memory;
    memory.pointer = [this](int buffer) { return graph_.name(buffer); };
    memory.fail = [](const std::string& name) { return fmt::format("{{ *status = 1; {} = 0; }}", name); };
    return memory;
  }

  std::string scratch() const {
    if (graph_.scratch_bytes == 0) return {};
    std::string text =
        graph_.scratch_bytes <= kCudaSharedBytes
            ? fmt::format("  __shared__ __align__(64) char scratch[{}];\n", graph_.scratch_bytes)
            : fmt::format("  char* const scratch = workspace + blockIdx.x * {}L;\n", graph_.scratch_bytes);
    for (size_t i = 0; i < graph_.buffers.size(); ++i)
      if (graph_.buffers[i].role == BufferRole::scratch)
        text +=
            fmt::format("  {0}* const {1} = ({0}*)(scratch + {2});\n", element_type(graph_.buffers[i].type),
                        graph_.name(static_cast<int>(i)), graph_.buffers[i].offset_bytes);
    return text;
  }

  std::string slice_variables() const {
    std::string text = "    int64_t rest = slice;\n";
    for (size_t i = phase_.grid.size(); i-- > 0;) {
      const GridVariable& grid = phase_.grid[i];
      const std::string& name = grid.variable.name;
      if (grid.chunk == 1) {
        text += fmt::format("    const int64_t {} = rest % {};\n", name, grid.count());
      } else {
        text +=
            fmt::format("    const int64_t {0}_begin = rest % {1} * {2};\n", name, grid.count(), grid.chunk);
        text += fmt::format("    const int64_t {0}_end = index_min({0}_begin + {1}, {2});\n", name,
                            grid.chunk, grid.variable.extent);
      }
      text += fmt::format("    rest /= {};\n", grid.count());
    }
    return text;
  }

  // How many values the loops take together, as text: a chunked variable's count is known at run time.
  std::string count_of(const std::vector<LoopVariable>& loops) const {
    int64_t fixed = 1;
    std::string text;
    for (const LoopVariable& loop : loops) {
      if (phase_.chunked(loop.name) != nullptr)
        text += fmt::format("({0}_end - {0}_begin) * ", loop.name);
      else
        fixed *= loop.extent;
    }
    return text + std::to_string(fixed);
  }

  static int64_t fixed_count(const std::vector<LoopVariable>& loops) {
    int64_t count = 1;
    for (const LoopVariable& loop : loops) count *= loop.extent;
    return count;
  }

  // Points first, first + step, ... of the loops, the last variable changing fastest.
  void open_points(const std::vector<LoopVariable>& loops, const std::string& first,
                   const std::string& step) {
    const std::string point = emitter_.fresh("p");
    emitter_.open(
        fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", point, first, count_of(loops), step));
    emitter_.line(fmt::format("int64_t {}_rest = {};", point, point));
    for (size_t i = loops.size(); i-- > 0;) {
      const std::string& name = loops[i].name;
      const bool chunked = phase_.chunked(name) != nullptr;
      const std::string extent =
          chunked ? fmt::format("({0}_end - {0}_begin)", name) : std::to_string(loops[i].extent);
      const std::string start = chunked ? name + "_begin + " : "";
      emitter_.line(fmt::format("const int64_t {} = {}{}_rest % {};", name, start, point, extent));
      emitter_.line(fmt::format("{}_rest /= {};", point, extent));
    }
  }

  void store(const Store& store, const std::string& value) {
    emitter_.store(graph_.name(store.buffer), store.offset, graph_.buffers[store.buffer].type, value, false);
  }

  void print_nest(const Nest& nest) {
    Nest ordered = nest;
    // Neighbouring threads run along the variable that vectors would.
    const std::string fast = choose_lanes(graph_, phase_, nest, kWarp).variable;
    for (size_t i = 0; i + 1 < ordered.loops.size(); ++i)
      if (ordered.loops[i].name == fast) std::swap(ordered.loops[i], ordered.loops.back());
    emitter_.open(nest.first_slice_only ? "if (slice == 0)" : "");
    if (nest.kind == NestKind::map)
      print_map(ordered);
    else if (nest.kind == NestKind::scatter)
      print_scatter(nest);
    else if (nest.kind == NestKind::top_k)
      print_top_k(ordered);
    else if (nest.kind != NestKind::reduce || fixed_count(nest.loops) >= kWarp)
      print_reduce_by_thread(ordered);
    else
      print_reduce_by_block(ordered);
    emitter_.close();
    emitter_.line("__syncthreads();");
  }

  void store_all(const std::vector<Store>& stores) {
    for (const Store& place : stores) {
      const bool always = place.condition.always_true();
      if (!always) emitter_.open(fmt::format("if ({})", tile::print(place.condition)));
      store(place, emitter_.emit(place.value).text);
      if (!always) emitter_.close();
    }
  }

  void print_map(const Nest& nest) {
    open_points(nest.loops, "threadIdx.x", std::to_string(kCudaThreads));
    store_all(nest.stores);
    emitter_.close();
  }

  // Whether points that differ along the innermost loop never meet, whatever the others are.
  bool never_meet(const Nest& nest) const {
    if (nest.loops.empty() || !scatters_in_lanes(graph_, nest, nest.loops.back().name)) return false;
    const Index& offset = nest.stores[0].offset;
    const int64_t span = nest.loops.back().extent * std::abs(offset.stride(nest.loops.back().name));
    return std::all_of(offset.terms().begin(), offset.terms().end(), [&](const Index::Term& term) {
      return term.atom->name == nest.loops.back().name || term.coefficient % span == 0;
    });
  }

  // Threads along the innermost loop where its points never meet, each of them in order; else one alone.
  void print_scatter(const Nest& nest) {
    std::vector<LoopVariable> in_order = nest.loops;
    if (never_meet(nest)) {
      open_points({in_order.back()}, "threadIdx.x", std::to_string(kCudaThreads));
      in_order.pop_back();
    } else {
      emitter_.open("if (threadIdx.x == 0)");
    }
    open_points(in_order, "0", "1");
    store_all(nest.stores);
    emitter_.close();
    emitter_.close();
  }

  // One row per thread.
  void print_top_k(const Nest& nest) {
    open_points(nest.loops, "threadIdx.x", std::to_string(kCudaThreads));
    print_best(graph_, nest, emitter_, source_);
    emitter_.close();
  }

  void accumulate(const Nest& nest, const std::string& accumulator) {
    const DType type = graph_.pool[nest.stores[0].value].type;
    const bool always = nest.stores[0].condition.always_true();
    if (!always) emitter_.open(fmt::format("if ({})", tile::print(nest.stores[0].condition)));
    for (size_t i = 1; i < nest.stores.size(); ++i)
      store(nest.stores[i], emitter_.emit(nest.stores[i].value).text);
    const std::string element = emitter_.emit(nest.stores[0].value).text;
    if (nest.kind == NestKind::arg_reduce)
      emitter_.take_extreme(nest.combine, type, accumulator, accumulator + "_at", element,
                            emitter_.index(nest.position), nest.select_last, nest.nan_wins);
    else
      emitter_.line(fmt::format("{} = {};", accumulator,
                                emitter_.combine(nest.combine, type, accumulator, element, 1)));
    if (nest.kind == NestKind::scan) store(nest.stores[0], accumulator);
    if (!always) emitter_.close();
  }

  // One kept element per thread.
  void print_reduce_by_thread(const Nest& nest) {
    const bool arg = nest.kind == NestKind::arg_reduce;
    open_points(nest.loops, "threadIdx.x", std::to_string(kCudaThreads));
    const std::string accumulator =
        emitter_.accumulator(nest.combine, graph_.pool[nest.stores[0].value].type, 1, arg);
    open_points(nest.reduced, "0", "1");
    accumulate(nest, accumulator);
    emitter_.close();
    if (nest.kind != NestKind::scan) store(nest.stores[0], accumulator + (arg ? "_at" : ""));
    emitter_.close();
  }

  // All threads on one kept element; their parts are combined through shared memory.
  void print_reduce_by_block(const Nest& nest) {
    const DType type = graph_.pool[nest.stores[0].value].type;
    const std::string parts = emitter_.fresh("parts");
    emitter_.line(fmt::format("__shared__ {} {}[{}];", type_name(type, 1), parts, kCudaThreads));
    open_points(nest.loops, "0", "1");
    const std::string accumulator = emitter_.accumulator(nest.combine, type, 1, false);
    open_points(nest.reduced, "threadIdx.x", std::to_string(kCudaThreads));
    accumulate(nest, accumulator);
    emitter_.close();
    emitter_.line(fmt::format("{}[threadIdx.x] = {};", parts, accumulator));
    emitter_.line("__syncthreads();");
    emitter_.open(fmt::format("for (int half = {}; half > 0; half /= 2)", kCudaThreads / 2));
    emitter_.line(fmt::format(
        "if (threadIdx.x < half) {0}[threadIdx.x] = {1};", parts,
        emitter_.combine(nest.combine, type, parts + "[threadIdx.x]", parts + "[threadIdx.x + half]", 1)));
    emitter_.line("__syncthreads();");
    emitter_.close();
    emitter_.open("if (threadIdx.x == 0)");
    store(nest.stores[0], parts + "[0]");
    emitter_.close();
    emitter_.line("__syncthreads();");
    emitter_.close();
  }

  const TileGraph& graph_;
  const Phase& phase_;
  SourceText& source_;
  BodyEmitter emitter_;
};

}  // namespace

std::string cuda_phase_symbol(const std::string& symbol, size_t phase) {
  return phase == 0 ? symbol : fmt::format("{}_{}", symbol, phase);
}

std::string cuda_obstacle(const TileGraph& graph) {
  for (const Phase& phase : graph.phases)
    for (const Nest& nest : phase.nests)
      if (!nest.around.empty() || !nest.anew.always_true()) return "loops around nests have no CUDA text";
  return {};
}

std::string print_cuda(const TileGraph& graph, const std::string& symbol) {
  SourceText source(Isa::portable);
  std::string kernels;
  for (size_t i = 0; i < graph.phases.size(); ++i)
    kernels += CudaPrinter(graph, graph.phases[i], source).print(cuda_phase_symbol(symbol, i));
  return source.cuda_preamble() + kernels;
}

}  // namespace korch::tile
