#include "korch/codegen/cpu/print_cpp.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/nest_printer.h"
#include "korch/codegen/cpu/product_printer.h"

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
      text += fmt::format("    const int64_t {} = {};\n", grid.block(), number);
      text += fmt::format("    const int64_t {}_begin = {} * {};\n", name, grid.block(), grid.chunk);
      text += fmt::format("    const int64_t {0}_end = index_min({0}_begin + {1}, {2});\n", name, grid.chunk,
                          grid.variable.extent);
    }
    if (i > 0) text += fmt::format("    rest /= {};\n", grid.count());
  }
  return text;
}

// The number of the slice among those that differ in what the nests depend on.
std::string kept_key(const TileGraph& graph, const Phase& phase, const std::vector<const Nest*>& nests) {
  std::set<std::string> used;
  for (const Nest* nest : nests)
    for (int id : graph.pool.reachable(nest->roots()))
      used.insert(graph.pool.variables(id).begin(), graph.pool.variables(id).end());
  std::string key = "0";
  for (const GridVariable& grid : phase.grid) {
    const std::string name = grid.chunk > 1 ? grid.block() : grid.variable.name;
    if (used.count(name) != 0) key = fmt::format("({} * {} + {})", key, grid.count(), name);
  }
  return key;
}

// One phase as a function.
class PhasePrinter {
 public:
  PhasePrinter(TileGraph& graph, const Phase& phase, const Target& target, SourceText& source,
               ProductPrinter& products)
      : graph_(graph),
        phase_(phase),
        target_(target),
        source_(source),
        products_(products),
        emitter_(graph.pool, {.pointer = [&graph](int buffer) { return graph.name(buffer); }, .stage = {}},
                 source) {}

  std::string print(const std::string& symbol) {
    emitter_.set_output(&body_, "    ");
    for (size_t i = 0; i < phase_.nests.size(); ++i) nest(i);
    close_to(0);
    return fmt::format(R"(
extern "C" int32_t {}(const struct korch_kernel_context* context, int64_t begin, int64_t end) {{
{}{}  for (int64_t slice = begin; slice < end; ++slice) {{
{}{}  }}
{}  return 0;
}}
)",
                       symbol, declarations(graph_), before_, slice_variables(phase_), body_,
                       streams() ? "  __builtin_ia32_sfence();\n" : "");
  }

 private:
  void nest(size_t number) {
    const Nest& nest = phase_.nests[number];
    close_to(shared_loops(open_, nest.around));
    for (size_t i = open_.size(); i < nest.around.size(); ++i) open(nest.around[i]);
    const bool before = number > 0 && phase_.nests[number - 1].kept;
    if (nest.kept && !before) open_kept(number);
    if (nest.schedule.registers)
      products_.print(phase_, nest, emitter_);
    else
      NestPrinter(graph_, phase_, nest, target_, emitter_, source_).print();
    if (nest.kept && (number + 1 == phase_.nests.size() || !phase_.nests[number + 1].kept)) emitter_.close();
  }

  void open_kept(size_t number) {
    std::vector<const Nest*> nests;
    for (; number < phase_.nests.size() && phase_.nests[number].kept; ++number)
      nests.push_back(&phase_.nests[number]);
    const std::string name = fmt::format("kept{}", kept_++);
    const std::string key = kept_key(graph_, phase_, nests);
    before_ += fmt::format("  int64_t {} = -1;\n", name);
    emitter_.open(fmt::format("if ({} != {})", name, key));
    emitter_.line(fmt::format("{} = {};", name, key));
  }

  void open(const OuterLoop& loop) {
    const std::string& name = loop.variable.name;
    const GridVariable* grid = phase_.grid_variable(name);
    if (grid == nullptr) {
      emitter_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", name, loop.low, loop.high));
    } else if (grid->chunk == 1) {
      emitter_.open(fmt::format("if ({1} <= {0} && {0} < {2})", name, loop.low, loop.high));
    } else {
      emitter_.open(
          fmt::format("for (int64_t {0} = index_max({0}_begin, {1}); {0} < index_min({0}_end, {2}); ++{0})",
                      name, loop.low, loop.high));
    }
    open_.push_back(loop);
  }

  void close_to(size_t depth) {
    for (; open_.size() > depth; open_.pop_back()) emitter_.close();
  }

  bool streams() const {
    for (const Nest& nest : phase_.nests)
      for (const Store& store : nest.stores)
        if (graph_.buffers[store.buffer].streamed) return true;
    return false;
  }

  TileGraph& graph_;
  const Phase& phase_;
  const Target& target_;
  SourceText& source_;
  ProductPrinter& products_;
  BodyEmitter emitter_;
  std::string before_, body_;  // before the loop over the slices, and in it
  std::vector<OuterLoop> open_;
  int kept_ = 0;
};

}  // namespace

std::string phase_symbol(size_t phase) {
  return fmt::format("k{}", phase);
}

std::string print_cpp(TileGraph graph, const Target& target) {
  SourceText source(target.isa);
  ProductPrinter products(graph, target);
  std::string functions;
  for (size_t i = 0; i < graph.phases.size(); ++i)
    functions += PhasePrinter(graph, graph.phases[i], target, source, products).print(phase_symbol(i));
  return source.preamble() + products.functions() + functions;
}

}  // namespace korch::tile
