#include "korch/codegen/cpu/print_cpp.h"

#include <fmt/format.h>

#include "korch/codegen/cpu/nest_printer.h"

namespace korch::tile {
namespace {

std::string declarations(const TileGraph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const Buffer& buffer = graph.buffers[i];
    const std::string where = buffer.role == BufferRole::scratch
                                  ? fmt::format("((char*)context->scratch + {})", buffer.offset_bytes)
                                  : fmt::format("context->args[{}]", i);
    text += fmt::format("  {0}* const {1} = ({0}*){2};\n", element_type(buffer.type),
                        graph.name(static_cast<int>(i)), where);
  }
  return text;
}

// The grid variables of a slice, the innermost changing fastest.
std::string slice_variables(const Phase& phase) {
  std::string text;
  if (phase.grid.empty()) return text;
  text += "    int64_t rest = slice;\n";
  for (size_t i = phase.grid.size(); i-- > 0;) {
    const GridVariable& grid = phase.grid[i];
    const std::string& name = grid.variable.name;
    const std::string number = i == 0 ? "rest" : fmt::format("rest % {}", grid.count());
    if (grid.chunk == 1) {
      text += fmt::format("    const int64_t {} = {};\n", name, number);
    } else {
      text += fmt::format("    const int64_t {}_begin = ({}) * {};\n", name, number, grid.chunk);
      text += fmt::format("    const int64_t {0}_end = index_min({0}_begin + {1}, {2});\n", name, grid.chunk,
                          grid.variable.extent);
    }
    if (i > 0) text += fmt::format("    rest /= {};\n", grid.count());
  }
  return text;
}

}  // namespace

std::string phase_symbol(size_t phase) {
  return fmt::format("k{}", phase);
}

std::string print_cpp(const TileGraph& graph, const Target& target) {
  SourceText source(target.isa);
  MemorySpelling memory;
  memory.pointer = [&](int buffer) { return graph.name(buffer); };
  std::string functions;
  for (size_t i = 0; i < graph.phases.size(); ++i) {
    const Phase& phase = graph.phases[i];
    std::string body;
    BodyEmitter emitter(graph.pool, memory, source);
    for (const Nest& nest : phase.nests) {
      emitter.set_output(&body, "    ");
      NestPrinter(graph, phase, nest, target, emitter, source).print();
    }
    functions += fmt::format(R"(
extern "C" int32_t {}(const struct korch_kernel_context* context, int64_t begin, int64_t end) {{
{}  for (int64_t slice = begin; slice < end; ++slice) {{
{}{}  }}
  return 0;
}}
)",
                             phase_symbol(i), declarations(graph), slice_variables(phase), body);
  }
  return source.preamble() + functions;
}

}  // namespace korch::tile
