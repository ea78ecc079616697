#include "korch/codegen/loop/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "korch/base/ceil_div.h"
#include "korch/codegen/loop/cost.h"
#include "korch/codegen/loop/domain.h"
#include "korch/codegen/loop/index_map.h"
#include "korch/codegen/loop/merge.h"
#include "korch/codegen/loop/reduction.h"
#include "korch/codegen/loop/related_output.h"
#include "korch/codegen/loop/slicing.h"

namespace korch::tile {
namespace {

constexpr int kMaxAttempts = 200;  // each attempt splits a variable, adds an intermediate or shrinks the grid
constexpr int kMaxExpressions =
    20000;  // a body beyond this is recomputation gone wild (windows over windows)

class Lowering {
 public:
  Lowering(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
           const Device& target)
      : graph_(graph), candidate_(candidate), implementation_(implementation), target_(target) {}

  Result<ScheduledGraph> run() {
    if (const std::optional<Refusal> refusal = unsupported(graph_, candidate_, Linear::summed))
      return *refusal;
    set_up();
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      if (!lower_once()) continue;
      if (refusal_) return *refusal_;
      merge_into_reductions(draft_);
      return ScheduledGraph(draft_.tile_graph());
    }
    return Refusal{RefusalReason::redundant_work, "no grid settles"};
  }

 private:
  void set_up() {
    int number = 0;
    for (size_t i = 0; i < candidate_.inputs.size(); ++i, ++number) {
      draft_.memory[candidate_.inputs[i]] = {number, implementation_.input_layouts[i]};
      add_argument(BufferRole::input, candidate_.inputs[i], implementation_.input_layouts[i]);
    }
    for (ValueId constant : candidate_.constants) {
      draft_.memory[constant] = {number++, Layout{}};
      add_argument(BufferRole::constant, constant, Layout{});
    }
    first_output_ = number;
    for (size_t i = 0; i < candidate_.outputs.size(); ++i) {
      add_argument(BufferRole::output, candidate_.outputs[i], implementation_.output_layouts[i]);
      if (type_of(candidate_.outputs[i]).elements() > type_of(candidate_.outputs[primary_]).elements())
        primary_ = i;
    }
    for (NodeId id : candidate_.nodes)
      if (is_reduction(graph_.node(id))) intermediates_.insert(graph_.node(id).outputs[0]);
    hold_nested_windows();
    fixed_intermediates_ = intermediates_;
    primary_domain_ = Domain(fresh("i"), type_of(candidate_.outputs[primary_]).elements());
  }

  void add_argument(BufferRole role, ValueId value, const Layout& layout) {
    const TensorType& type = type_of(value);
    draft_.arguments.push_back(
        {.role = role, .type = type.dtype, .elements = physical_elements(type.shape, layout)});
  }

  // What a window reads and another window makes: composed, the taps of both would multiply, in work and
  // text.
  void hold_nested_windows() {
    std::set<ValueId>
        windows;  // Values that a window makes, or what is computed from it without an intermediate
    for (NodeId id : candidate_.nodes) {
      const Node& node = graph_.node(id);
      bool inside = false;
      for (ValueId input : node.inputs) inside = inside || windows.count(input) != 0;
      const bool window = info(node.op).category == Category::window;
      if (window && inside)
        for (ValueId input : node.inputs)
          if (windows.erase(input) != 0) intermediates_.insert(input);
      if ((window || inside) && intermediates_.count(node.outputs[0]) == 0) windows.insert(node.outputs[0]);
    }
  }

  const TensorType& type_of(ValueId value) const { return graph_.value(value).type; }
  std::string fresh(const std::string& prefix) { return prefix + std::to_string(names_++); }

  std::set<std::string> grid_names() const {
    std::set<std::string> names;
    for (const LoopVariable& variable : primary_domain_.variables)
      if (removed_.count(variable.name) == 0) names.insert(variable.name);
    return names;
  }

  // False: something changed that every nest depends on; try again.
  bool lower_once() {
    draft_.nests.clear();
    draft_.buffers.clear();
    reads_.clear();
    draft_.pool = std::make_unique<ExprPool>();
    draft_.composer = std::make_unique<Composer>(graph_, candidate_, draft_.memory, *draft_.pool);
    for (ValueId intermediate : intermediates_) draft_.composer->set_intermediate(intermediate, true);
    if (!lower_outputs() || !lower_intermediates()) return false;
    std::reverse(draft_.nests.begin(), draft_.nests.end());  // made from the outputs backwards
    if (add_shared_intermediate()) return false;
    Slicing slicing(draft_, primary_domain_, grid_names(), target_);
    const Slicing::Change change = slicing.decide();
    if (change.none()) {
      draft_.grid = slicing.grid();
      loop_over_chunks();
      if (too_serial() && compute_again_instead()) return false;
      check_size();
      return true;
    }
    removed_.insert(change.split.inner_extent > 0 ? split_primary(change.split) : change.remove);
    return false;
  }

  // A grid variable dealt out in chunks loops inside the slice, in its place among the others.
  void loop_over_chunks() {
    for (const GridVariable& grid : draft_.grid)
      if (grid.chunk > 1) removed_.insert(grid.variable.name);
    for (DraftNest& nest : draft_.nests)
      if (nest.targets[0].argument == first_output_ + static_cast<int>(primary_))
        nest.loops = in_slice(primary_domain_);
  }

  // Splits a variable of the primary domain; the new names inherit whether it is in the grid. Returns the
  // inner name.
  std::string split_primary(const Split& split) {
    const std::string outer = fresh("i"), inner = fresh("i");
    const bool removed = removed_.erase(split.variable) != 0;
    KORCH_ASSERT(primary_domain_.split(split, outer, inner), "a split of an unknown variable");
    if (removed) removed_.insert({outer, inner});
    return inner;
  }

  // Builds the nest until no division is left that a split resolves. False when the primary domain was split.
  bool settle(std::vector<Domain*> locals, const std::function<DraftNest()>& build) {
    const auto allowed = [&](const std::string& name) {
      return primary_domain_.has(name) ||
             std::any_of(locals.begin(), locals.end(),
                         [&](const Domain* domain) { return domain->has(name); });
    };
    for (;;) {
      DraftNest nest = build();
      const std::vector<int> roots = draft_.roots(nest);
      if (draft_.pool->size() > kMaxExpressions) {
        refusal_ = Refusal{RefusalReason::redundant_work, "the fused expression recomputes too much"};
        draft_.nests.push_back(std::move(nest));
        return true;
      }
      const Split split = find_split(*draft_.pool, roots, nest, allowed);
      if (split.inner_extent == 0) {
        note_reads(roots);
        draft_.nests.push_back(std::move(nest));
        return true;
      }
      const bool local = std::any_of(locals.begin(), locals.end(), [&](Domain* domain) {
        // One after the other: which of two arguments is evaluated first is the compiler's choice.
        const std::string inner = fresh("j"), outer = fresh("j");
        return domain->split(split, outer, inner);
      });
      if (local) continue;
      split_primary(split);
      return false;
    }
  }

  void note_reads(const std::vector<int>& roots) {
    for (int id : draft_.pool->reachable(roots)) {
      const Expr& e = (*draft_.pool)[id];
      if (e.kind == ExprKind::intermediate) reads_[e.value].push_back(e.coords);
    }
  }

  std::vector<LoopVariable> in_slice(const Domain& domain) const {
    std::vector<LoopVariable> loops;
    const std::set<std::string> grid = grid_names();
    for (const LoopVariable& variable : domain.variables)
      if (grid.count(variable.name) == 0 && variable.extent > 1) loops.push_back(variable);
    return loops;
  }

  DraftTarget output_target(size_t output, const std::vector<Index>& coords) const {
    DraftTarget target;
    target.source = candidate_.outputs[output];
    target.coords = coords;
    target.argument = first_output_ + static_cast<int>(output);
    target.offset =
        memory_offset(coords, type_of(target.source).shape, implementation_.output_layouts[output]);
    return target;
  }

  // The largest output and all of its size in one nest; each other output in a nest whose domain is dealt out
  // evenly over the grid.
  bool lower_outputs() {
    const TensorType& primary = type_of(candidate_.outputs[primary_]);
    std::vector<size_t> others;
    const auto build = [&] {
      DraftNest nest;
      nest.loops = in_slice(primary_domain_);
      const std::vector<Index> coords = coords_in_memory_order(primary_domain_.flat, primary.shape,
                                                               implementation_.output_layouts[primary_]);
      nest.targets.push_back(output_target(primary_, coords));
      others.clear();
      for (size_t i = 0; i < candidate_.outputs.size(); ++i) {
        if (i == primary_) continue;
        const Shape& shape = type_of(candidate_.outputs[i]).shape;
        if (const auto related =
                follow(graph_, candidate_, candidate_.outputs[primary_], coords, candidate_.outputs[i]))
          nest.targets.push_back(output_target(i, *related));
        else if (shape == primary.shape)
          nest.targets.push_back(output_target(i, coords));
        else if (element_count(shape) == primary.elements())
          nest.targets.push_back(output_target(i, unflatten(flatten(coords, primary.shape), shape)));
        else
          others.push_back(i);
      }
      return nest;
    };
    if (!settle({}, build)) return false;
    for (size_t output : others)
      if (!lower_other_output(output)) return false;
    return true;
  }

  bool lower_other_output(size_t output) {
    const TensorType& type = type_of(candidate_.outputs[output]);
    Index slice(0);
    int64_t slices = 1;
    std::string innermost;
    const std::set<std::string> grid = grid_names();
    for (const LoopVariable& variable : primary_domain_.variables) {
      if (grid.count(variable.name) == 0) continue;
      slice = slice * variable.extent + Index::variable(variable.name, variable.extent);
      slices *= variable.extent;
      if (variable.extent > 1) innermost = variable.name;
    }
    constexpr int64_t kSmallOutput = 8;  // times smaller than the largest: one slice may make it alone
    const bool alone = type.elements() % slices != 0;
    if (alone && deal_rows(type.elements())) return false;
    if (alone && type.elements() * kSmallOutput > type_of(candidate_.outputs[primary_]).elements()) {
      removed_.insert(innermost);
      return false;
    }
    if (alone) slice = Index(0);
    const int64_t share = alone ? type.elements() : type.elements() / slices;
    Domain local(fresh("o"), share);
    return settle({&local}, [&] {
      DraftNest nest;
      nest.first_slice_only = alone;
      nest.loops = in_slice(local);
      nest.targets.push_back(
          output_target(output, coords_in_memory_order(slice * share + local.flat, type.shape,
                                                       implementation_.output_layouts[output])));
      return nest;
    });
  }

  // Makes the grid's slices whole rows of the largest output, `rows` of them in all. False when there is
  // nothing to do.
  bool deal_rows(int64_t rows) {
    constexpr int64_t kFewRows = 64;  // fewer would starve the workers
    const int64_t elements = type_of(candidate_.outputs[primary_]).elements();
    if (rows < kFewRows || elements % rows != 0) return false;
    const std::optional<RowCut> cut = cut_rows(primary_domain_, elements / rows);
    if (!cut) return false;
    bool changed = false;
    for (const std::string& name : cut->inside) changed = removed_.insert(name).second || changed;
    if (cut->split.inner_extent == 0) return changed;
    if (removed_.count(cut->split.variable) != 0) return changed;
    removed_.insert(split_primary(cut->split));
    return true;
  }

  bool lower_intermediates() {
    for (size_t i = candidate_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.node(candidate_.nodes[i]);
      const ValueId value = node.outputs[0];
      if (intermediates_.count(value) == 0 || reads_.count(value) == 0) continue;
      draft_.buffers.push_back(box_of(value, node));
      if (!lower_intermediate(node, value, draft_.buffers.back())) return false;
    }
    return true;
  }

  std::vector<int> memory_order(size_t rank) const {
    const Layout& layout = implementation_.output_layouts[primary_];
    if (layout.order.size() == rank && layout.has_strides()) return layout.order;
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  // The box of the Value that one slice reads. Of a transposed convolution a whole axis is taken up to a
  // whole number of strides, so that loops over it split by the stride: what lies beyond is computed, and
  // never read.
  IntermediateBuffer box_of(ValueId value, const Node& node) {
    const Shape& shape = type_of(value).shape;
    const std::set<std::string> grid = grid_names();
    IntermediateBuffer buffer;
    buffer.value = value;
    buffer.type = type_of(value);
    buffer.base.resize(shape.size());
    buffer.extents.resize(shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      std::vector<Index> reads;
      for (const std::vector<Index>& read : reads_[value]) reads.push_back(read[axis]);
      interval_of(reads, grid, shape[axis], buffer.base[axis], buffer.extents[axis]);
      if (node.op == Op::ConvTranspose && axis >= 2 && buffer.base[axis].is_constant()) {
        const int64_t stride = std::get<ConvAttrs>(node.attrs).strides[axis - 2];
        buffer.extents[axis] = ceil_div(buffer.extents[axis], stride) * stride;
      }
    }
    buffer.strides.resize(shape.size());
    int64_t stride = 1;
    const std::vector<int> order = memory_order(shape.size());
    for (size_t i = order.size(); i-- > 0;) {
      buffer.strides[order[i]] = stride;
      stride *= buffer.extents[order[i]];
    }
    return buffer;
  }

  bool lower_intermediate(const Node& node, ValueId value, const IntermediateBuffer& buffer) {
    Domain kept(fresh("j"), element_count(buffer.extents));
    Domain reduced(fresh("r"), is_reduction(node) ? reduced_elements(graph_, node) : 1);
    return settle({&kept, &reduced}, [&] {
      std::vector<Index> coords =
          coords_in_order(kept.flat, buffer.extents, memory_order(buffer.extents.size()));
      for (size_t axis = 0; axis < coords.size(); ++axis) coords[axis] = coords[axis] + buffer.base[axis];
      DraftNest nest;
      if (is_reduction(node)) {
        nest =
            reduction_nest(graph_, node, coords, reduced, memory_order(type_of(node.inputs[0]).shape.size()));
      } else {
        nest.targets.emplace_back();
        nest.targets[0].source = value;
        nest.targets[0].define = true;
        nest.targets[0].coords = coords;
      }
      nest.loops = in_slice(kept);
      nest.targets[0].intermediate = value;
      nest.targets[0].offset = buffer.offset(coords);
      return nest;
    });
  }

  // An expensive Value that several nests, or one nest at several places, would compute again becomes a
  // intermediate. The last such Value in the order of production covers the most.
  bool add_shared_intermediate() {
    std::map<ValueId, int> counts;
    for (const DraftNest& nest : draft_.nests) {
      draft_.roots(nest);
      for (const auto& [value, count] : draft_.composer->evaluations()) counts[value] += count;
    }
    std::set<ValueId> costly;  // expensive, or made of something expensive that is not an intermediate
    ValueId best = kNoId;
    for (NodeId id : candidate_.nodes) {
      const Node& node = graph_.node(id);
      const ValueId value = node.outputs[0];
      if (intermediates_.count(value) != 0) continue;
      bool here = info(node.op).category == Category::elementwise && is_expensive(node.op) &&
                  type_of(value).elements() > 1;
      for (ValueId input : node.inputs) here = here || costly.count(input) != 0;
      if (here && counts[value] > 1 && !is_small(value) && never_intermediate_.count(value) == 0)
        best = value;
      if (here) costly.insert(value);
    }
    if (best == kNoId) return false;
    intermediates_.insert(best);
    return true;
  }

  // One element per row or so of the largest Value: repeating it costs nothing that counts.
  bool is_small(ValueId value) const {
    const double elements = static_cast<double>(type_of(value).elements());
    double largest = 0;
    for (ValueId output : candidate_.outputs)
      largest = std::max(largest, static_cast<double>(type_of(output).elements()));
    for (NodeId id : candidate_.nodes)
      for (ValueId input : graph_.node(id).inputs)
        if (graph_.constant(input) == nullptr)
          largest = std::max(largest, static_cast<double>(type_of(input).elements()));
    return elements * kExpensive * 4 < largest;
  }

  bool too_serial() const {
    constexpr double kSerialWork = 1 << 16;  // below this one worker is as fast as several
    return slices_of(draft_.grid) == 1 && draft_.slice_work() > kSerialWork && target_.workers > 1;
  }

  // Elementwise intermediates that leave one slice only: better to compute them again where they are read.
  bool compute_again_instead() {
    if (intermediates_ == fixed_intermediates_) return false;
    for (ValueId intermediate : intermediates_)
      if (fixed_intermediates_.count(intermediate) == 0) never_intermediate_.insert(intermediate);
    intermediates_ = fixed_intermediates_;
    removed_.clear();
    return true;
  }

  void check_size() {
    draft_.place_buffers();
    const bool fused = candidate_.nodes.size() > 1;
    if (fused && draft_.scratch_bytes > target_.own_bytes())
      refusal_ = Refusal{RefusalReason::scratch_too_large,
                         fmt::format("{} bytes of intermediates per worker", draft_.scratch_bytes)};
    if (fused && too_serial())
      refusal_ = Refusal{RefusalReason::redundant_work, "only one slice computes each element once"};
  }

  const Graph& graph_;
  const Candidate& candidate_;
  const Implementation& implementation_;
  const Device& target_;
  Draft draft_;
  size_t primary_ = 0;
  int first_output_ = 0;
  int names_ = 0;
  Domain primary_domain_;
  std::set<std::string> removed_;  // variables of the primary domain that are not in the grid
  std::set<ValueId> intermediates_;
  std::set<ValueId> fixed_intermediates_;  // those that are never computed where they are read
  std::set<ValueId>
      never_intermediate_;  // elementwise Values that are computed where they are read, however often
  std::map<ValueId, std::vector<std::vector<Index>>> reads_;
  std::optional<Refusal> refusal_;
};

bool is_loop_nest(const Node& node, Linear linear) {
  if (std::holds_alternative<WinogradAttrs>(node.attrs)) return false;
  switch (info(node.op).category) {
    case Category::elementwise:
    case Category::reduce:
    case Category::window:
    case Category::layout:
      return true;
    case Category::linear:
      return linear == Linear::summed && combine_function(node.op);
    case Category::constant:
    case Category::opaque:
    case Category::composite:
      return false;
  }
  return false;
}

}  // namespace

std::optional<Refusal> unsupported(const Graph& graph, const Candidate& candidate, Linear linear) {
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    if (!is_loop_nest(node, linear))
      return Refusal{RefusalReason::no_kernel_family, std::string(name(node.op)) + " is not a loop nest"};
    const bool computes = info(node.op).category != Category::layout && node.op != Op::Cast;
    for (ValueId value : node.inputs)
      if (computes && is_small_float(graph.value(value).type.dtype))
        return Refusal{RefusalReason::unsupported_type, korch::to_string(graph.value(value).type)};
    for (ValueId value : node.outputs) {
      const TensorType& type = graph.value(value).type;
      if (type.elements() == 0)
        return Refusal{RefusalReason::no_kernel_family, "no elements: " + korch::to_string(type)};
    }
  }
  return std::nullopt;
}

Result<ScheduledGraph> lower(const Graph& graph, const Candidate& candidate,
                             const Implementation& implementation, const Device& target) {
  return Lowering(graph, candidate, implementation, target).run();
}

}  // namespace korch::tile
