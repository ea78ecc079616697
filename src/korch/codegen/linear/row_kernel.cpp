#include "korch/codegen/linear/row_kernel.h"

#include "korch/base/ceil_div.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/epilogue_nests.h"
#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/narrow_columns.h"
#include "korch/codegen/linear/packing_phase.h"
#include "korch/codegen/linear/panel_nests.h"
#include "korch/codegen/linear/slice_axis.h"
#include "korch/ir/index_map.h"

namespace korch::linear {
namespace {

using tile::OuterLoop;
using tile::ScheduledNest;

constexpr double kCachedColumns = 0.125;  // share of L2 that the columns may take and still count as cached
constexpr double kTilesInL2 = 0.25;       // share of L2 for the unfinished tiles
constexpr int64_t kMatrixTileBytes = 4;   // of a column in a step
constexpr int64_t kTileRows = 16;         // tiles begin at multiples of so many rows

class RowKernelBuilder {
 public:
  explicit RowKernelBuilder(const RowKernel& kernel)
      : k_(kernel),
        builder_(*k_.workload, *k_.implementation, *k_.target),
        y_("y", k_.height, k_.slicing.heights_per_block),
        t_("t", k_.tiling.tiles(), k_.slicing.tiles_per_block),
        block_("block", k_.blocks.total(), k_.slicing.blocks_per_group),
        parts_(narrow() ? ReductionParts()
                        : reduction_parts(k_.taps_h, k_.taps_w, k_.steps(), most_steps_of_columns())) {
    if (parts_.depth_parts > 1 && k_.steps() / parts_.depth_parts % k_.step_multiple != 0)
      parts_.depth_parts = 1;
    if (bytes_of(*k_.workload, slice_tiles() * tile_elements()) > k_.target->own_bytes() * kTilesInL2)
      parts_ = {};
  }

  Result<tile::ScheduledGraph> build();

 private:
  const NarrowWeights* narrow() const { return k_.workload->narrow ? &*k_.workload->narrow : nullptr; }
  // Tiles of AMX read columns as fast as they multiply only from the nearest cache, where a part of them
  // stays while several tiles pass. 0: so many as others take.
  int64_t most_steps_of_columns() const {
    constexpr double kColumnsInL1 = 0.8;
    constexpr int64_t kLeastTiles = 4;
    if (!k_.matrix_tiles || slice_tiles() < kLeastTiles) return 0;
    return static_cast<int64_t>(static_cast<double>(k_.target->memory[0].bytes) * kColumnsInL1) /
           (kMatrixTileBytes * tile_pitch());
  }
  bool in_parts() const { return parts_.outer_taps > 0 || parts_.depth_parts > 1; }
  bool paneled() const { return k_.path != DataPath::direct; }
  // Rows before columns where the columns are few: data is read, and results are written, in the order in
  // which they lie. Else columns first: a block of them is used by all rows while it is in L2, and the next
  // one arrives.
  bool rows_first() const {
    return !in_parts() &&
           weight_bytes(*k_.workload, matrix_size()) <= k_.target->own_bytes() * kCachedColumns;
  }
  int64_t terms() const { return k_.taps_h * k_.taps_w * k_.padded_depth(); }
  int64_t matrix_size() const { return k_.blocks.lanes_in_all() * terms(); }
  int64_t slice_tiles() const { return k_.slicing.heights_per_block * k_.slicing.tiles_per_block; }
  int64_t tile_pitch() const { return std::max(k_.blocks.block_lanes(), k_.blocks.tail_lanes()); }
  int64_t tile_elements() const { return ceil_div(k_.tiling.rows, kTileRows) * kTileRows * tile_pitch(); }
  Index image() const { return Index::variable("image", k_.images); }
  Index group() const { return Index::variable("group", k_.groups); }

  // Loops over the parts of the reduction that the whole slice goes through one after the other.
  std::vector<OuterLoop> part_loops() const;
  Index row_in_panel(const RowZone& rows) const;
  int data(const RowZone& rows, const Index& r, const Index& kh, const Index& kw, const Index& channel);
  Index weight_offset() const;
  Index tile_offset(const RowZone& rows) const;
  ScheduledNest product(const RowZone& rows, const ColumnZone& columns, std::vector<OuterLoop> around);
  // Of narrow weights, run by run.
  void add_products(const RowZone& rows, const ColumnZone& columns, const std::vector<OuterLoop>& around,
                    std::vector<ScheduledNest>& nests);
  void finish(const RowZone& rows, const ColumnZone& columns, const std::vector<OuterLoop>& around,
              std::vector<ScheduledNest>& nests);
  void all_tiles_of(const ColumnZone& columns, const std::vector<OuterLoop>& around,
                    std::vector<ScheduledNest>& nests);
  tile::ScheduledPhase main_phase();

  const RowKernel& k_;
  KernelBuilder builder_;
  SliceAxis y_, t_, block_;
  ReductionParts parts_;
  PanelShape panel_;
  NarrowColumns narrow_columns_;
  int weight_ = -1, tile_ = -1, panel_buffer_ = -1;
};

std::vector<OuterLoop> RowKernelBuilder::part_loops() const {
  std::vector<OuterLoop> loops;
  if (parts_.outer_taps >= 1 && k_.taps_h > 1) loops.push_back({{"kh", k_.taps_h}, 0, k_.taps_h});
  if (parts_.outer_taps >= 2 && k_.taps_w > 1) loops.push_back({{"kw", k_.taps_w}, 0, k_.taps_w});
  if (parts_.depth_parts > 1) loops.push_back({{"kd", parts_.depth_parts}, 0, parts_.depth_parts});
  return loops;
}

// From the slice's first tile to tile t of the zone.
Index RowKernelBuilder::row_in_panel(const RowZone& rows) const {
  const Index local = t_.local(rows.low, rows.high), t = t_.at(rows.low, rows.high);
  if (rows.offset == 0) return local * rows.rows;
  return local * rows.rows + (Index(rows.offset) - tile::clamp(t - local, 0, rows.offset));
}

int RowKernelBuilder::data(const RowZone& rows, const Index& r, const Index& kh, const Index& kw,
                           const Index& channel) {
  if (paneled())
    return builder_.load(
        panel_buffer_, (y_.local() * k_.stride_h + kh * k_.dilation_h) * panel_.row_step +
                           ((row_in_panel(rows) + r) * k_.stride_w + kw * k_.dilation_w) * panel_.pixel_step +
                           channel * panel_.channel_step);
  const Index x = rows.first_row(t_.at(rows.low, rows.high)) + r;
  return builder_.read(k_.workload->data,
                       k_.data_coords(image(), y_.at() * k_.stride_h + kh * k_.dilation_h,
                                      x * k_.stride_w + kw * k_.dilation_w, group() * k_.depth + channel));
}

// Of the slice's matrix.
Index RowKernelBuilder::weight_offset() const {
  if (k_.weight_matrix) return k_.weight_matrix(image()) * matrix_size();
  return k_.workload->weight_constant ? group() * matrix_size() : Index(0);
}

Index RowKernelBuilder::tile_offset(const RowZone& rows) const {
  if (!in_parts()) return 0;
  return (y_.local() * t_.chunk() + t_.local(rows.low, rows.high)) * tile_elements();
}

ScheduledNest RowKernelBuilder::product(const RowZone& rows, const ColumnZone& columns,
                                        std::vector<OuterLoop> around) {
  const int64_t lanes = total_lanes(columns.lanes), part_steps = k_.steps() / parts_.depth_parts,
                step_channels = k_.step_channels();
  const Index r = Index::variable("r", rows.rows), c = Index::variable("c", lanes);
  const Index kh = Index::variable("kh", k_.taps_h), kw = Index::variable("kw", k_.taps_w),
              k = Index::variable("k", part_steps), term = Index::variable("term", step_channels);
  std::vector<tile::LoopVariable> reduced;
  if (k_.taps_h > 1 && parts_.outer_taps < 1) reduced.push_back({"kh", k_.taps_h});
  if (k_.taps_w > 1 && parts_.outer_taps < 2) reduced.push_back({"kw", k_.taps_w});
  reduced.push_back({"k", part_steps});
  if (step_channels > 1) reduced.push_back({"term", step_channels});
  const Index step = Index::variable("kd", parts_.depth_parts) * part_steps + k;
  const Index column = weight_offset() +
                       block_.at(columns.low, columns.high) * (terms() * k_.blocks.block_lanes()) +
                       (((kh * k_.taps_w + kw) * k_.steps() + step) * lanes + c) * step_channels + term;
  const int row = data(rows, r, kh, kw, step * step_channels + term);
  ScheduledNest nest =
      builder_.product_nest(std::move(around), {{"r", rows.rows}, {"c", lanes}}, std::move(reduced), row,
                            builder_.load(weight_, column), tile_, tile_offset(rows) + r * tile_pitch() + c);
  for (const OuterLoop& part : part_loops())
    nest.anew.require(Index::variable(part.variable.name, part.variable.extent), 0, 0);
  // Rows one after the other in memory, from beyond L2.
  if (!paneled() && rows_first() && nest.reduced.size() == 1) {
    const Index& at = builder_.pool()[row].coords[0];
    nest.schedule.prefetch_rows = at.stride("k") == 1 && at.stride("r") == k_.depth &&
                                  type_of(*k_.workload, k_.workload->data).bytes() > k_.target->own_bytes();
  }
  nest.schedule.prefetch_columns = !rows_first();
  return nest;
}

void RowKernelBuilder::add_products(const RowZone& rows, const ColumnZone& columns,
                                    const std::vector<OuterLoop>& around, std::vector<ScheduledNest>& nests) {
  if (narrow() == nullptr) return nests.push_back(product(rows, columns, around));
  const Index r = Index::variable("r", rows.rows), zero = 0;
  for (const NarrowRun& run : narrow_runs(*narrow(), k_.depth)) {
    const NarrowTerms terms(*narrow(), run, k_.depth, k_.blocks, block_.at(columns.low, columns.high),
                            total_lanes(columns.lanes));
    ScheduledNest nest =
        builder_.product_nest(around, {{"r", rows.rows}, {"c", total_lanes(columns.lanes)}}, terms.reduced,
                              data(rows, r, zero, zero, terms.term), narrow_columns_.load(builder_, terms),
                              tile_, tile_offset(rows) + r * tile_pitch() + terms.column);
    if (!run.is_first) nest.anew.require(0, 1, 1);  // never
    nests.push_back(std::move(nest));
  }
}

void RowKernelBuilder::finish(const RowZone& rows, const ColumnZone& columns,
                              const std::vector<OuterLoop>& around, std::vector<ScheduledNest>& nests) {
  FinishedTile tile;
  tile.rows = rows.rows;
  tile.lanes = columns.lanes;
  tile.valid_columns = columns.valid;
  tile.column = group() * k_.columns + block_.at(columns.low, columns.high) * k_.blocks.block_lanes();
  tile.coords = [&](const Index& r, const Index& column) {
    return k_.result_coords(image(), y_.at(), rows.first_row(t_.at(rows.low, rows.high)) + r, column);
  };
  tile.buffer = tile_;
  tile.offset = tile_offset(rows);
  tile.row_step = tile_pitch();
  tile.along_rows = k_.transposed_store;
  add_epilogue(builder_, tile, around, nests);
}

// All tiles of a slice against one column block, part by part.
void RowKernelBuilder::all_tiles_of(const ColumnZone& columns, const std::vector<OuterLoop>& around,
                                    std::vector<ScheduledNest>& nests) {
  const auto over_tiles = [&](std::vector<OuterLoop> loops, bool multiplies, bool finishes) {
    y_.loop(loops);
    for (const RowZone& rows : row_zones(k_.tiling)) {
      std::vector<OuterLoop> inner = loops;
      t_.loop(inner, rows.low, rows.high);
      if (multiplies) add_products(rows, columns, inner, nests);
      if (finishes) finish(rows, columns, inner, nests);
    }
  };
  if (!in_parts()) return over_tiles(around, true, true);
  std::vector<OuterLoop> parts = around;
  for (const OuterLoop& part : part_loops()) parts.push_back(part);
  over_tiles(parts, true, false);
  over_tiles(around, false, true);
}

tile::ScheduledPhase RowKernelBuilder::main_phase() {
  tile::ScheduledPhase phase;
  if (k_.slicing.columns_outer) block_.deal_out(phase);
  if (k_.images > 1) phase.grid.push_back({{"image", k_.images}, 1});
  if (k_.groups > 1) phase.grid.push_back({{"group", k_.groups}, 1});
  y_.deal_out(phase);
  t_.deal_out(phase);
  if (!k_.slicing.columns_outer) block_.deal_out(phase);
  if (paneled())
    phase.nests.push_back(
        panel_nest(builder_, k_, panel_, panel_buffer_, y_.first(), first_row(k_.tiling, t_.first())));
  if (!rows_first()) {
    for (const ColumnZone& columns : column_zones(k_.blocks)) {
      std::vector<OuterLoop> around;
      block_.loop(around, columns.low, columns.high);
      all_tiles_of(columns, around, phase.nests);
    }
    return phase;
  }
  for (const RowZone& rows : row_zones(k_.tiling))
    for (const ColumnZone& columns : column_zones(k_.blocks)) {
      std::vector<OuterLoop> around;
      y_.loop(around);
      t_.loop(around, rows.low, rows.high);
      block_.loop(around, columns.low, columns.high);
      add_products(rows, columns, around, phase.nests);
      finish(rows, columns, around, phase.nests);
    }
  return phase;
}

Result<tile::ScheduledGraph> RowKernelBuilder::build() {
  const LinearWorkload& p = *k_.workload;
  if (const std::string obstacle = builder_.obstacle(); !obstacle.empty())
    return Refusal{RefusalReason::no_kernel_family, obstacle};
  if (p.narrow) {
    narrow_columns_ = pack_narrow(builder_, k_);
  } else if (p.weight_constant) {
    weight_ = builder_.buffer_of(p.weight);
    builder_.pack(p.weight, k_.weight_packing,
                  std::max(k_.weight_matrices, k_.weight_matrix ? 1 : k_.groups) * matrix_size());
  } else {
    const auto element = [this, &p](const Index& matrix, const Index& k, const Index& column,
                                    const tile::Replacements& places) {
      return builder_.compose(p.weight, k_.weight_coords(matrix, k, column), -1, places);
    };
    const PackedOperand columns{k_.weight_matrices, k_.depth,        k_.blocks, element,
                                k_.step_channels(), k_.step_multiple};
    weight_ =
        builder_.add_temporary(columns.matrices * columns.matrix_elements(), type_of(p, p.weight).dtype);
    builder_.add_phase(packing_phase(builder_, columns, weight_));
  }
  tile_ = builder_.add_scratch(tile_elements() * (in_parts() ? slice_tiles() : 1));
  if (paneled()) {
    panel_ = panel_shape(k_);
    panel_buffer_ = builder_.add_scratch(panel_.elements, operand_type(p));
  }
  builder_.add_phase(main_phase());
  return builder_.finish();
}

int contiguous_of_read(const LinearWorkload& workload, const Implementation& implementation, ValueId value) {
  const Shape& shape = type_of(workload, value).shape;
  const Layout layout = layout_of(workload, implementation, value);
  if (!layout.has_strides()) return -1;
  const Shape steps = strides(shape, layout);
  for (size_t i = 0; i < shape.size(); ++i)
    if (steps[i] == 1 && shape[i] > 1) return static_cast<int>(i);
  return static_cast<int>(shape.size()) - 1;
}

// Of bytes, of what many steps there are a multiple: of as many as an instruction adds, or of one where all
// taps together are such a multiple; 0: of too few.
int64_t matrix_tile_steps(int64_t steps, int64_t taps) {
  constexpr int64_t kHalf = kMatrixTileSteps / 2;
  if (steps >= kHalf && matrix_steps(steps) >= kHalf) return matrix_steps(steps);
  if (matrix_steps(steps * taps) >= std::min(kHalf, steps * taps)) return 1;
  const int64_t instructions = ceil_div(steps, kMatrixTileSteps);
  return matrix_steps(ceil_div(steps, instructions));
}

}  // namespace

int contiguous_axis(const LinearWorkload& workload, const Implementation& implementation, ValueId value) {
  const Graph& graph = *workload.graph;
  const Node* producer = nullptr;
  for (NodeId id : workload.candidate->nodes)
    if (graph.node(id).outputs[0] == value) producer = &graph.node(id);
  if (producer == nullptr) return contiguous_of_read(workload, implementation, value);
  if (producer->op == Op::Transpose) {
    const int inner = contiguous_axis(workload, implementation, producer->inputs[0]);
    return inner < 0 ? -1 : index_maps(graph, *producer).operands[0].coordinates[inner].axis;
  }
  if (producer->op == Op::Reshape) {
    const int inner = contiguous_axis(workload, implementation, producer->inputs[0]);
    return inner < 0 ? -1
                     : reshaped_axis(type_of(workload, producer->inputs[0]).shape,
                                     type_of(workload, value).shape, inner);
  }
  for (ValueId input : producer->inputs)
    if (type_of(workload, input).shape == type_of(workload, value).shape)
      return contiguous_axis(workload, implementation, input);
  return -1;
}

bool in_matrix_tiles(const LinearWorkload& workload, const Device& target, int64_t depth, int64_t taps) {
  if (!has_matrix_tiles(target)) return false;
  if (multiplies_bytes(workload))
    return matrix_tile_steps(ceil_div(depth, terms_together(workload)), taps) > 0;
  constexpr int64_t kTerms = 2 * kMatrixTileSteps;
  return multiplies_pairs_of_bfloat16(workload) && ceil_div(depth, kTerms) * kTerms <= 2 * depth;
}

int64_t flops_at_once(const LinearWorkload& workload, const Device& target, int64_t depth, int64_t taps) {
  constexpr int64_t kPairsInTiles = 16, kBytesInTiles = 32;
  if (!in_matrix_tiles(workload, target, depth, taps)) return terms_together(workload);
  return multiplies_bytes(workload) ? kBytesInTiles : kPairsInTiles;
}

int64_t step_multiple(const LinearWorkload& workload, const TileShape& tile, const Device& target,
                      int64_t depth, int64_t taps) {
  if (!in_matrix_tiles(workload, target, depth, taps) || !fits_matrix_tiles(tile.rows, tile.vectors))
    return 1;
  if (!multiplies_bytes(workload)) return kMatrixTileSteps;
  return matrix_tile_steps(ceil_div(depth, terms_together(workload)), taps);
}

Result<tile::ScheduledGraph> build_row_kernel(const RowKernel& kernel) {
  return RowKernelBuilder(kernel).build();
}

}  // namespace korch::linear
