#include "korch/codegen/loop/print_cpp.h"

#include <fmt/format.h>

#include "korch/codegen/loop/nest_printer.h"

namespace korch::loop {
namespace {

std::string declarations(const Program& program) {
  std::string text;
  for (size_t i = 0; i < program.argument_types.size(); ++i)
    text += fmt::format("  {0}* const arg{1} = ({0}*)context->args[{1}];\n",
                        element_type(program.argument_types[i]), i);
  for (const StageBuffer& buffer : program.buffers)
    text += fmt::format("  {0}* const stage{1} = ({0}*)((char*)context->scratch + {2});\n",
                        element_type(buffer.type), buffer.value, buffer.offset_bytes);
  return text;
}

// The grid variables of a slice, the innermost changing fastest.
std::string slice_variables(const Program& program) {
  std::string text;
  if (program.grid.empty()) return text;
  text += "    int64_t rest = slice;\n";
  for (size_t i = program.grid.size(); i-- > 0;) {
    const GridVariable& grid = program.grid[i];
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

std::string print_cpp(const Program& program, const Target& target, const std::string& symbol) {
  SourceText source(target.isa);
  MemorySpelling memory;
  memory.pointer = [](int buffer) { return fmt::format("arg{}", buffer); };
  memory.stage = [&](const Expr& stage) {
    return StagePlace{
        fmt::format("stage{}", stage.value), program.buffer_of(stage.value).offset(stage.coords), {}};
  };
  std::string body;
  BodyEmitter emitter(*program.pool, memory, source);
  for (const Nest& nest : program.nests) {
    emitter.set_output(&body, "    ");
    NestPrinter(program, nest, target, emitter, source).print();
  }
  return fmt::format(R"({}
extern "C" int32_t {}(const struct korch_kernel_context* context, int64_t begin, int64_t end) {{
{}  for (int64_t slice = begin; slice < end; ++slice) {{
{}{}  }}
  return 0;
}}
)",
                     source.preamble(), symbol, declarations(program), slice_variables(program), body);
}

}  // namespace korch::loop
