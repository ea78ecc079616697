#include "korch/codegen/cpu/slice_loops.h"

#include <fmt/format.h>

namespace korch::tile {

std::string slice_variables(const Phase& phase, const std::string& index_type) {
  std::string text;
  if (phase.grid.empty()) return text;
  text += fmt::format("    {} rest = slice;\n", index_type);
  for (size_t i = phase.grid.size(); i-- > 0;) {
    const GridVariable& grid = phase.grid[i];
    const std::string& name = grid.variable.name;
    const std::string number = i == 0 ? "rest" : fmt::format("rest % {}", grid.count());
    if (grid.chunk == 1) {
      text += fmt::format("    const {} {} = {};\n", index_type, name, number);
    } else {
      text += fmt::format("    const {} {} = {};\n", index_type, grid.block(), number);
      text += fmt::format("    const {} {}_begin = {} * {};\n", index_type, name, grid.block(), grid.chunk);
      text += fmt::format("    const {3} {0}_end = index_min({0}_begin + {1}, {2});\n", name, grid.chunk,
                          grid.variable.extent, index_type);
    }
    if (i > 0) text += fmt::format("    rest /= {};\n", grid.count());
  }
  return text;
}

void SliceLoops::enter(const std::vector<OuterLoop>& around) {
  close_to(shared_loops(open_, around));
  for (size_t i = open_.size(); i < around.size(); ++i) open(around[i]);
}

void SliceLoops::open(const OuterLoop& loop) {
  const std::string& name = loop.variable.name;
  const GridVariable* grid = phase_.grid_variable(name);
  if (grid == nullptr) {
    emitter_.open(fmt::format("for ({3} {0} = {1}; {0} < {2}; ++{0})", name, loop.low, loop.high,
                              emitter_.index_type()));
  } else if (grid->chunk == 1) {
    emitter_.open(fmt::format("if ({1} <= {0} && {0} < {2})", name, loop.low, loop.high));
  } else {
    emitter_.open(
        fmt::format("for ({3} {0} = index_max({0}_begin, {1}); {0} < index_min({0}_end, {2}); ++{0})", name,
                    loop.low, loop.high, emitter_.index_type()));
  }
  open_.push_back(loop);
}

void SliceLoops::close_to(size_t depth) {
  for (; open_.size() > depth; open_.pop_back()) emitter_.close();
}

}  // namespace korch::tile
