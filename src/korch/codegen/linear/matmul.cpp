// Matrix products as register tiles over rows: matmul.

#include <algorithm>

#include "korch/codegen/linear/batch_coords.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/narrow_columns.h"
#include "korch/codegen/linear/row_kernel.h"

namespace korch {

using namespace linear;

namespace {

Result<LinearWorkload> matmul_workload(const Graph& graph, const Candidate& candidate, const Device& target) {
  Result<LinearWorkload> workload = analyze(graph, candidate);
  if (!workload.ok()) return workload;
  if (!workload.value().matmul) return Refusal{RefusalReason::no_kernel_family, "not a matmul"};
  if (!linear::has_register_tiles(workload.value(), target))
    return Refusal{RefusalReason::unsupported_type,
                   "matmul of types that this target has no register tiles for"};
  return workload;
}

// Whether runs tell extents of the network: they leave out slices of what lies beyond. Products of narrow
// weights are sliced as where all extents are known.
bool is_open(const LinearWorkload& p) {
  return !p.narrow && !p.graph->open_dimensions().empty();
}

// Whether the rows of all batches form one matrix: one column operand for all, and the first operand not
// broadcast. Where runs leave rows out, those of each batch have tiles of their own, if they fill some.
bool one_matrix(const LinearWorkload& p) {
  constexpr int64_t kRowsApart = 16;
  if (is_open(p) && p.matmul->m >= kRowsApart) return false;
  return matrices_of(type_of(p, p.weight).shape) == 1 &&
         matrices_of(type_of(p, p.data).shape) == p.matmul->batches && p.matmul->batches > 1;
}

std::vector<int> row_axes(const Shape& shape) {
  std::vector<int> axes;
  for (size_t i = 0; i + 1 < shape.size(); ++i) axes.push_back(static_cast<int>(i));
  return axes;
}

// Row `row` of all matrices together, where the rows are walked as one axis.
Coords merged_row(const Shape& shape, const Index& row, const Index& column) {
  Coords coords(shape.size(), Index(0));
  coords[merged_axis(shape, row_axes(shape))] = row;
  coords.back() = column;
  return coords;
}

bool walks_flat(const LinearWorkload& p, const Implementation& implementation, ValueId operand) {
  if (p.matmul->transpose_a) return false;
  return operand_merges(p, implementation, operand, row_axes(type_of(p, operand).shape));
}

DataPath data_path(const LinearWorkload& p, const Implementation& implementation, bool flat,
                   int64_t step_multiple) {
  const int rank = static_cast<int>(type_of(p, p.data).shape.size());
  const int k_axis = p.matmul->transpose_a ? rank - 2 : rank - 1;
  const int contiguous = contiguous_axis(p, implementation, p.data);
  const bool along_k = contiguous == k_axis,
             fused = p.data_fused || (flat && !walks_flat(p, implementation, p.data));
  const int64_t together = terms_together(p) * step_multiple;
  if (together > 1)
    return fused || !along_k || p.matmul->k % together != 0 ? DataPath::panel_channels : DataPath::direct;
  if (fused)
    return along_k || contiguous != (k_axis == rank - 1 ? rank - 2 : rank - 1) ? DataPath::panel_channels
                                                                               : DataPath::panel_pixels;
  return DataPath::direct;
}

void set_rows(RowKernel& k, const LinearWorkload& p, const Implementation& implementation) {
  const MatMulShape& s = *p.matmul;
  const bool flat = one_matrix(p);
  k.images = flat ? 1 : s.batches;
  k.width = flat ? s.batches * s.m : s.m;
  k.in_width = k.width;
  const Shape result = type_of(p, p.value).shape, data = type_of(p, p.data).shape;
  auto batch_and_row = [&p, flat](const Index& image, const Index& x) {
    return flat ? std::pair<Index, Index>{tile::floor_div(x, p.matmul->m), tile::floor_mod(x, p.matmul->m)}
                : std::pair<Index, Index>{image, x};
  };
  const bool result_walks = flat && epilogue_merges(p, implementation, row_axes(result));
  k.result_coords = [=](const Index& image, const Index&, const Index& x, const Index& column) {
    if (result_walks) return merged_row(result, x, column);
    const auto [batch, row] = batch_and_row(image, x);
    return with_matrix(unflatten(result, batch), row, column);
  };
  const bool data_walks = flat && walks_flat(p, implementation, p.data);
  k.data_coords = [=, &p](const Index& image, const Index&, const Index& x, const Index& term) {
    if (data_walks) return merged_row(data, x, term);
    const auto [batch, row] = batch_and_row(image, x);
    const Coords own = operand_batch(p.matmul->batch, data, batch);
    return p.matmul->transpose_a ? with_matrix(own, term, row) : with_matrix(own, row, term);
  };
}

void set_columns(RowKernel& k, const LinearWorkload& p) {
  const MatMulShape& s = *p.matmul;
  const Shape weight = type_of(p, p.weight).shape;
  k.columns = s.n;
  k.depth = s.k;
  k.weight_matrices = matrices_of(weight);
  if (k.weight_matrices > 1)
    k.weight_matrix = [=, &p](const Index& image) {
      return flatten(weight, operand_batch(p.matmul->batch, weight, image));
    };
  const bool nibbles = p.narrow && p.narrow->bits == 4;
  k.weight_packing = {nibbles                 ? "nibbles"
                      : terms_together(p) > 1 ? "column_groups"
                                              : "columns",
                      {s.transpose_b ? 2 : 1, 1}};
  k.weight_coords = [=, &p](const Index& matrix, const Index& term, const Index& column) {
    const Coords batch = unflatten(weight, matrix);
    return p.matmul->transpose_b ? with_matrix(batch, column, term) : with_matrix(batch, term, column);
  };
}

}  // namespace

RowKernel linear::matmul_rows(const LinearWorkload& p, const Implementation& implementation,
                              const Device& target) {
  RowKernel k;
  k.workload = &p;
  k.implementation = &implementation;
  k.target = &target;
  set_rows(k, p, implementation);
  set_columns(k, p);
  return k;
}

namespace {

SlicingRequest slicing_request(const RowKernel& k, const RowSchedule& schedule) {
  const LinearWorkload& p = *k.workload;
  SlicingRequest request;
  request.images = k.images;
  request.tiles = k.tiling.tiles();
  request.column_blocks = k.blocks.total();
  request.flops = p.flops;
  request.panel_row_bytes = operand_bytes(p, k.width * k.depth);
  request.weight_bytes = weight_bytes(p, k.depth * k.columns);
  request.bytes = k.implementation->bytes;
  request.row_blocks = schedule.row_blocks;
  return request;
}

RowKernel describe(const LinearWorkload& p, const Implementation& implementation, const Device& target) {
  RowKernel k = matmul_rows(p, implementation, target);
  const MatMulShape& s = *p.matmul;
  const auto& schedule = std::get<RowSchedule>(implementation.schedule);
  const TileShape tile = schedule.tile;
  k.step_multiple = step_multiple(p, tile, target, s.k);
  k.matrix_tiles = in_matrix_tiles(p, target, s.k);
  k.path = data_path(p, implementation, one_matrix(p), k.step_multiple);
  k.blocks = split_columns(k.columns, tile.vectors, target.lanes());
  k.weight_packing.params.insert(k.weight_packing.params.end(),
                                 {tile.vectors * target.lanes(), k.blocks.tail_lanes()});
  if (k.step_multiple > 1) k.weight_packing.params.push_back(k.step_multiple * k.step_channels());
  k.tiling = split_rows(k.width, tile.rows);
  k.transposed_store = stores_rows(p, implementation);
  k.slicing = choose_slicing(slicing_request(k, schedule), target);
  return k;
}

// Best first. Plans for smaller extents of one network share its packed weights: their tiles are as wide as
// those of many rows, or, of narrow weights, as those of one.
std::vector<TileShape> tiles(const LinearWorkload& p, const Device& target) {
  const MatMulShape& s = *p.matmul;
  const int64_t width = one_matrix(p) ? s.batches * s.m : s.m, usual = p.narrow ? 1 : 256;
  const auto ranked = [&](int64_t rows) {
    if (p.narrow) return rank_narrow_tiles(rows, s.n, target);
    if (in_matrix_tiles(p, target, s.k)) return rank_matrix_tiles(rows, s.n);
    return rank_tiles(rows, s.n, ceil_div(s.k, terms_together(p)),
                      !s.transpose_a && rows_conflict(operand_bytes(p, s.k)), target);
  };
  std::vector<TileShape> shapes = ranked(width);
  if (!p.graph->open_dimensions().empty() && p.weight_constant)
    std::erase_if(shapes, [vectors = ranked(usual).front().vectors](const TileShape& shape) {
      return shape.vectors != vectors;
    });
  return shapes;
}

// Whether a recurrence goes through the rows, step after step: it begins when the first ones are there.
bool rows_are_steps(const Graph& graph, ValueId value) {
  const std::vector<NodeId>& users = graph.value(value).users;
  return std::any_of(users.begin(), users.end(), [&](NodeId user) {
    const Node& node = graph.node(user);
    if (node.op == Op::Reshape) return rows_are_steps(graph, node.outputs[0]);
    return node.op == Op::Recurrence && node.inputs[0] == value;
  });
}

// Slices of few rows each, where a run leaves out those beyond its extents; and where the columns stay close
// while each of them goes through all.
int64_t row_blocks(const Graph& graph, const Candidate& candidate, const LinearWorkload& p,
                   const TileShape& tile, const Device& target) {
  constexpr double kColumnsInL2 = 0.25;  // share
  constexpr int64_t kBlocksPerWorker = 8;
  constexpr int64_t kOpenRows = 16, kOpenTiles = 2;  // of a slice, at least
  if (target.is_gpu()) return 0;
  const MatMulShape& s = *p.matmul;
  const int64_t tiles = split_rows(one_matrix(p) ? s.batches * s.m : s.m, tile.rows).tiles();
  if (is_open(p)) {
    const int64_t blocks = ceil_div(tiles, std::max(kOpenTiles, kOpenRows / tile.rows));
    return blocks > 1 ? blocks : 0;
  }
  if (target.workers == 1) return 0;
  const bool steps = std::any_of(candidate.outputs.begin(), candidate.outputs.end(),
                                 [&](ValueId output) { return rows_are_steps(graph, output); });
  if (!steps || operand_bytes(p, s.k * s.n) > kColumnsInL2 * static_cast<double>(target.own_bytes()))
    return 0;
  return std::min(tiles, target.workers * kBlocksPerWorker);
}

}  // namespace

void list_matmul(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<LinearWorkload> workload = matmul_workload(graph, candidate, target);
  if (!workload.ok()) {
    refused.push_back(workload.refusal());
    return;
  }
  const LinearWorkload& p = workload.value();
  const TileShape shape = tiles(p, target).front();
  const int64_t blocks = row_blocks(graph, candidate, p, shape, target);
  for (const auto& [data, result] :
       {std::pair{Order::row_major, Order::row_major}, std::pair{Order::row_major, Order::channels_last},
        std::pair{Order::channels_last, Order::row_major}}) {
    Implementation implementation = with_layouts(p, "matmul", data, result);
    implementation.schedule = RowSchedule{shape, blocks};
    implementation.flops_at_once = flops_at_once(p, target, p.matmul->k);
    add_once(implementation, found);
  }
}

void reschedule_matmul(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                       const Device& target, std::vector<Schedule>& found) {
  const Result<LinearWorkload> workload = matmul_workload(graph, candidate, target);
  if (!workload.ok()) return;
  const auto request_of = [&](const RowSchedule& schedule) {
    Implementation other = implementation;
    other.schedule = schedule;
    return slicing_request(describe(workload.value(), other, target), schedule);
  };
  other_row_schedules(std::get<RowSchedule>(implementation.schedule), tiles(workload.value(), target),
                      request_of, target, found);
}

Result<tile::ScheduledGraph> build_matmul(const Graph& graph, const Candidate& candidate,
                                          const Implementation& implementation, const Device& target) {
  const Result<LinearWorkload> workload = matmul_workload(graph, candidate, target);
  if (!workload.ok()) return workload.refusal();
  return build_row_kernel(describe(workload.value(), implementation, target));
}

}  // namespace korch
