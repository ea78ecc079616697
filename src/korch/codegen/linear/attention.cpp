// Attention: both products and the softmax between them for one block of queries after the other, so that the
// scores never leave a core's caches (FlashAttention, Dao et al. 2022). Keys and values are packed first. For
// each block of keys: scores by register tiles into scratch; their maximum, exponentials and sums row by row;
// products with the values, added to what earlier keys gave, which is scaled when the maximum grows (online
// softmax, Milakov and Gimelshein 2018). The division by the sums comes last, with the epilogue.
#include <algorithm>
#include <cmath>

#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/batch_coords.h"
#include "korch/codegen/linear/epilogue_nests.h"
#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/packing_phase.h"
#include "korch/codegen/linear/panel_nests.h"
#include "korch/codegen/linear/slice_axis.h"

namespace korch {

using namespace linear;

namespace {

using tile::OuterLoop;
using tile::ScheduledNest;

Result<LinearWorkload> attention_workload(const Graph& graph, const Candidate& candidate) {
  Result<LinearWorkload> workload = analyze(graph, candidate);
  if (!workload.ok()) return workload;
  if (!workload.value().attention) return Refusal{RefusalReason::no_kernel_family, "not attention"};
  if (!is_float32(workload.value()))
    return Refusal{RefusalReason::unsupported_type, "attention of a type other than float32"};
  return workload;
}

// Blocks of keys of one length: number low .. high - 1.
struct KeyZone {
  int64_t low, high, keys;
};

// Rows of a matrix in scratch times packed columns, as register tiles.
struct Product {
  RowTiling tiling;
  ColumnBlocks columns;
  int64_t terms;
  int left, right, result;  // buffers
  int64_t left_pitch, result_pitch;
  const PackedOperand* packed;
  Index first_column, first_term;  // among the packed ones: the offset of the first block; the number
  tile::Condition anew;
};

class AttentionBuilder {
 public:
  AttentionBuilder(const LinearWorkload& workload, const Implementation& implementation, const Device& target)
      : p_(workload),
        s_(*workload.attention),
        implementation_(implementation),
        target_(target),
        builder_(workload, implementation, target),
        blocking_(std::get<AttentionSchedule>(implementation.schedule)),
        blocks_(split_rows(s_.queries, static_cast<int>(blocking_.queries))),
        keys_(operand(p_.weight, true, s_.depth, s_.keys, blocking_.score.vectors)),
        values_(operand(p_.values, false, s_.keys, s_.width, blocking_.value.vectors)),
        block_("block", blocks_.tiles(), 1),
        key_block_("key_block", key_blocks(), key_blocks()),
        row_("row", blocks_.rows, blocks_.rows) {}

  Result<tile::ScheduledGraph> build();

 private:
  PackedOperand operand(ValueId value, bool by_columns, int64_t terms, int64_t columns, int vectors);
  RowKernel query_panel() const;
  int64_t key_blocks() const { return ceil_div(s_.keys, blocking_.keys); }
  std::vector<KeyZone> key_zones() const;
  int64_t line() const { return kCacheLineBytes / bytes_of(p_, 1); }
  int64_t whole_lines(int64_t elements) const { return ceil_div(elements, line()) * line(); }
  // Elements between rows of the scores and of the result's tile.
  int64_t score_pitch() const {
    const int64_t pitch = whole_lines(std::min(blocking_.keys, keys_.blocks.lanes_in_all()));
    return rows_conflict(bytes_of(p_, pitch)) ? pitch + line() : pitch;
  }
  int64_t tile_pitch() const { return whole_lines(values_.blocks.lanes_in_all()); }
  Index image() const { return Index::variable("image", s_.batches); }
  Index first_query() const { return first_row(blocks_, block_.at()); }
  Index matrix(ValueId value, const PackedOperand& operand) const;
  Index key_block(const KeyZone& zone) const { return key_block_.at(zone.low, zone.high); }
  // Whether it is not the first block of keys.
  tile::Condition later(const KeyZone& zone) const {
    return tile::Condition().require(key_block(zone), 1, key_blocks() - 1);
  }
  tile::Condition first(const KeyZone& zone) const {
    return tile::Condition().require(key_block(zone), 0, 0);
  }
  Index row() const { return row_.at(); }

  void multiply(const Product& product, const std::vector<OuterLoop>& around);
  void score(const KeyZone& zone, const std::vector<OuterLoop>& around);
  int masked_score(const KeyZone& zone, const Index& column);
  void weigh(const KeyZone& zone, const std::vector<OuterLoop>& around);
  int base_of(int largest);
  ScheduledNest update_maximum(const KeyZone& zone);
  ScheduledNest rescale_tile(const KeyZone& zone);
  void mix(const KeyZone& zone, const std::vector<OuterLoop>& around);
  void finish();
  void add(ScheduledNest nest, const std::vector<OuterLoop>& around);

  const LinearWorkload& p_;
  const AttentionShape& s_;
  const Implementation& implementation_;
  const Device& target_;
  KernelBuilder builder_;
  const AttentionSchedule blocking_;
  const RowTiling blocks_;
  const PackedOperand keys_, values_;
  const SliceAxis block_, key_block_, row_;
  PanelShape panel_;
  int packed_keys_ = -1, packed_values_ = -1;   // temporaries
  int queries_ = -1, scores_ = -1, tile_ = -1;  // a row per query, in scratch
  int largest_ = -1, sums_ = -1;                // of each row so far
  int largest_here_ = -1, factor_ = -1;         // of the row at hand: in this block of keys; for what earlier
                                                // ones gave
  tile::ScheduledPhase phase_;
};

// Matrices whose rows are the columns of the product (keys), or its terms (values).
PackedOperand AttentionBuilder::operand(ValueId value, bool by_columns, int64_t terms, int64_t columns,
                                        int vectors) {
  const Shape shape = type_of(p_, value).shape;
  return {matrices_of(shape), terms, split_columns(columns, vectors, target_.lanes()),
          [this, value, shape, by_columns](const Index& matrix, const Index& term, const Index& column,
                                           const tile::Replacements& places) {
            const Coords batch = unflatten(shape, matrix);
            return builder_.compose(
                value, by_columns ? with_matrix(batch, column, term) : with_matrix(batch, term, column), -1,
                places);
          }};
}

// The queries of a block, one per row.
RowKernel AttentionBuilder::query_panel() const {
  RowKernel k;
  k.workload = &p_;
  k.implementation = &implementation_;
  k.target = &target_;
  k.images = s_.batches;
  k.width = k.in_width = s_.queries;
  k.depth = s_.depth;
  k.path = DataPath::panel_channels;
  k.panel_span = blocks_.rows;
  k.data_coords = [this](const Index& image, const Index&, const Index& x, const Index& channel) {
    return with_matrix(operand_batch(s_.batch, type_of(p_, p_.data).shape, image), x, channel);
  };
  return k;
}

std::vector<KeyZone> AttentionBuilder::key_zones() const {
  const int64_t last = key_blocks() - 1, rest = s_.keys - last * blocking_.keys;
  if (rest == blocking_.keys) return {{0, last + 1, rest}};
  std::vector<KeyZone> zones;
  if (last > 0) zones.push_back({0, last, blocking_.keys});
  zones.push_back({last, last + 1, rest});
  return zones;
}

// Where the slice's matrix of packed columns begins.
Index AttentionBuilder::matrix(ValueId value, const PackedOperand& operand) const {
  const Shape& shape = type_of(p_, value).shape;
  return flatten(shape, operand_batch(s_.batch, shape, image())) * operand.matrix_elements();
}

void AttentionBuilder::add(ScheduledNest nest, const std::vector<OuterLoop>& around) {
  nest.around = around;
  phase_.nests.push_back(std::move(nest));
}

void AttentionBuilder::multiply(const Product& p, const std::vector<OuterLoop>& around) {
  const SliceAxis column("column", p.columns.total(), p.columns.total()),
      tile("tile", p.tiling.tiles(), p.tiling.tiles());
  for (const ColumnZone& columns : column_zones(p.columns))
    for (const RowZone& rows : row_zones(p.tiling)) {
      std::vector<OuterLoop> loops = around;
      column.loop(loops, columns.low, columns.high);
      tile.loop(loops, rows.low, rows.high);
      const int64_t lanes = total_lanes(columns.lanes), block = p.columns.block_lanes();
      const Index b = column.at(columns.low, columns.high),
                  row = rows.first_row(tile.at(rows.low, rows.high)) + Index::variable("r", rows.rows),
                  c = Index::variable("c", lanes), k = Index::variable("k", p.terms);
      const Index right = p.first_column + b * (p.packed->depth * block) + (p.first_term + k) * lanes + c;
      ScheduledNest nest =
          builder_.product_nest(std::move(loops), {{"r", rows.rows}, {"c", lanes}}, {{"k", p.terms}},
                                builder_.load(p.left, row * p.left_pitch + k), builder_.load(p.right, right),
                                p.result, row * p.result_pitch + b * block + c);
      nest.anew = p.anew;
      phase_.nests.push_back(std::move(nest));
    }
}

// Of the block's queries with a block of keys.
void AttentionBuilder::score(const KeyZone& zone, const std::vector<OuterLoop>& around) {
  ColumnBlocks columns = keys_.blocks;
  if (zone.high < key_blocks()) columns.tail.clear();
  const int64_t lanes = columns.block_lanes(), before = lanes > 0 ? blocking_.keys / lanes : 0;
  columns.blocks = lanes > 0 ? zone.keys / lanes : 0;
  multiply({.tiling = split_rows(blocks_.rows, blocking_.score.rows),
            .columns = columns,
            .terms = s_.depth,
            .left = queries_,
            .right = packed_keys_,
            .result = scores_,
            .left_pitch = panel_.pixel_step,
            .result_pitch = score_pitch(),
            .packed = &keys_,
            .first_column = matrix(p_.weight, keys_) + key_block(zone) * (before * lanes * s_.depth),
            .first_term = 0,
            .anew = {}},
           around);
}

// The score of the row with one of the zone's keys, with its mask.
int AttentionBuilder::masked_score(const KeyZone& zone, const Index& column) {
  const int score = builder_.load(scores_, row() * score_pitch() + column);
  if (p_.mask == kNoId) return score;
  const Shape mask = type_of(p_, p_.mask).shape, result = type_of(p_, p_.value).shape;
  const Coords scores = with_matrix(unflatten(result, image()), Index::variable("query", s_.queries),
                                    Index::variable("key", s_.keys));
  Coords coords(mask.size());
  for (size_t i = 0; i < mask.size(); ++i)
    coords[i] = mask[i] == 1 ? Index(0) : scores[i + scores.size() - mask.size()];
  // The last block may be one query short.
  const Index query = tile::clamp(first_query() + row(), 0, s_.queries - 1);
  const int added = builder_.compose(p_.mask, coords, -1,
                                     {{"query", query}, {"key", key_block(zone) * blocking_.keys + column}});
  return builder_.sum(score, added);
}

// Scores become weights: exp(score - largest so far), summed. What a row has of earlier keys is scaled to its
// new maximum. A row of nothing but -inf keeps the weights 0 and the sum 0, which makes it NaN in the end.
void AttentionBuilder::weigh(const KeyZone& zone, const std::vector<OuterLoop>& around) {
  std::vector<OuterLoop> loops = around;
  row_.loop(loops);
  tile::ExprPool& pool = builder_.pool();
  const bool part = key_blocks() > 1;
  const Index c = Index::variable("c", zone.keys), place = row() * score_pitch() + c;
  ScheduledNest extreme;
  extreme.kind = tile::NestKind::reduce;
  extreme.combine = ScalarFn::max;
  extreme.nan_wins = false;  // the exponentials are NaN too
  extreme.reduced = {{"c", zone.keys}};
  const int score = masked_score(zone, c);
  extreme.stores = {{part ? largest_here_ : largest_, part ? Index(0) : row(), score}};
  if (p_.mask != kNoId) extreme.stores.push_back({scores_, place, score});
  add(std::move(extreme), loops);
  if (part) add(update_maximum(zone), loops);

  ScheduledNest weights;
  weights.kind = tile::NestKind::reduce;
  weights.reduced = {{"c", zone.keys}};
  const int base = base_of(builder_.load(largest_, row()));
  const int weight = pool.decaying_exp(builder_.difference(builder_.load(scores_, place), base));
  weights.stores = {{sums_, row(), weight}, {scores_, place, weight}};
  if (part) weights.anew = first(zone);
  add(std::move(weights), loops);
  if (part) add(rescale_tile(zone), loops);
}

// What scores of a row are taken relative to: its largest, unless there is none.
int AttentionBuilder::base_of(int largest) {
  const int none = builder_.pool().call(ScalarFn::eq, DType::bool_, {largest, builder_.constant(-INFINITY)});
  return builder_.call(ScalarFn::select, {none, builder_.zero(), largest});
}

ScheduledNest AttentionBuilder::update_maximum(const KeyZone& zone) {
  tile::ExprPool& pool = builder_.pool();
  const int before = pool.guard(later(zone), builder_.load(largest_, row()), builder_.constant(-INFINITY));
  const int now = builder_.call(ScalarFn::max, {before, builder_.load(largest_here_, 0)});
  const int factor = pool.decaying_exp(builder_.difference(before, base_of(now)));
  const int sum = builder_.padded(later(zone), builder_.load(sums_, row()));
  ScheduledNest nest;
  nest.stores = {{factor_, 0, factor}, {sums_, row(), builder_.product(sum, factor)}, {largest_, row(), now}};
  return nest;
}

ScheduledNest AttentionBuilder::rescale_tile(const KeyZone& zone) {
  const int64_t columns = values_.blocks.lanes_in_all();
  const Index place = row() * tile_pitch() + Index::variable("c", columns);
  ScheduledNest nest;
  nest.loops = {{"c", columns}};
  nest.stores = {{tile_, place,
                  builder_.padded(later(zone),
                                  builder_.product(builder_.load(tile_, place), builder_.load(factor_, 0)))}};
  return nest;
}

// The values by their weights.
void AttentionBuilder::mix(const KeyZone& zone, const std::vector<OuterLoop>& around) {
  multiply({.tiling = split_rows(blocks_.rows, blocking_.value.rows),
            .columns = values_.blocks,
            .terms = zone.keys,
            .left = scores_,
            .right = packed_values_,
            .result = tile_,
            .left_pitch = score_pitch(),
            .result_pitch = tile_pitch(),
            .packed = &values_,
            .first_column = matrix(p_.values, values_),
            .first_term = key_block(zone) * blocking_.keys,
            .anew = key_blocks() > 1 ? first(zone) : tile::Condition()},
           around);
}

void AttentionBuilder::finish() {
  for (const RowZone& rows : row_zones(blocks_)) {
    std::vector<OuterLoop> around;
    block_.loop(around, rows.low, rows.high);
    FinishedTile tile;
    tile.rows = rows.rows;
    tile.lanes = split_lanes(s_.width, target_.lanes());
    tile.valid_columns = s_.width;
    tile.coords = [&](const Index& r, const Index& column) {
      return with_matrix(unflatten(type_of(p_, p_.value).shape, image()),
                         rows.first_row(block_.at(rows.low, rows.high)) + r, column);
    };
    tile.buffer = tile_;
    tile.row_step = tile_pitch();
    tile.divisors = sums_;
    add_epilogue(builder_, tile, around, phase_.nests);
  }
}

Result<tile::ScheduledGraph> AttentionBuilder::build() {
  if (const std::string obstacle = builder_.obstacle(); !obstacle.empty())
    return Refusal{RefusalReason::no_kernel_family, obstacle};
  packed_keys_ = builder_.add_temporary(keys_.matrices * keys_.matrix_elements());
  packed_values_ = builder_.add_temporary(values_.matrices * values_.matrix_elements());
  const RowKernel queries = query_panel();
  panel_ = panel_shape(queries);
  queries_ = builder_.add_scratch(panel_.elements);
  scores_ = builder_.add_scratch(blocks_.rows * score_pitch());
  tile_ = builder_.add_scratch(blocks_.rows * tile_pitch());
  largest_ = builder_.add_scratch(blocks_.rows);
  sums_ = builder_.add_scratch(blocks_.rows);
  if (key_blocks() > 1) {
    largest_here_ = builder_.add_scratch(1);
    factor_ = builder_.add_scratch(1);
  }
  builder_.add_phase(packing_phase(builder_, keys_, packed_keys_));
  builder_.add_phase(packing_phase(builder_, values_, packed_values_));
  if (s_.batches > 1) phase_.grid.push_back({{"image", s_.batches}, 1});
  block_.deal_out(phase_);
  phase_.nests.push_back(panel_nest(builder_, queries, panel_, queries_, 0, first_query()));
  for (const KeyZone& zone : key_zones()) {
    std::vector<OuterLoop> around;
    key_block_.loop(around, zone.low, zone.high);
    score(zone, around);
    weigh(zone, around);
    mix(zone, around);
  }
  finish();
  builder_.add_phase(std::move(phase_));
  return builder_.finish();
}

// Measured on heads of 1024 x 1024 x 16 to 64: 24 to 66 queries of a block differ by 2 %; blocks of 256 keys
// are 8 % slower than those of 512 and more, whose scores still stay in L2.
constexpr int64_t kMostQueries = 28;
constexpr double kScoresInL2 = 0.125;  // share of L2 for the scores of a block

AttentionSchedule choose_blocking(const LinearWorkload& p, const Device& target, int64_t most_queries,
                                  double scores_in_l2) {
  const AttentionShape& s = *p.attention;
  AttentionSchedule b;
  b.queries = std::min(most_queries, ceil_div(s.batches * s.queries, target.workers));
  const int rows = split_rows(s.queries, static_cast<int>(b.queries)).rows;
  const auto most_keys = static_cast<int64_t>(target.own_bytes() * scores_in_l2) / bytes_of(p, rows);
  const int64_t keys = ceil_div(s.keys, ceil_div(s.keys, std::max<int64_t>(1, most_keys)));
  b.score = rank_tiles(rows, keys, s.depth, false, target).front();
  b.value = rank_tiles(rows, s.width, keys, false, target).front();
  const int64_t lanes = b.score.vectors * target.lanes();
  b.keys = std::min(s.keys, ceil_div(keys, lanes) * lanes);
  return b;
}

}  // namespace

void list_attention(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy,
                    std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<LinearWorkload> workload = attention_workload(graph, candidate);
  if (!workload.ok()) {
    refused.push_back(workload.refusal());
    return;
  }
  Implementation implementation =
      with_layouts(workload.value(), "attention", Order::row_major, Order::row_major);
  implementation.schedule = choose_blocking(workload.value(), target, kMostQueries, kScoresInL2);
  found.push_back(implementation);
}

void reschedule_attention(const Graph& graph, const Candidate& candidate,
                          const Implementation& implementation, const Device& target,
                          std::vector<Schedule>& found) {
  const Result<LinearWorkload> workload = attention_workload(graph, candidate);
  if (!workload.ok()) return;
  for (const auto& [queries, scores] : {std::pair{kMostQueries / 2, kScoresInL2},
                                        {kMostQueries * 2, kScoresInL2},
                                        {kMostQueries, kScoresInL2 / 2},
                                        {kMostQueries, kScoresInL2 * 2}}) {
    const Schedule other = choose_blocking(workload.value(), target, queries, scores);
    if (other != implementation.schedule && std::find(found.begin(), found.end(), other) == found.end())
      found.push_back(other);
  }
}

Result<tile::ScheduledGraph> build_attention(const Graph& graph, const Candidate& candidate,
                                             const Implementation& implementation, const Device& target) {
  const Result<LinearWorkload> workload = attention_workload(graph, candidate);
  if (!workload.ok()) return workload.refusal();
  return AttentionBuilder(workload.value(), implementation, target).build();
}

}  // namespace korch
