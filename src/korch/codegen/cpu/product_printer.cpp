#include "korch/codegen/cpu/product_printer.h"

#include <fmt/format.h>

#include "korch/codegen/cpu/matrix_kernel.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/cpu/narrow_kernel.h"
#include "korch/kernel/product.h"

namespace korch::tile {
namespace {

using linear::MicroKernel;

int64_t extent_of(const std::vector<LoopVariable>& loops, const std::string& name) {
  for (const LoopVariable& loop : loops)
    if (loop.name == name) return loop.extent;
  return 1;
}

// Where the nest's own loops begin.
Index origin(const Index& index, const Nest& nest) {
  Replacements zero;
  for (const std::vector<LoopVariable>* loops : {&nest.loops, &nest.reduced})
    for (const LoopVariable& loop : *loops) zero.emplace(loop.name, Index(0));
  return substitute(index, zero);
}

// The loops around the nest inside of which `columns` stays the same.
std::vector<OuterLoop> sharing_loops(const Nest& nest, const Index& columns) {
  size_t first = nest.around.size();
  while (first > 0 && !columns.depends_on(nest.around[first - 1].variable.name)) --first;
  std::vector<OuterLoop> loops;
  for (; first < nest.around.size(); ++first)
    if (nest.around[first].low + 1 < nest.around[first].high) loops.push_back(nest.around[first]);
  return loops;
}

int64_t most_passes(const Phase& phase, const std::vector<OuterLoop>& loops) {
  int64_t passes = 1;
  for (const OuterLoop& loop : loops) {
    const GridVariable* grid = phase.grid_variable(loop.variable.name);
    passes *= grid == nullptr ? loop.variable.extent : grid->chunk;
  }
  return passes;
}

MicroKernel micro_kernel(const Phase& phase, const Nest& nest, const NestSchedule& schedule,
                         const Product& product, DType type, const Device& target) {
  MicroKernel m;
  m.type = type;
  m.rows = static_cast<int>(extent_of(nest.loops, product.row));
  m.lanes = linear::split_lanes(extent_of(nest.loops, product.column), target.lanes());
  const auto stride = [&](const Index& operand, const std::string& loop) {
    return loop.empty() ? 0 : operand.stride(loop) / product.terms;
  };
  m.terms = product.terms;
  m.row_stride = stride(product.a, product.row);
  m.tile_pitch = product.row.empty() ? 0 : nest.stores[0].offset.stride(product.row);
  for (size_t i = 0; i < nest.reduced.size() - (product.terms > 1 ? 1 : 0); ++i) {
    const LoopVariable& loop = nest.reduced[i];
    m.loops.push_back({loop.extent, stride(product.a, loop.name), stride(product.b, loop.name)});
  }
  m.part = !nest.anew.always_true();
  m.prefetch_next_rows = schedule.prefetch_rows;
  if (schedule.prefetch_columns)
    m.tiles_per_next_columns = most_passes(phase, sharing_loops(nest, product.b));
  return m;
}

}  // namespace

// Each tile asks for its share of what comes after the columns that all of them read.
std::string ProductPrinter::next_columns(const Phase& phase, const Nest& nest, const std::string& columns,
                                         int64_t elements_per_tile) const {
  const Product product = *product_of(graph_, nest);
  int64_t elements = extent_of(nest.loops, product.column);
  for (const LoopVariable& loop : nest.reduced) elements *= loop.extent;
  elements /= product.terms;
  std::string number = "0";
  for (const OuterLoop& loop : sharing_loops(nest, product.b)) {
    const std::string& name = loop.variable.name;
    const GridVariable* grid = phase.grid_variable(name);
    if (grid == nullptr)
      number = fmt::format("({} * {} + {})", number, loop.variable.extent, name);
    else if (grid->chunk > 1)
      number = fmt::format("({0} * ({1}_end - {1}_begin) + {1} - {1}_begin)", number, name);
  }
  return fmt::format("{} + {} + {} * {}", columns, elements, number, elements_per_tile);
}

const std::string& ProductPrinter::function(const std::function<std::string(const std::string& name)>& emit) {
  std::string& name = names_[emit("")];
  if (name.empty()) {
    name = fmt::format("multiply{}", names_.size());
    functions_ += emit(name);
  }
  return name;
}

void ProductPrinter::configure(const MicroKernel& kernel, BodyEmitter& emitter) {
  const std::string name =
      function([&](const std::string& to) { return linear::emit_matrix_configuration(to, kernel); });
  emitter.line(fmt::format("if ({0} != {1}) {0} = {1}, {1}();", kConfiguration, name));
  uses_matrix_tiles_ = true;
}

void ProductPrinter::print_narrow(const Nest& nest, const Product& p, BodyEmitter& emitter) {
  linear::NarrowKernel m;
  const auto stride = [](const Index& operand, const std::string& loop) {
    return loop.empty() ? 0 : operand.stride(loop);
  };
  m.type = graph_.buffers[p.b_buffer].type;
  m.converts_halves = isa_named(target_.code) != Isa::portable;
  m.has_zeros = p.zero_buffer >= 0;
  m.rows = static_cast<int>(extent_of(nest.loops, p.row));
  m.lanes = linear::split_lanes(extent_of(nest.loops, p.column), target_.lanes());
  m.row_stride = stride(p.a, p.row);
  m.tile_pitch = stride(nest.stores[0].offset, p.row);
  m.blocks = nest.reduced[0].extent;
  m.steps = nest.reduced[1].extent;
  m.a_block = p.a.stride(nest.reduced[0].name);
  m.a_step = p.a.stride(nest.reduced[1].name);
  if (p.terms > 1) {
    m.together = static_cast<int>(nest.reduced[2].extent);
    m.a_term = p.a.stride(nest.reduced[2].name);
  }
  m.shared_block = p.scale.stride(nest.reduced[0].name);
  m.part = !nest.anew.always_true();
  const std::string& name =
      function([&](const std::string& to) { return linear::emit_narrow_kernel(to, m); });
  if (m.in_nibbles() && !has_tables_) functions_ = linear::nibble_values_text() + functions_;
  has_tables_ = has_tables_ || m.in_nibbles();
  const auto place = [&](const Index& offset) { return emitter.index(origin(offset, nest)); };
  emitter.line(fmt::format(
      "{}({} + ({}), (const unsigned char*){} + ({}){}, {} + ({}), {} + ({}), {}, {}{});", name,
      graph_.name(p.a_buffer), place(p.a), graph_.name(p.b_buffer), place(p.b),
      m.in_nibbles()            ? " / 2"
      : size_bytes(m.type) == 2 ? " * 2"
                                : "",
      graph_.name(nest.stores[0].buffer), place(nest.stores[0].offset), graph_.name(p.scale_buffer),
      place(p.scale), m.has_zeros ? fmt::format("{} + ({})", graph_.name(p.zero_buffer), place(p.zero)) : "0",
      m.in_nibbles() ? (m.type == DType::i4 ? "nibbles_signed" : "nibbles_unsigned") : "0",
      m.part ? ", " + tile::print(nest.anew) : ""));
}

void ProductPrinter::print(const Phase& phase, const Nest& nest, const NestSchedule& schedule,
                           BodyEmitter& emitter) {
  const Product product = *product_of(graph_, nest);
  if (product.is_narrow()) return print_narrow(nest, product, emitter);
  const DType type = graph_.pool[nest.stores[0].value].type;
  const MicroKernel kernel = micro_kernel(phase, nest, schedule, product, type, target_);
  const bool in_tiles = has_matrix_tiles(target_) && linear::takes_matrix_tiles(kernel);
  const std::string& name = function([&](const std::string& to) {
    return in_tiles ? linear::emit_matrix_kernel(to, kernel) : linear::emit_micro_kernel(to, kernel);
  });
  if (in_tiles) configure(kernel, emitter);
  const auto pointer = [&](int buffer, const Index& offset) {
    return fmt::format("{} + ({})", graph_.name(buffer), emitter.index(origin(offset, nest)));
  };
  const auto operand = [&](int buffer, const Index& offset) {
    return kernel.terms > 1 ? fmt::format("(const int*)({})", pointer(buffer, offset))
                            : pointer(buffer, offset);
  };
  const std::string columns = operand(product.b_buffer, product.b);
  std::string arguments = fmt::format(
      "{}, {}, {}, {}", operand(product.a_buffer, product.a), columns,
      pointer(nest.stores[0].buffer, nest.stores[0].offset),
      schedule.prefetch_columns ? next_columns(phase, nest, columns, kernel.next_elements()) : columns);
  if (kernel.part) arguments += ", " + tile::print(nest.anew);
  emitter.line(fmt::format("{}({});", name, arguments));
}

}  // namespace korch::tile
