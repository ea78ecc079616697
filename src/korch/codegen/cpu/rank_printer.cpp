#include "korch/codegen/cpu/rank_printer.h"

#include <fmt/format.h>

namespace korch::tile {
namespace {

// `const auto NAME = [&](int64_t variable, ...) -> type { return value; };`
std::string print_function(const TileGraph& graph, BodyEmitter& emitter, const std::string& name,
                           const std::string& variables, int value) {
  const std::string function = emitter.fresh(name);
  emitter.open(fmt::format("const auto {} = [&]({}) -> {}", function, variables,
                           type_name(graph.pool[value].type, 1)));
  emitter.line(fmt::format("return {};", emitter.emit(value).text));
  emitter.close(";");
  return function;
}

// The place of a store, by the variable that counts it.
std::string print_place(const TileGraph& graph, BodyEmitter& emitter, const std::string& name,
                        const std::string& variable, const Store& store) {
  const std::string place = emitter.fresh(name);
  emitter.line(fmt::format("const auto {} = [&](int64_t {}) -> int64_t& {{ return {}[{}]; }};", place,
                           variable, graph.name(store.buffer), emitter.index(store.offset)));
  return place;
}

void print_best(const TileGraph& graph, const Nest& nest, BodyEmitter& emitter, SourceText& source) {
  const std::string &along = nest.reduced[0].name, &rank = nest.rank.name;
  const Store& first = nest.stores[0];
  const std::string type = type_name(graph.pool[first.value].type, 1);
  const std::string place = print_place(graph, emitter, "place", rank, first);
  const std::string element = print_function(graph, emitter, "element", "int64_t " + along, first.value);
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

void print_suppression(const TileGraph& graph, const Nest& nest, BodyEmitter& emitter, SourceText& source) {
  const std::string &along = nest.reduced[0].name, &taken = nest.reduced[1].name;
  const std::string place = print_place(graph, emitter, "place", nest.rank.name, nest.stores[0]);
  const std::string left = print_place(graph, emitter, "left", along, nest.stores[1]);
  const std::string element =
      print_function(graph, emitter, "element", "int64_t " + along, nest.stores[0].value);
  const std::string excluded = print_function(
      graph, emitter, "excluded", fmt::format("int64_t {}, int64_t {}", along, taken), nest.stores[1].value);
  source.use_function("suppress", 1);
  emitter.line(fmt::format("suppress({}, {}, {}, {}, {}, {});", nest.reduced[0].extent, nest.rank.extent,
                           place, left, element, excluded));
}

}  // namespace

void print_ranking(const TileGraph& graph, const Nest& nest, BodyEmitter& emitter, SourceText& source) {
  if (nest.kind == NestKind::suppress)
    print_suppression(graph, nest, emitter, source);
  else
    print_best(graph, nest, emitter, source);
}

}  // namespace korch::tile
