#include "korch/codegen/block/arguments.h"
#include "korch/codegen/block/roles.h"

namespace korch::blocks {
namespace {

class PlainArguments final : public Arguments {
 public:
  explicit PlainArguments(const BlockGraph& graph) : graph_(graph) {}

  void add_buffers(tile::TileBuilder& builder) override {
    for (const bool constant : {false, true})
      for (const block::Leaf& leaf : graph_.leaves)
        if (leaf.constant == constant)
          builder.add_argument({.role = constant ? tile::BufferRole::constant : tile::BufferRole::input,
                                .type = leaf.type,
                                .elements = elements(leaf.axes)});
    for (int result : graph_.results)
      builder.add_argument({.role = tile::BufferRole::output,
                            .type = step(result).type,
                            .elements = elements(step(result).axes)});
  }

  int read(tile::TileBuilder& builder, int leaf, const AxisPlaces& places) override {
    return builder.load(buffer_of(leaf), offset(graph_.leaves[static_cast<size_t>(leaf)].axes, places));
  }

  std::pair<int, tile::Index> place_of(int result, const AxisPlaces& places) override {
    const AxisSet axes = step(graph_.results[static_cast<size_t>(result)]).axes;
    return {static_cast<int>(graph_.leaves.size()) + result, offset(axes, places)};
  }

  int pack(tile::TileBuilder&, int, int, int, const linear::ColumnBlocks&) override { return -1; }

 private:
  const Step& step(int number) const { return graph_.steps[static_cast<size_t>(number)]; }

  // Inputs come first.
  int buffer_of(int leaf) const {
    int number = 0;
    const bool constant = graph_.leaves[static_cast<size_t>(leaf)].constant;
    for (size_t i = 0; i < graph_.leaves.size(); ++i)
      if (graph_.leaves[i].constant != constant ? constant : static_cast<int>(i) < leaf) ++number;
    return number;
  }

  int64_t elements(AxisSet axes) const {
    int64_t count = 1;
    for (int axis : axes_in(axes)) count *= graph_.axes[static_cast<size_t>(axis)].extent;
    return count;
  }

  tile::Index offset(AxisSet axes, const AxisPlaces& places) const {
    tile::Index offset = 0;
    for (int axis : axes_in(axes))
      offset = offset * graph_.axes[static_cast<size_t>(axis)].extent + places[static_cast<size_t>(axis)];
    return offset;
  }

  const BlockGraph graph_;
};

}  // namespace

std::unique_ptr<Arguments> plain_arguments(const BlockGraph& graph) {
  return std::make_unique<PlainArguments>(graph);
}

}  // namespace korch::blocks
