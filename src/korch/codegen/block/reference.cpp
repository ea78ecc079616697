#include "korch/codegen/block/reference.h"

#include <map>

#include "korch/codegen/block/roles.h"
#include "korch/codegen/block/window_place.h"
#include "korch/codegen/loop/compose.h"
#include "korch/codegen/tile_builder.h"

namespace korch::blocks {
namespace {

using tile::Index;

class ReferenceBuilder {
 public:
  explicit ReferenceBuilder(const block::Terms& terms) : terms_(terms) {}

  tile::TileGraph build() {
    builder_.pool().keep_quotients();
    add_arguments();
    for (size_t i = 0; i < terms_.terms.size(); ++i)
      if (terms_.terms[i].kind == block::TermKind::fold && is_used(static_cast<int>(i)))
        fold_buffers_[static_cast<int>(i)] = builder_.add_temporary(elements(terms_.terms[i].axes));
    for (const auto& [fold, buffer] : fold_buffers_) {
      tile::ScheduledNest nest;
      nest.kind = tile::NestKind::reduce;
      nest.combine = at(fold).combine;
      nest.reduced = loops(at(fold).over);
      add(std::move(nest), buffer, at(fold).axes, value(at(fold).args[0], variables()));
    }
    for (size_t i = 0; i < terms_.results.size(); ++i)
      add({}, first_result_ + static_cast<int>(i), at(terms_.results[i]).axes,
          value(terms_.results[i], variables()));
    return builder_.finish();
  }

 private:
  const block::Term& at(int term) const { return terms_.terms[static_cast<size_t>(term)]; }
  int64_t extent(int axis) const { return terms_.axes[static_cast<size_t>(axis)].extent; }

  void add_arguments() {
    leaf_buffers_.resize(terms_.leaves.size());
    for (const bool constant : {false, true})
      for (size_t i = 0; i < terms_.leaves.size(); ++i)
        if (terms_.leaves[i].constant == constant)
          leaf_buffers_[i] =
              builder_.add_argument({.role = constant ? tile::BufferRole::constant : tile::BufferRole::input,
                                     .type = terms_.leaves[i].type,
                                     .elements = elements(terms_.leaves[i].axes)});
    first_result_ = static_cast<int>(terms_.leaves.size());
    for (int result : terms_.results)
      builder_.add_argument(
          {.role = tile::BufferRole::output, .type = at(result).type, .elements = elements(at(result).axes)});
  }

  bool is_used(int term) const {
    std::vector<int> pending = terms_.results;
    std::vector<bool> seen(terms_.terms.size(), false);
    while (!pending.empty()) {
      const int next = pending.back();
      pending.pop_back();
      if (next == term) return true;
      if (seen[static_cast<size_t>(next)]) continue;
      seen[static_cast<size_t>(next)] = true;
      pending.insert(pending.end(), at(next).args.begin(), at(next).args.end());
    }
    return false;
  }

  int64_t elements(AxisSet axes) const {
    int64_t count = 1;
    for (int axis : axes_in(axes)) count *= extent(axis);
    return count;
  }
  std::string variable(int axis) const { return "i_" + terms_.axes[static_cast<size_t>(axis)].name; }
  std::vector<tile::LoopVariable> loops(AxisSet axes) const {
    std::vector<tile::LoopVariable> result;
    for (int axis : axes_in(axes)) result.push_back({variable(axis), extent(axis)});
    return result;
  }
  AxisPlaces variables() const {
    AxisPlaces places;
    for (int axis = 0; axis < static_cast<int>(terms_.axes.size()); ++axis)
      places.push_back(Index::variable(variable(axis), extent(axis)));
    return places;
  }
  Index offset(AxisSet axes, const AxisPlaces& places) const {
    Index offset = 0;
    for (int axis : axes_in(axes)) offset = offset * extent(axis) + places[static_cast<size_t>(axis)];
    return offset;
  }

  int value(int term, const AxisPlaces& places) {
    const block::Term& t = at(term);
    switch (t.kind) {
      case block::TermKind::leaf:
        return builder_.load(leaf_buffers_[static_cast<size_t>(t.leaf)], offset(t.axes, places));
      case block::TermKind::number:
        return builder_.constant(t.number);
      case block::TermKind::call: {
        std::vector<int> args;
        for (int arg : t.args) args.push_back(value(arg, places));
        return tile::apply_elementwise(builder_.pool(), t.op, t.scalars, args, t.type);
      }
      case block::TermKind::fold:
        return builder_.load(fold_buffers_.at(term), offset(t.axes, places));
      case block::TermKind::window: {
        const WindowPlace at = place_of(t.window, terms_.axes, places);
        AxisPlaces moved = places;
        moved[static_cast<size_t>(t.window.of)] = at.place;
        return builder_.padded(at.inside, value(t.args[0], moved));
      }
    }
    return -1;
  }

  void add(tile::ScheduledNest nest, int buffer, AxisSet axes, int stored) {
    tile::ScheduledPhase phase;
    nest.loops = loops(axes);
    nest.stores = {{buffer, offset(axes, variables()), stored}};
    phase.nests.push_back(std::move(nest));
    builder_.add_phase(std::move(phase));
  }

  const block::Terms& terms_;
  tile::TileBuilder builder_{DType::f32};
  std::vector<int> leaf_buffers_;
  std::map<int, int> fold_buffers_;
  int first_result_ = 0;
};

}  // namespace

tile::TileGraph reference_kernel(const block::Terms& terms) {
  return ReferenceBuilder(terms).build();
}

}  // namespace korch::blocks
