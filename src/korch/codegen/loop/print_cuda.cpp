#include "korch/codegen/loop/print_cuda.h"

#include <fmt/format.h>

#include "korch/codegen/loop/body_emitter.h"
#include "korch/codegen/loop/schedule.h"

namespace korch::loop {
namespace {

constexpr int kWarp = 32;

class CudaPrinter {
 public:
  explicit CudaPrinter(const Program& program)
      : program_(program), source_(Isa::portable), emitter_(*program.pool, spelling(), source_) {}

  std::string print(const std::string& symbol) {
    std::string body;
    emitter_.set_output(&body, "    ");
    emitter_.set_lanes("", 1, "");
    for (const Nest& nest : program_.nests) print_nest(nest);
    std::string parameters;
    for (size_t i = 0; i < program_.argument_types.size(); ++i)
      parameters += fmt::format("{}* arg{}, ", element_type(program_.argument_types[i]), i);
    return source_.cuda_preamble() +
           SourceText::as_cuda(fmt::format(R"(
extern "C" __global__ void __launch_bounds__({}) {}({}int* status, char* workspace) {{
{}  for (int64_t slice = blockIdx.x; slice < {}; slice += gridDim.x) {{
{}{}  }}
}}
)",
                                           kCudaThreads, symbol, parameters, stages(), program_.grid_size(),
                                           slice_variables(), body));
  }

 private:
  MemorySpelling spelling() const {
    MemorySpelling memory;
    memory.pointer = [](int buffer) { return fmt::format("arg{}", buffer); };
    memory.stage = [this](const Expr& stage) {
      return StagePlace{
          fmt::format("stage{}", stage.value), program_.buffer_of(stage.value).offset(stage.coords), {}};
    };
    memory.fail = [](const std::string& name) { return fmt::format("{{ *status = 1; {} = 0; }}", name); };
    return memory;
  }

  std::string stages() const {
    if (program_.buffers.empty()) return {};
    std::string text =
        program_.scratch_bytes <= kCudaSharedBytes
            ? fmt::format("  __shared__ __align__(64) char scratch[{}];\n", program_.scratch_bytes)
            : fmt::format("  char* const scratch = workspace + blockIdx.x * {}L;\n", program_.scratch_bytes);
    for (const StageBuffer& buffer : program_.buffers)
      text += fmt::format("  {0}* const stage{1} = ({0}*)(scratch + {2});\n", element_type(buffer.type),
                          buffer.value, buffer.offset_bytes);
    return text;
  }

  std::string slice_variables() const {
    std::string text = "    int64_t rest = slice;\n";
    for (size_t i = program_.grid.size(); i-- > 0;) {
      const GridVariable& grid = program_.grid[i];
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

  bool is_chunked(const std::string& name) const {
    for (const GridVariable& grid : program_.grid)
      if (grid.variable.name == name) return true;
    return false;
  }

  // How many values the loops take together, as text: a chunked variable's count is known at run time.
  std::string count_of(const std::vector<LoopVariable>& loops) const {
    int64_t fixed = 1;
    std::string text;
    for (const LoopVariable& loop : loops) {
      if (is_chunked(loop.name))
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
      const std::string extent =
          is_chunked(name) ? fmt::format("({0}_end - {0}_begin)", name) : std::to_string(loops[i].extent);
      const std::string start = is_chunked(name) ? name + "_begin + " : "";
      emitter_.line(fmt::format("const int64_t {} = {}{}_rest % {};", name, start, point, extent));
      emitter_.line(fmt::format("{}_rest /= {};", point, extent));
    }
  }

  void store(const NestTarget& target, const std::string& value) {
    const DType type = target.argument >= 0 ? program_.argument_types[target.argument]
                                            : program_.buffer_of(target.stage).type;
    const std::string pointer =
        target.argument >= 0 ? fmt::format("arg{}", target.argument) : fmt::format("stage{}", target.stage);
    emitter_.store(pointer, target.offset, type, value, false);
  }

  void print_nest(const Nest& nest) {
    const std::vector<int> roots = program_.roots(nest);
    Nest ordered = nest;
    // Neighbouring threads run along the variable that vectors would.
    const std::string fast = schedule_nest(program_, nest, roots, kWarp).vector_variable;
    for (size_t i = 0; i + 1 < ordered.loops.size(); ++i)
      if (ordered.loops[i].name == fast) std::swap(ordered.loops[i], ordered.loops.back());
    emitter_.open(nest.first_slice_only ? "if (slice == 0)" : "");
    if (nest.kind == NestKind::map)
      print_map(ordered, roots);
    else if (nest.kind == NestKind::arg_reduce || fixed_count(nest.loops) >= kWarp)
      print_reduce_by_thread(ordered, roots);
    else
      print_reduce_by_block(ordered, roots);
    emitter_.close();
    emitter_.line("__syncthreads();");
  }

  void print_map(const Nest& nest, const std::vector<int>& roots) {
    open_points(nest.loops, "threadIdx.x", std::to_string(kCudaThreads));
    for (size_t i = 0; i < roots.size(); ++i) store(nest.targets[i], emitter_.emit(roots[i]).text);
    emitter_.close();
  }

  void accumulate(const Nest& nest, const std::vector<int>& roots, const std::string& accumulator) {
    const DType type = (*program_.pool)[roots[0]].type;
    for (size_t i = 1; i < roots.size(); ++i) store(nest.targets[i], emitter_.emit(roots[i]).text);
    const std::string element = emitter_.emit(roots[0]).text;
    if (nest.kind == NestKind::arg_reduce)
      emitter_.take_extreme(nest.combine, type, accumulator, accumulator + "_at", element,
                            emitter_.index(nest.position), nest.select_last);
    else
      emitter_.line(fmt::format("{} = {};", accumulator,
                                emitter_.combine(nest.combine, type, accumulator, element, 1)));
  }

  // One kept element per thread.
  void print_reduce_by_thread(const Nest& nest, const std::vector<int>& roots) {
    const bool arg = nest.kind == NestKind::arg_reduce;
    open_points(nest.loops, "threadIdx.x", std::to_string(kCudaThreads));
    const std::string accumulator =
        emitter_.accumulator(nest.combine, (*program_.pool)[roots[0]].type, 1, arg);
    open_points(nest.reduced, "0", "1");
    accumulate(nest, roots, accumulator);
    emitter_.close();
    store(nest.targets[0], accumulator + (arg ? "_at" : ""));
    emitter_.close();
  }

  // All threads on one kept element; their parts are combined through shared memory.
  void print_reduce_by_block(const Nest& nest, const std::vector<int>& roots) {
    const DType type = (*program_.pool)[roots[0]].type;
    const std::string parts = emitter_.fresh("parts");
    emitter_.line(fmt::format("__shared__ {} {}[{}];", type_name(type, 1), parts, kCudaThreads));
    open_points(nest.loops, "0", "1");
    const std::string accumulator = emitter_.accumulator(nest.combine, type, 1, false);
    open_points(nest.reduced, "threadIdx.x", std::to_string(kCudaThreads));
    accumulate(nest, roots, accumulator);
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
    store(nest.targets[0], parts + "[0]");
    emitter_.close();
    emitter_.line("__syncthreads();");
    emitter_.close();
  }

  const Program& program_;
  SourceText source_;
  BodyEmitter emitter_;
};

}  // namespace

std::string print_cuda(const Program& program, const std::string& symbol) {
  return CudaPrinter(program).print(symbol);
}

}  // namespace korch::loop
