#include "korch/codegen/cpu/print_cpp.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/nest_printer.h"
#include "korch/codegen/cpu/product_printer.h"
#include "korch/codegen/cpu/slice_loops.h"
#include "korch/kernel/product.h"

namespace korch::tile {
namespace {

std::string declarations(const TileGraph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const Buffer& buffer = graph.buffers[i];
    const std::string where = buffer.role == BufferRole::scratch
                                  ? fmt::format("((char*)context->scratch + {})", buffer.offset_bytes)
                                  : fmt::format("context->args[{}]", i);
    text += fmt::format("  {0}* const {1} = ({0}*){2};\n",
                        element_type(buffer.has_nibbles() ? DType::u8 : buffer.type),
                        graph.name(static_cast<int>(i)), where);
  }
  return text;
}

// The number of the slice among those that differ in what the nests depend on.
std::string kept_key(const TileGraph& graph, const Phase& phase, const std::vector<const Nest*>& nests) {
  std::set<std::string> used;
  for (const Nest* nest : nests) {
    for (int id : graph.pool.reachable(nest->roots()))
      used.insert(graph.pool.variables(id).begin(), graph.pool.variables(id).end());
    for (const Store& store : nest->stores) {
      used.merge(store.offset.variables());
      used.merge(store.condition.variables());
    }
  }
  std::string key = "0";
  for (const GridVariable& grid : phase.grid) {
    if (used.count(grid.variable.name) != 0 || used.count(grid.block()) != 0)
      key = fmt::format("({} * {} + {})", key, grid.count(),
                        grid.chunk > 1 ? grid.block() : grid.variable.name);
  }
  return key;
}

// One phase as a function.
class PhasePrinter {
 public:
  PhasePrinter(ScheduledGraph& graph, size_t phase, const Device& target, SourceText& source,
               ProductPrinter& products)
      : graph_(graph),
        phase_(graph.phases[phase]),
        schedule_(graph.schedule[phase]),
        target_(target),
        source_(source),
        products_(products),
        emitter_(graph.pool,
                 {.pointer = [&graph](int buffer) { return graph.name(buffer); }, .intermediate = {}},
                 source),
        loops_(phase_, emitter_) {}

  std::string print(const std::string& symbol) {
    emitter_.set_output(&body_, "    ");
    for (size_t i = 0; i < phase_.nests.size(); ++i) nest(i);
    loops_.leave();
    const bool in_matrix_tiles = products_.take_matrix_tiles();
    if (in_matrix_tiles) before_ += fmt::format("  void (*{})(void) = 0;\n", ProductPrinter::kConfiguration);
    return fmt::format(R"(
extern "C" int32_t {}(const struct korch_kernel_context* context, int64_t begin, int64_t end) {{
{}{}  for (int64_t slice = begin; slice < end; ++slice) {{
{}{}  }}
{}  return 0;
}}
)",
                       symbol, declarations(graph_), before_, slice_variables(phase_), body_,
                       std::string(streams() ? "  __builtin_ia32_sfence();\n" : "") +
                           (in_matrix_tiles ? "  __builtin_ia32_tilerelease();\n" : ""));
  }

 private:
  void nest(size_t number) {
    const Nest& nest = phase_.nests[number];
    loops_.enter(nest.around);
    const bool before = number > 0 && phase_.nests[number - 1].kept;
    if (nest.kept && !before) open_kept(number);
    // Matrix units of a GPU take columns from anywhere.
    if (schedule_[number].registers && product_of(graph_, nest)->has_neighbouring_columns())
      products_.print(phase_, nest, schedule_[number], emitter_);
    else
      NestPrinter(graph_, phase_, nest, schedule_[number], target_, emitter_, source_).print();
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

  bool streams() const {
    for (const Nest& nest : phase_.nests)
      for (const Store& store : nest.stores)
        if (graph_.buffers[store.buffer].streamed) return true;
    return false;
  }

  TileGraph& graph_;
  const Phase& phase_;
  const std::vector<NestSchedule>& schedule_;
  const Device& target_;
  SourceText& source_;
  ProductPrinter& products_;
  BodyEmitter emitter_;
  std::string before_, body_;  // before the loop over the slices, and in it
  SliceLoops loops_;
  int kept_ = 0;
};

}  // namespace

std::string phase_symbol(size_t phase) {
  return fmt::format("k{}", phase);
}

std::string print_cpp(ScheduledGraph graph, const Device& target) {
  SourceText source(isa_named(target.code).value_or(Isa::portable));
  ProductPrinter products(graph, target);
  std::string functions;
  for (size_t i = 0; i < graph.phases.size(); ++i)
    functions += PhasePrinter(graph, i, target, source, products).print(phase_symbol(i));
  return source.preamble() + products.functions() + functions;
}

}  // namespace korch::tile
