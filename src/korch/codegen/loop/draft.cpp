#include "korch/codegen/loop/draft.h"

#include "korch/base/ceil_div.h"
#include "korch/device/device.h"

namespace korch::tile {

Index IntermediateBuffer::offset(const std::vector<Index>& coords) const {
  Index result(0);
  for (size_t axis = 0; axis < coords.size(); ++axis)
    if (extents[axis] != 1) result = result + (coords[axis] - base[axis]) * strides[axis];
  return result;
}

const IntermediateBuffer& Draft::buffer_of(ValueId value) const {
  for (const IntermediateBuffer& buffer : buffers)
    if (buffer.value == value) return buffer;
  KORCH_ASSERT(false, "value " + std::to_string(value) + " has no intermediate buffer");
  return buffers.front();
}

std::vector<int> Draft::roots(const DraftNest& nest) const {
  composer->clear_counts();
  for (ValueId value : nest.inlined) composer->set_intermediate(value, false);
  std::vector<int> result;
  for (const DraftTarget& target : nest.targets) {
    if (!target.reduced.empty())
      result.push_back(composer->product(target.source, target.coords, target.reduced));
    else
      result.push_back(target.define ? composer->define(target.source, target.coords)
                                     : composer->compose(target.source, target.coords));
  }
  for (ValueId value : nest.inlined) composer->set_intermediate(value, true);
  return result;
}

double Draft::slice_work() const {
  double work = 0;
  for (const DraftNest& nest : nests) work += nest.work();
  return work;
}

void Draft::place_buffers() {
  scratch_bytes = 0;
  for (IntermediateBuffer& buffer : buffers) {
    buffer.offset_bytes = scratch_bytes;
    const auto element_bytes = static_cast<int64_t>(size_bytes(buffer.type.dtype));
    const int64_t size = element_count(buffer.extents) * element_bytes;
    scratch_bytes += ceil_div(size, kCacheLineBytes) * kCacheLineBytes;
  }
}

int Draft::buffer_number(ValueId intermediate) const {
  return static_cast<int>(arguments.size()) + static_cast<int>(&buffer_of(intermediate) - buffers.data());
}

Nest Draft::with_bodies(const DraftNest& nest, TileGraph& graph) const {
  Rewriter rewriter(*pool, graph.pool, {}, [this](Expr e) {
    if (e.kind != ExprKind::intermediate) return e;
    Expr load;
    load.kind = ExprKind::load;
    load.type = e.type;
    load.buffer = buffer_number(e.value);
    load.coords = {buffer_of(e.value).offset(e.coords)};
    return load;
  });
  Nest result = nest;
  const std::vector<int> values = rewriter.rewrite(roots(nest));
  for (size_t i = 0; i < nest.targets.size(); ++i) {
    const DraftTarget& target = nest.targets[i];
    result.stores.push_back({target.argument >= 0 ? target.argument : buffer_number(target.intermediate),
                             target.offset, values[i]});
  }
  return result;
}

TileGraph Draft::tile_graph() const {
  TileGraph graph;
  graph.buffers = arguments;
  for (const IntermediateBuffer& intermediate : buffers)
    graph.buffers.push_back({.role = BufferRole::scratch,
                             .type = intermediate.type.dtype,
                             .elements = element_count(intermediate.extents),
                             .offset_bytes = intermediate.offset_bytes});
  graph.scratch_bytes = scratch_bytes;
  Phase phase;
  phase.grid = grid;
  for (const DraftNest& nest : nests) phase.nests.push_back(with_bodies(nest, graph));
  graph.phases.push_back(std::move(phase));
  return graph;
}

Split find_split(const ExprPool& pool, const std::vector<int>& roots, const DraftNest& nest,
                 const std::function<bool(const std::string&)>& allowed) {
  Split found{{}, 0};
  auto look = [&](const Index& index) {
    if (found.inner_extent == 0) found = find_split(index, allowed);
  };
  for (int id : pool.reachable(roots)) {
    for (const Index& coord : pool[id].coords) look(coord);
    for (const Bound& bound : pool[id].condition.bounds()) look(bound.index);
  }
  for (const DraftTarget& target : nest.targets) look(target.offset);
  return found;
}

}  // namespace korch::tile
