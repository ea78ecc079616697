#include "korch/codegen/loop/loop_program.h"

namespace korch::loop {

Index StageBuffer::offset(const std::vector<Index>& coords) const {
  Index result(0);
  for (size_t axis = 0; axis < coords.size(); ++axis)
    if (extents[axis] != 1) result = result + (coords[axis] - base[axis]) * strides[axis];
  return result;
}

double Nest::work() const {
  double count = 1;
  for (const LoopVariable& loop : loops) count *= static_cast<double>(loop.extent);
  for (const LoopVariable& loop : reduced) count *= static_cast<double>(loop.extent);
  return count;
}

const StageBuffer& Program::buffer_of(ValueId value) const {
  for (const StageBuffer& buffer : buffers)
    if (buffer.value == value) return buffer;
  KORCH_ASSERT(false, "value " + std::to_string(value) + " has no stage buffer");
  return buffers.front();
}

int64_t Program::grid_size() const {
  int64_t size = 1;
  for (const GridVariable& variable : grid) size *= variable.count();
  return size;
}

std::vector<int> Program::roots(const Nest& nest, const std::map<std::string, Index>& ranges) const {
  composer->clear_counts();
  for (ValueId value : nest.inlined) composer->set_stage(value, false);
  std::vector<int> result;
  for (const NestTarget& target : nest.targets) {
    std::vector<Index> coords;
    for (const Index& coord : target.coords) coords.push_back(substitute(coord, ranges));
    result.push_back(target.define ? composer->define(target.source, coords)
                                   : composer->compose(target.source, coords));
  }
  for (ValueId value : nest.inlined) composer->set_stage(value, true);
  return result;
}

double Program::slice_work() const {
  double work = 0;
  for (const Nest& nest : nests) work += nest.work();
  return work;
}

Split find_split(const ExprPool& pool, const std::vector<int>& roots, const Nest& nest,
                 const std::function<bool(const std::string&)>& allowed) {
  Split found{{}, 0};
  auto look = [&](const Index& index) {
    if (found.inner_extent == 0) found = find_split(index, allowed);
  };
  for (int id : pool.reachable(roots)) {
    for (const Index& coord : pool[id].coords) look(coord);
    for (const Bound& bound : pool[id].condition.bounds()) look(bound.index);
  }
  for (const NestTarget& target : nest.targets) look(target.offset);
  return found;
}

}  // namespace korch::loop
