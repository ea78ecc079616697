// Matrix products and convolutions on a GPU: staged. A slice is a tile of rows by columns. The reduction,
// taps by channels, goes k tile by k tile. For each the terms of the tile's rows, computed by the prologue
// and zero padded, and those of its columns are staged in scratch. The results stay in registers until the
// epilogue takes them. Where there are few tiles the channels are cut into parts, each with slices of its
// own, and a second phase adds up the parts' sums, always in the same order.
#include "korch/base/ceil_div.h"
#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/operand_bits.h"
#include "korch/codegen/linear/row_kernel.h"
#include "korch/codegen/linear/slice_axis.h"

namespace korch {

using namespace linear;

namespace {

constexpr int64_t kKTile = 16;
constexpr int64_t kSmallTile = 32;  // of matrix units alone
constexpr int64_t kMostParts = 8, kLeastTilesOfPart = 4;

// The terms of a k tile for the rows or columns of a tile, in scratch: a line of rows or columns for each
// term, or a line of terms for each row or column, where their source has neighbours along the terms and
// matrix units multiply. Between two lines is room, so that what a warp reads at once lies in different
// banks: threads read neighbours along a line of rows, matrix units a square of 8 rows by 4 terms.
struct Panel {
  int buffer = -1;
  bool along_terms = false;
  int64_t lines = 0, pitch = 0;  // elements from one line to the next
  int64_t elements() const { return lines * pitch; }
};

Panel panel_of(int64_t terms, int64_t across, bool source_along_terms,
               const std::optional<ProductType>& matrix_units) {
  Panel panel;
  panel.along_terms = source_along_terms && matrix_units;
  constexpr int64_t kBanks = 8;  // of 16 bytes
  if (panel.along_terms)
    panel.lines = across, panel.pitch = ceil_div(terms + 4, kBanks) * kBanks - 4;
  else
    panel.lines = terms, panel.pitch = across + (matrix_units ? 8 : 4);
  return panel;
}

Result<LinearWorkload> staged_workload(const Graph& graph, const Candidate& candidate) {
  Result<LinearWorkload> workload = analyze(graph, candidate);
  if (!workload.ok()) return workload;
  const LinearWorkload& p = workload.value();
  const auto refuse = [](const char* why) { return Refusal{RefusalReason::no_kernel_family, why}; };
  const bool is_conv = p.conv && graph.node(p.node).op == Op::Conv;
  if (!p.matmul && !is_conv) return refuse("neither a matmul nor a convolution of one or two axes");
  if (p.window != kNoId) return refuse("a depthwise window before a staged convolution");
  if (is_conv && p.conv->group > 1 && p.conv->in_channels == p.conv->group)
    return refuse("depthwise convolution in staged");
  if (!is_float32(p)) return Refusal{RefusalReason::unsupported_type, "product of a type other than float32"};
  // Zeros of the padding are multiplied here, and make a NaN of an infinite weight.
  if (is_conv && p.conv->padded() && !p.weight_constant)
    return refuse("a padded convolution by weights that are computed");
  return workload;
}

RowKernel rows_of(const LinearWorkload& p, const Implementation& implementation, const Device& target) {
  return p.matmul ? matmul_rows(p, implementation, target) : conv_rows(p, implementation, target);
}

// One axis of the results cut into tiles: whole ones, and a shorter last one.
struct TiledAxis {
  SliceAxis tiles;
  int64_t extent = 1, size = 1;
  TiledAxis(const char* name, int64_t extent, int64_t size)
      : tiles(name, ceil_div(extent, size), 1), extent(extent), size(size) {}

  struct Zone {
    int64_t low, high;  // tiles
    int64_t size;       // of each
  };
  std::vector<Zone> zones() const {
    std::vector<Zone> result;
    const int64_t whole = extent / size;
    if (whole > 0) result.push_back({0, whole, size});
    if (extent % size > 0) result.push_back({whole, whole + 1, extent % size});
    return result;
  }
  // The value number `within` of the slice's tile.
  Index at(const Zone& zone, const char* within) const {
    return tiles.at(zone.low, zone.high) * size + Index::variable(within, zone.size);
  }
  Index at(const char* within) const { return tiles.at() * size + Index::variable(within, size); }
};

// How many of a tile's `rows` lie along y, where rows are pixels: so that the fewest are none.
int64_t tile_height(int64_t height, int64_t width, int64_t rows) {
  int64_t best = 1, fewest = 0;
  for (int64_t high = 1; high <= rows; high *= 2) {
    const int64_t wide = rows / high, all = ceil_div(height, high) * high * ceil_div(width, wide) * wide;
    if (high == 1 || all < fewest) {
      best = high;
      fewest = all;
    }
  }
  return best;
}

class StagedBuilder {
 public:
  explicit StagedBuilder(const RowKernel& kernel)
      : k_(kernel),
        s_(std::get<StagedSchedule>(kernel.implementation->schedule)),
        builder_(*kernel.workload, *kernel.implementation, *kernel.target),
        y_("ty", k_.height, tile_height(k_.height, k_.width, s_.rows)),
        x_("tx", k_.width, s_.rows / y_.size),
        column_("block", k_.columns, s_.columns) {
    // Few channels: as many taps in a k tile as fit.
    const int64_t most = s_.k_tile + s_.k_tile * 3 / 4;
    channels_ = ceil_div(k_.depth, ceil_div(k_.depth, s_.k_tile));
    if (channels_ == k_.depth && k_.taps_w * channels_ <= most) taps_w_ = k_.taps_w;
    if (taps_w_ == k_.taps_w && channels_ == k_.depth && k_.taps_h * taps_w_ * channels_ <= most)
      taps_h_ = k_.taps_h;
  }
  Result<tile::ScheduledGraph> build();

 private:
  Index image() const { return Index::variable("image", k_.images); }
  Index group() const { return Index::variable("group", k_.groups); }
  Index matrix() const { return k_.weight_matrix ? k_.weight_matrix(image()) : group(); }
  Index tap_h() const { return Index::variable("kh", k_.taps_h); }
  Index tap_w() const { return Index::variable("kw", k_.taps_w); }
  Index channel() const {
    Index k_tile = Index::variable("k_tile", k_tiles_of_part());
    if (s_.parts > 1) k_tile = Index::variable("part", s_.parts) * k_tiles_of_part() + k_tile;
    return k_tile * channels_ + Index::variable("k", channels_);
  }
  int64_t k_tiles_of_part() const { return ceil_div(ceil_div(k_.depth, channels_), s_.parts); }
  // Whether a column's terms lie beside each other in memory.
  bool weights_along_terms() const {
    const LinearWorkload& p = *k_.workload;
    return !p.weight_constant && (!p.matmul || p.matmul->transpose_b);
  }
  int64_t panel_terms() const { return taps_h_ * taps_w_ * channels_; }
  Index row_in_tile() const {
    return Index::variable("ry", y_.size) * x_.size + Index::variable("rx", x_.size);
  }
  // Of a panel's element, for a row or column of the tile.
  Index panel_offset(const Panel& panel, const Index& within) const {
    const Index kh = taps_h_ > 1 ? tap_h() : Index(0), kw = taps_w_ > 1 ? tap_w() : Index(0);
    const Index term = (kh * taps_w_ + kw) * channels_ + Index::variable("k", channels_);
    return panel.along_terms ? within * panel.pitch + term : term * panel.pitch + within;
  }

  std::vector<tile::OuterLoop> k_tiles() const;
  std::vector<tile::LoopVariable> terms() const;
  // Where the placeholder `channel` stands, and that there is one.
  int padded(tile::Condition inside, int value) {
    inside.require(channel(), 0, k_.depth - 1);
    return builder_.padded(inside, value);
  }
  int row_element();
  int column_element();
  tile::ScheduledNest fill(const Panel& panel, std::vector<tile::LoopVariable> across, bool along_terms,
                           const Index& within, int value);
  tile::ScheduledNest product();
  Index sum_offset(const Index& part, const Index& y, const Index& x, const Index& column) const;
  tile::ScheduledNest epilogue(const TiledAxis::Zone& y, const TiledAxis::Zone& x,
                               const TiledAxis::Zone& columns);
  void add_nests(tile::ScheduledPhase& phase);
  tile::ScheduledPhase sum_of_parts();

  const RowKernel& k_;
  const StagedSchedule s_;
  KernelBuilder builder_;
  TiledAxis y_, x_, column_;
  int64_t taps_h_ = 1, taps_w_ = 1, channels_ = 1;  // of a k tile
  bool data_along_terms_ = false;                   // its neighbours in memory
  Panel rows_, columns_;
  int tile_ = -1, sums_ = -1;  // sums_: of parts, a temporary
};

std::vector<tile::OuterLoop> StagedBuilder::k_tiles() const {
  std::vector<tile::OuterLoop> loops;
  const auto add = [&](const char* name, int64_t extent) {
    if (extent > 1) loops.push_back({{name, extent}, 0, extent});
  };
  if (taps_h_ == 1) add("kh", k_.taps_h);
  if (taps_w_ == 1) add("kw", k_.taps_w);
  add("k_tile", k_tiles_of_part());
  return loops;
}

// Within a k tile.
std::vector<tile::LoopVariable> StagedBuilder::terms() const {
  std::vector<tile::LoopVariable> loops;
  if (taps_h_ > 1) loops.push_back({"kh", taps_h_});
  if (taps_w_ > 1) loops.push_back({"kw", taps_w_});
  loops.push_back({"k", channels_});
  return loops;
}

int StagedBuilder::row_element() {
  const Index iy = y_.at("ry") * k_.stride_h - k_.pad_top + tap_h() * k_.dilation_h,
              ix = x_.at("rx") * k_.stride_w - k_.pad_left + tap_w() * k_.dilation_w;
  tile::Condition inside;
  inside.require(iy, 0, k_.in_height - 1).require(ix, 0, k_.in_width - 1);
  const Coords coords =
      k_.data_coords(image(), Index::variable("iy", k_.in_height), Index::variable("ix", k_.in_width),
                     group() * k_.depth + Index::variable("channel", k_.depth));
  return padded(inside, builder_.compose(k_.workload->data, coords, -1,
                                         {{"iy", iy}, {"ix", ix}, {"channel", channel()}}));
}

// Constant columns are packed in blocks as wide as a tile.
int StagedBuilder::column_element() {
  const LinearWorkload& p = *k_.workload;
  const Index tap = tap_h() * k_.taps_w + tap_w();
  if (!p.weight_constant) {
    tile::Condition inside;
    inside.require(column_.at("c"), 0, k_.columns - 1);
    const Coords coords = k_.weight_coords(matrix(), tap * k_.depth + Index::variable("channel", k_.depth),
                                           Index::variable("column", k_.columns));
    return padded(inside, builder_.compose(p.weight, coords, -1,
                                           {{"column", column_.at("c")}, {"channel", channel()}}));
  }
  const int64_t matrices = k_.weight_matrix ? k_.weight_matrices : k_.groups, tiles = column_.tiles.extent(),
                block = k_.taps_h * k_.taps_w * k_.depth * s_.columns;
  Packing packing = k_.weight_packing;
  packing.params.insert(packing.params.end(), {s_.columns, s_.columns});
  builder_.pack(p.weight, packing, matrices * tiles * block);
  return padded({},
                builder_.load(builder_.buffer_of(p.weight), (matrix() * tiles + column_.tiles.at()) * block +
                                                                (tap * k_.depth + channel()) * s_.columns +
                                                                Index::variable("c", s_.columns)));
}

// Neighbouring threads fill elements of neighbouring rows or columns, or of neighbouring channels.
tile::ScheduledNest StagedBuilder::fill(const Panel& panel, std::vector<tile::LoopVariable> across,
                                        bool along_terms, const Index& within, int value) {
  tile::ScheduledNest nest;
  nest.around = k_tiles();
  nest.loops = terms();
  const std::string fast = along_terms ? "k" : across.back().name;
  nest.loops.insert(nest.loops.end(), across.begin(), across.end());
  nest.stores = {{panel.buffer, panel_offset(panel, within), value}};
  for (const tile::LoopVariable& loop : nest.loops)
    if (loop.name == fast && loop.extent > 1) nest.schedule = {.lanes = 4, .variable = fast};
  return nest;
}

tile::ScheduledNest StagedBuilder::product() {
  const Index r = Index::variable("r", s_.rows), c = Index::variable("c", s_.columns);
  tile::ScheduledNest nest = builder_.product_nest(k_tiles(), {{"r", s_.rows}, {"c", s_.columns}}, terms(),
                                                   builder_.load(rows_.buffer, panel_offset(rows_, r)),
                                                   builder_.load(columns_.buffer, panel_offset(columns_, c)),
                                                   tile_, r * s_.columns + c);
  nest.schedule.matrix_units = s_.matrix_units;
  nest.schedule.stages = 2;
  for (const tile::OuterLoop& loop : k_tiles())
    nest.anew.require(Index::variable(loop.variable.name, loop.variable.extent), 0, 0);
  return nest;
}

// Of a part's sum: [part][image][group][y][x][column].
Index StagedBuilder::sum_offset(const Index& part, const Index& y, const Index& x,
                                const Index& column) const {
  return ((((part * k_.images + image()) * k_.groups + group()) * k_.height + y) * k_.width + x) *
             k_.columns +
         column;
}

// The epilogue of results that parts were summed up for.
tile::ScheduledPhase StagedBuilder::sum_of_parts() {
  constexpr int64_t kPixels = 8, kColumns = 128;  // of a slice
  tile::ScheduledPhase phase;
  if (k_.images > 1) phase.grid.push_back({{"image", k_.images}, 1});
  if (k_.groups > 1) phase.grid.push_back({{"group", k_.groups}, 1});
  tile::ScheduledNest nest;
  const auto axis = [&](const char* name, int64_t extent, int64_t chunk) {
    const SliceAxis slices(name, extent, chunk);
    slices.deal_out(phase);
    if (slices.chunk() > 1 || slices.extent() == 1) nest.loops.push_back({name, extent});
  };
  axis("y", k_.height, 1);
  axis("x", k_.width, kPixels);
  axis("c", k_.columns, kColumns);
  const Index y = Index::variable("y", k_.height), x = Index::variable("x", k_.width),
              c = Index::variable("c", k_.columns);
  int sum = builder_.load(sums_, sum_offset(0, y, x, c));
  for (int64_t part = 1; part < s_.parts; ++part)
    sum = builder_.sum(sum, builder_.load(sums_, sum_offset(part, y, x, c)));
  nest.stores = builder_.outputs(k_.result_coords(image(), y, x, group() * k_.columns + c), sum);
  phase.nests.push_back(std::move(nest));
  return phase;
}

tile::ScheduledNest StagedBuilder::epilogue(const TiledAxis::Zone& y, const TiledAxis::Zone& x,
                                            const TiledAxis::Zone& columns) {
  tile::ScheduledNest nest;
  y_.tiles.loop(nest.around, y.low, y.high);
  x_.tiles.loop(nest.around, x.low, x.high);
  column_.tiles.loop(nest.around, columns.low, columns.high);
  const Index ry = Index::variable("ry", y.size), rx = Index::variable("rx", x.size),
              c = Index::variable("c", columns.size);
  nest.loops = {{"ry", y.size}, {"rx", x.size}, {"c", columns.size}};
  const int result = builder_.load(tile_, (ry * x_.size + rx) * s_.columns + c);
  if (s_.parts > 1) {
    const Index part = Index::variable("part", s_.parts);
    nest.stores = {
        {sums_, sum_offset(part, y_.at(y, "ry"), x_.at(x, "rx"), column_.at(columns, "c")), result}};
    return nest;
  }
  nest.stores = builder_.outputs(k_.result_coords(image(), y_.at(y, "ry"), x_.at(x, "rx"),
                                                  group() * k_.columns + column_.at(columns, "c")),
                                 result);
  return nest;
}

void StagedBuilder::add_nests(tile::ScheduledPhase& phase) {
  phase.nests.push_back(
      fill(rows_, {{"ry", y_.size}, {"rx", x_.size}}, data_along_terms_, row_in_tile(), row_element()));
  phase.nests.push_back(fill(columns_, {{"c", s_.columns}}, weights_along_terms(),
                             Index::variable("c", s_.columns), column_element()));
  phase.nests.push_back(product());
  for (const TiledAxis::Zone& y : y_.zones())
    for (const TiledAxis::Zone& x : x_.zones())
      for (const TiledAxis::Zone& columns : column_.zones()) phase.nests.push_back(epilogue(y, x, columns));
}

Result<tile::ScheduledGraph> StagedBuilder::build() {
  if (const std::string obstacle = builder_.obstacle(); !obstacle.empty())
    return Refusal{RefusalReason::no_kernel_family, obstacle};
  const LinearWorkload& p = *k_.workload;
  const int rank = static_cast<int>(type_of(p, p.data).shape.size());
  const int term_axis = !p.matmul ? 1 : p.matmul->transpose_a ? rank - 2 : rank - 1;
  data_along_terms_ = contiguous_axis(p, *k_.implementation, p.data) == term_axis;
  rows_ = panel_of(panel_terms(), s_.rows, data_along_terms_, s_.matrix_units);
  columns_ = panel_of(panel_terms(), s_.columns, weights_along_terms(), s_.matrix_units);
  if (s_.parts > 1)
    sums_ = builder_.add_temporary(s_.parts * k_.images * k_.groups * k_.height * k_.width * k_.columns);
  for (Panel* panel : {&rows_, &columns_}) panel->buffer = builder_.add_scratch(panel->elements());
  tile_ = builder_.add_scratch(s_.rows * s_.columns);
  tile::ScheduledPhase phase;
  if (s_.parts > 1) phase.grid.push_back({{"part", s_.parts}, 1});
  if (k_.images > 1) phase.grid.push_back({{"image", k_.images}, 1});
  if (k_.groups > 1) phase.grid.push_back({{"group", k_.groups}, 1});
  y_.tiles.deal_out(phase);
  x_.tiles.deal_out(phase);
  column_.tiles.deal_out(phase);
  add_nests(phase);
  builder_.add_phase(std::move(phase));
  if (s_.parts > 1) builder_.add_phase(sum_of_parts());
  return builder_.finish();
}

// What matrix units multiply. Three products of tf32 are as good as one of float32, but for its last bits.
std::optional<ProductType> units_for(const LinearWorkload& workload, Accuracy accuracy) {
  if (accuracy == Accuracy::strict) return std::nullopt;
  const ProductType exact = exact_operands(workload);
  return exact != ProductType::f32 ? exact : products_of(accuracy);
}

// So many that every multiprocessor has a tile, as far as the terms suffice.
int64_t parts_for(const RowKernel& k, int64_t tiles, const Device& target) {
  const int64_t wanted = std::min(kMostParts, target.workers / std::max<int64_t>(1, tiles));
  return std::min(wanted, ceil_div(k.depth, kKTile) / kLeastTilesOfPart);
}

}  // namespace

void list_staged(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<LinearWorkload> workload = staged_workload(graph, candidate);
  if (!workload.ok()) {
    refused.push_back(workload.refusal());
    return;
  }
  const LinearWorkload& p = workload.value();
  const std::optional<ProductType> units = units_for(p, accuracy);
  for (Order data : {Order::row_major, Order::channels_last})
    for (Order result : {Order::row_major, Order::channels_last}) {
      Implementation implementation = with_layouts(p, "staged", data, result);
      const RowKernel k = rows_of(p, implementation, target);
      // A larger tile needs less from memory, but there should be some for every multiprocessor.
      const auto tiles = [&](int64_t size) {
        return k.images * k.groups * ceil_div(k.height * k.width, size) * ceil_div(k.columns, size);
      };
      std::vector<int64_t> sizes = {128, 64};
      if (tiles(128) < target.workers) std::swap(sizes[0], sizes[1]);
      if (tiles(64) < target.workers) sizes.insert(sizes.begin(), kSmallTile);
      for (int64_t size : sizes) {
        if (size > 64 && (k.height * k.width < size || k.columns < size)) continue;
        const auto add = [&](int64_t parts, std::optional<ProductType> by) {
          implementation.flops_at_once = by ? speed_of(*by) : 1;
          // 128 x 128 results in three products take more registers than two blocks leave them.
          const int64_t columns = by == ProductType::f32 ? std::min<int64_t>(size, 64) : size;
          implementation.schedule = StagedSchedule{size, columns, kKTile, parts, by};
          add_once(implementation, found);
        };
        if (units) add(1, units);
        if (const int64_t parts = parts_for(k, tiles(size), target); units && parts > 1) add(parts, units);
        if (size != kSmallTile) add(1, std::nullopt);  // else fewer results than threads hold
      }
    }
}

Result<tile::ScheduledGraph> build_staged(const Graph& graph, const Candidate& candidate,
                                          const Implementation& implementation, const Device& target) {
  const Result<LinearWorkload> workload = staged_workload(graph, candidate);
  if (!workload.ok()) return workload.refusal();
  const RowKernel kernel = rows_of(workload.value(), implementation, target);
  return StagedBuilder(kernel).build();
}

}  // namespace korch
