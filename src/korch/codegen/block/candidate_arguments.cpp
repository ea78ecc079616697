#include <algorithm>

#include "korch/codegen/block/arguments.h"
#include "korch/codegen/loop/compose.h"
#include "korch/codegen/loop/index_map.h"

namespace korch::blocks {
namespace {

using tile::Index;

// Constants lie row by row.
std::map<ValueId, tile::Argument> arguments_of(const Candidate& candidate,
                                               const Implementation& implementation) {
  std::map<ValueId, tile::Argument> result;
  int number = 0;
  for (ValueId value : candidate.inputs) {
    result[value] = {number, implementation.input_layouts[static_cast<size_t>(number)]};
    ++number;
  }
  for (ValueId value : candidate.constants) result[value] = {number++, Layout{}};
  return result;
}

class CandidateArguments final : public Arguments {
 public:
  CandidateArguments(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                     const block::PlacedGraph& placed, const Device& target)
      : graph_(graph),
        candidate_(candidate),
        implementation_(implementation),
        placed_(placed),
        target_(target),
        composer_(graph, candidate, arguments_of(candidate, implementation), composed_) {}

  void add_buffers(tile::TileBuilder& builder) override {
    const auto add = [&](tile::BufferRole role, ValueId value) {
      const TensorType& type = graph_.value(value).type;
      builder.add_argument({.role = role,
                            .type = type.dtype,
                            .elements = type.elements(),
                            .streamed = role == tile::BufferRole::output && type.dtype == DType::f32 &&
                                        type.bytes() > target_.cache_bytes() / 2});
    };
    for (ValueId value : candidate_.inputs) add(tile::BufferRole::input, value);
    for (ValueId value : candidate_.constants) add(tile::BufferRole::constant, value);
    for (ValueId value : candidate_.outputs) add(tile::BufferRole::output, value);
  }

  // Composed at variables of all of the axes' values, whose ranges simplify it, then moved.
  int read(tile::TileBuilder& builder, int leaf, const AxisPlaces& places) override {
    const block::Place& place = placed_.leaves[static_cast<size_t>(leaf)];
    AxisPlaces variables;
    tile::Replacements moved;
    for (size_t i = 0; i < places.size(); ++i) {
      const std::string name = "axis_" + placed_.graph.axes[i].name;
      variables.push_back(Index::variable(name, placed_.graph.axes[i].extent));
      moved[name] = places[i];
    }
    composer_.clear_counts();
    const int composed = composer_.compose(place.value, coordinates(place, variables));
    return tile::Rewriter(composed_, builder.pool(), moved).rewrite({composed})[0];
  }

  std::pair<int, Index> place_of(int result, const AxisPlaces& places) override {
    const block::Place& place = placed_.results[static_cast<size_t>(result)];
    const auto output = std::ranges::find(candidate_.outputs, place.value) - candidate_.outputs.begin();
    const size_t before = candidate_.inputs.size() + candidate_.constants.size();
    const std::vector<Index> coords = coordinates(place, places);
    const Shape steps = strides(graph_.value(place.value).type.shape,
                                implementation_.output_layouts[static_cast<size_t>(output)]);
    Index offset = 0;
    for (size_t i = 0; i < coords.size(); ++i) offset = offset + coords[i] * steps[i];
    return {static_cast<int>(before) + static_cast<int>(output), offset};
  }

  int pack(tile::TileBuilder& builder, int leaf, int terms, int columns,
           const linear::ColumnBlocks& blocks) override {
    const block::Place& place = placed_.leaves[static_cast<size_t>(leaf)];
    const auto found = std::ranges::find(candidate_.constants, place.value);
    if (found == candidate_.constants.end()) return -1;
    // A convolution of one row and column has as many weights as a matrix of channels.
    std::vector<block::AxisList> axes = place.at;
    const bool is_kernel = axes.size() > 2;
    while (axes.size() > 2 && axes.back().empty()) axes.pop_back();
    const bool by_terms = axes == std::vector<block::AxisList>{{terms}, {columns}};
    if (!by_terms && axes != std::vector<block::AxisList>{{columns}, {terms}}) return -1;
    if (is_kernel && by_terms) return -1;
    const int buffer =
        static_cast<int>(candidate_.inputs.size()) + static_cast<int>(found - candidate_.constants.begin());
    if (uses(place.value) > 1) return -1;  // another leaf reads it in rows
    const Shape& shape = graph_.value(place.value).type.shape;
    const int64_t width = blocks.blocks > 0 ? blocks.block_lanes() : blocks.tail_lanes();
    builder.buffer(buffer).packing = {"columns",
                                      {by_terms    ? 1
                                       : is_kernel ? 0
                                                   : 2,
                                       1, width, blocks.tail_lanes()}};
    builder.buffer(buffer).elements = blocks.lanes_in_all() * shape[by_terms ? 0 : 1];
    return buffer;
  }

 private:
  int64_t uses(ValueId value) const {
    int64_t count = 0;
    for (NodeId node : candidate_.nodes) count += std::ranges::count(graph_.node(node).inputs, value);
    return count;
  }

  std::vector<Index> coordinates(const block::Place& place, const AxisPlaces& places) const {
    std::vector<Index> coords;
    for (const block::AxisList& digits : place.at) {
      Index coord = 0;
      for (int axis : digits)
        coord =
            coord * placed_.graph.axes[static_cast<size_t>(axis)].extent + places[static_cast<size_t>(axis)];
      coords.push_back(coord);
    }
    return coords;
  }

  const Graph& graph_;
  const Candidate& candidate_;
  const Implementation& implementation_;
  const block::PlacedGraph& placed_;
  const Device& target_;
  tile::ExprPool composed_;
  tile::Composer composer_;
};

}  // namespace

std::unique_ptr<Arguments> candidate_arguments(const Graph& graph, const Candidate& candidate,
                                               const Implementation& implementation,
                                               const block::PlacedGraph& placed, const Device& target) {
  return std::make_unique<CandidateArguments>(graph, candidate, implementation, placed, target);
}

}  // namespace korch::blocks
