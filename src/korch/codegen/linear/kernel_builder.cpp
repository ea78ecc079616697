#include "korch/codegen/linear/kernel_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/base/ceil_div.h"
#include "korch/codegen/loop/index_map.h"
#include "korch/device/device.h"

namespace korch::linear {
namespace {

using tile::BufferRole;

std::map<ValueId, tile::Argument> memory(const Candidate& candidate, const Implementation& implementation) {
  std::map<ValueId, tile::Argument> result;
  int number = 0;
  for (size_t i = 0; i < candidate.inputs.size(); ++i)
    result[candidate.inputs[i]] = {number++, implementation.input_layouts[i]};
  for (ValueId constant : candidate.constants) result[constant] = {number++, Layout{}};
  return result;
}

// Broadcasting drops the index of an axis of one element: one that moves there names an element that is none.
void check_places(const LinearWorkload& workload, ValueId value, const Coords& coords) {
  const Shape& shape = type_of(workload, value).shape;
  for (size_t axis = 0; axis < coords.size(); ++axis) {
    const tile::IndexRange range = coords[axis].range();
    KORCH_ASSERT(shape[axis] != 1 || (range.low <= 0 && range.high >= 0 && range.low == range.high),
                 fmt::format("index {} of axis {} of one element", tile::print(coords[axis]), axis));
  }
}

}  // namespace

KernelBuilder::KernelBuilder(const LinearWorkload& workload, const Implementation& implementation,
                             const Device& target)
    : TileBuilder(element_type(workload)),
      workload_(workload),
      implementation_(implementation),
      composer_(*workload.graph, *workload.candidate, memory(*workload.candidate, implementation),
                composed_) {
  const auto argument = [&](BufferRole role, ValueId value) {
    const TensorType& type = type_of(workload, value);
    add_argument({.role = role,
                  .type = type.dtype,
                  .elements = physical_elements(type.shape, layout_of(workload, implementation, value)),
                  // Of what is larger than half of L3 nothing would be left in cache for its reader.
                  .streamed = role == BufferRole::output && type.dtype == DType::f32 &&
                              type.bytes() > target.cache_bytes() / 2});
  };
  for (ValueId value : workload.candidate->inputs) argument(BufferRole::input, value);
  for (ValueId value : workload.candidate->constants) argument(BufferRole::constant, value);
  for (ValueId value : workload.candidate->outputs) argument(BufferRole::output, value);
  composer_.set_intermediate(workload.value, true);
}

std::string KernelBuilder::obstacle() const {
  for (ValueId output : workload_.candidate->outputs)
    if (const std::string obstacle = composer_.obstacle(output); !obstacle.empty()) return obstacle;
  return {};
}

int KernelBuilder::buffer_of(ValueId argument) const {
  int number = 0;
  for (const std::vector<ValueId>* list :
       {&workload_.candidate->inputs, &workload_.candidate->constants, &workload_.candidate->outputs})
    for (ValueId value : *list) {
      if (value == argument) return number;
      ++number;
    }
  KORCH_ASSERT(false, "no argument of the candidate");
  return -1;
}

void KernelBuilder::pack(ValueId constant, Packing packing, int64_t elements) {
  tile::Buffer& packed = buffer(buffer_of(constant));
  packed.packing = std::move(packing);
  packed.elements = elements;
}

void KernelBuilder::pack(ValueId constant, Packing packing, int64_t elements, DType type) {
  pack(constant, std::move(packing), elements);
  buffer(buffer_of(constant)).type = type;
}

int KernelBuilder::read(ValueId argument, const Coords& coords) {
  return load(buffer_of(argument), tile::memory_offset(coords, type_of(workload_, argument).shape,
                                                       layout_of(workload_, implementation_, argument)));
}

int KernelBuilder::compose(ValueId value, const Coords& coords, int result,
                           const tile::Replacements& places) {
  composer_.clear_counts();
  const int composed = composer_.compose(value, coords);
  tile::Rewriter rewriter(composed_, pool(), places, [&](tile::Expr e) {
    return e.kind == tile::ExprKind::intermediate ? pool()[result] : e;
  });
  return rewriter.rewrite({composed})[0];
}

std::vector<tile::Store> KernelBuilder::outputs(const Coords& coords, int result,
                                                const tile::Replacements& places,
                                                const tile::Condition& condition) {
  std::vector<tile::Store> stores;
  if (condition.always_false()) return stores;
  for (const auto& [output, place] : output_coords(workload_, coords)) {
    check_places(workload_, output, place);
    const Index offset = tile::memory_offset(place, type_of(workload_, output).shape,
                                             layout_of(workload_, implementation_, output));
    stores.push_back({buffer_of(output), tile::substitute(offset, places),
                      compose(output, place, result, places), condition});
  }
  return stores;
}

}  // namespace korch::linear
