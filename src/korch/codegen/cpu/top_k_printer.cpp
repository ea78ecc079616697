#include "korch/codegen/cpu/top_k_printer.h"

#include <fmt/format.h>

namespace korch::tile {

void print_best(const TileGraph& graph, const Nest& nest, BodyEmitter& emitter, SourceText& source) {
  const std::string &along = nest.reduced[0].name, &rank = nest.rank.name;
  const Store& first = nest.stores[0];
  const std::string type = type_name(graph.pool[first.value].type, 1);
  const std::string place = emitter.fresh("place"), element = emitter.fresh("element");
  emitter.line(fmt::format("const auto {} = [&](int64_t {}) -> int64_t& {{ return {}[{}]; }};", place, rank,
                           graph.name(first.buffer), emitter.index(first.offset)));
  emitter.open(fmt::format("const auto {} = [&](int64_t {}) -> {}", element, along, type));
  emitter.line(fmt::format("return {};", emitter.emit(first.value).text));
  emitter.close(";");
  source.use_function("select_best", 1);
  emitter.line(fmt::format("select_best({}, {}, {}, {}, []({} a, {} b) {{ return {}; }});",
                           nest.reduced[0].extent, nest.rank.extent, place, element, type, type,
                           nest.combine == ScalarFn::max ? "is_larger(a, b)" : "is_larger(b, a)"));
  if (nest.stores.size() == 1) return;
  emitter.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", rank, nest.rank.extent));
  emitter.line(fmt::format("const int64_t {} = {}({});", along, place, rank));
  for (size_t i = 1; i < nest.stores.size(); ++i) {
    const Store& store = nest.stores[i];
    emitter.store(graph.name(store.buffer), store.offset, graph.buffers[store.buffer].type,
                  emitter.emit(store.value).text, false);
  }
  emitter.close();
}

}  // namespace korch::tile
