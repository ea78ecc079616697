// Attention: both products and the softmax between them for one block of queries after the other, so that the
// scores never leave a core's caches (FlashAttention, Dao et al. 2022). Keys and values are packed first. For
// each block of keys: scores by register tiles into scratch; their maximum, exponentials and sums row by row;
// products with the values, added to what earlier keys gave, which is scaled when the maximum grows (online
// softmax, Milakov and Gimelshein 2018). The division by the sums comes last, then the epilogue.
#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/batch_coords.h"
#include "korch/codegen/linear/epilogue.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/panel.h"

namespace korch {

using namespace linear;

namespace {

Result<Problem> attention_problem(const Graph& graph, const Candidate& candidate) {
  Result<Problem> problem = analyze(graph, candidate);
  if (!problem.ok()) return problem;
  if (!problem.value().attention) return Refusal{RefusalReason::no_kernel_family, "not attention"};
  if (!is_float32(problem.value()))
    return Refusal{RefusalReason::unsupported_type, "attention of a type other than float32"};
  return problem;
}

class Writer {
 public:
  Writer(const Problem& problem, const Implementation& implementation, const Target& target)
      : p_(problem),
        s_(*problem.attention),
        implementation_(implementation),
        target_(target),
        emitter_(*problem.graph, *problem.candidate, implementation, target),
        lanes_(target.vector_lanes()),
        blocking_(std::get<AttentionSchedule>(implementation.schedule)),
        blocks_(split_rows(s_.queries, static_cast<int>(blocking_.queries))),
        score_tiles_(split_rows(blocks_.rows, blocking_.score.rows)),
        value_tiles_(split_rows(blocks_.rows, blocking_.value.rows)),
        keys_(operand(p_.weight, true, s_.depth, s_.keys, blocking_.score.vectors)),
        values_(operand(p_.values, false, s_.keys, s_.width, blocking_.value.vectors)) {}

  Result<Kernel> write();

 private:
  ColumnOperand operand(ValueId value, bool by_columns, int64_t terms, int64_t columns, int vectors) const;
  RowKernel query_panel() const;
  int64_t key_blocks() const { return ceil_div(s_.keys, blocking_.keys); }
  int64_t last_keys() const { return s_.keys - (key_blocks() - 1) * blocking_.keys; }
  // Elements between rows of the scores and of the result's tile.
  int64_t score_pitch() const {
    const int64_t pitch =
        ceil_div(std::min(blocking_.keys, keys_.blocks.lanes_in_all()), kCacheLineFloats) * kCacheLineFloats;
    return rows_conflict(pitch * 4) ? pitch + kCacheLineFloats : pitch;
  }
  int64_t tile_pitch() const {
    return ceil_div(values_.blocks.lanes_in_all(), kCacheLineFloats) * kCacheLineFloats;
  }
  int64_t row_elements() const { return ceil_div(blocks_.rows, kCacheLineFloats) * kCacheLineFloats; }
  static std::string tile_name(const char* product, int rows, bool tail, bool last) {
    return fmt::format("{}{}{}{}", product, rows, tail ? "t" : "", last ? "l" : "");
  }
  std::string micro_kernels(const PanelShape& panel) const;
  std::string weigh();
  std::string mask_text();
  std::string tile_loops(const RowTiling& tiling, const std::function<std::string(int rows)>& body) const;
  std::string score_product(const PanelShape& panel) const;
  std::string value_product(bool last) const;
  std::string finish();
  std::string main_text(const PanelShape& panel) const;

  const Problem& p_;
  const AttentionShape& s_;
  const Implementation& implementation_;
  const Target& target_;
  tile::ValueEmitter emitter_;
  const int lanes_;
  const AttentionSchedule blocking_;
  const RowTiling blocks_, score_tiles_, value_tiles_;
  const ColumnOperand keys_, values_;
};

// Matrices whose rows are the columns of the product (keys), or its terms (values).
ColumnOperand Writer::operand(ValueId value, bool by_columns, int64_t terms, int64_t columns,
                              int vectors) const {
  const Shape shape = type_of(p_, value).shape;
  const int terms_axis = static_cast<int>(shape.size()) - (by_columns ? 1 : 2);
  return {value,
          matrices_of(shape),
          terms,
          split_columns(columns, vectors, lanes_),
          [shape, by_columns](const Index& matrix, const Index& term, const Index& column) {
            const Coords batch = unflatten(shape, matrix);
            return by_columns ? with_matrix(batch, column, term) : with_matrix(batch, term, column);
          },
          contiguous_axis(p_, implementation_, value) == terms_axis ? 0 : 1};
}

// The queries of a block, one per row.
RowKernel Writer::query_panel() const {
  RowKernel k;
  k.problem = &p_;
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

std::string Writer::micro_kernels(const PanelShape& panel) const {
  std::string text;
  const auto emit = [&](const char* product, const RowTiling& tiling, const ColumnBlocks& columns,
                        int64_t pitch, int64_t row_stride, int64_t terms, bool last, bool part) {
    for (bool tail : {false, true})
      for (int rows : {tiling.rows, tiling.rows - 1}) {
        if (tail ? columns.tail.empty() : columns.blocks == 0) continue;
        if ((rows == tiling.rows ? tiling.long_tiles : tiling.short_tiles) == 0) continue;
        MicroKernel m;
        m.rows = rows;
        m.lanes = tail ? columns.tail : columns.lanes;
        m.tile_pitch = pitch;
        m.row_stride = row_stride;
        m.loops = {{terms, 1, total_lanes(m.lanes)}};
        m.part = part;
        text += emit_micro_kernel(tile_name(product, rows, tail, last), m);
      }
  };
  emit("score", score_tiles_, keys_.blocks, score_pitch(), panel.pixel_step, s_.depth, false, false);
  const bool part = key_blocks() > 1;
  if (part)
    emit("value", value_tiles_, values_.blocks, tile_pitch(), score_pitch(), blocking_.keys, false, part);
  emit("value", value_tiles_, values_.blocks, tile_pitch(), score_pitch(), last_keys(), true, part);
  return text;
}

// Adds the mask to the scores of row x from key k0 on.
std::string Writer::mask_text() {
  if (p_.mask == kNoId) return "";
  const Shape mask = type_of(p_, p_.mask).shape, result = type_of(p_, p_.value).shape;
  const Index image = Index::variable("image", s_.batches), x = Index::variable("x", s_.queries);
  const auto add = [&](const Index& key, const std::string& count) {
    const Coords scores = with_matrix(unflatten(result, image), x, key);
    Coords coords(mask.size());
    for (size_t i = 0; i < mask.size(); ++i)
      coords[i] = mask[i] == 1 ? Index(0) : scores[i + scores.size() - mask.size()];
    tile::Block block{.vector_variable = "l", .lanes = lanes_, .count = count, .code = "", .indent = "  "};
    const std::string mask_vector = emitter_.emit(p_.mask, coords, block);
    return fmt::format("const int64_t l=0;(void)l;\n{}*(v{}u*)(row+j*{})+={};\n", block.code, lanes_, lanes_,
                       mask_vector);
  };
  const Index key = Index::variable("k0", s_.keys) +
                    Index::variable("j", ceil_div(blocking_.keys, lanes_)) * lanes_ +
                    Index::variable("l", lanes_);
  std::string text = fmt::format("for(int64_t j=0;j<count/{};++j){{{}}}\n", lanes_, add(key, ""));
  const std::string rest = fmt::format("(int)(count%{})", lanes_);
  return text + fmt::format("if(count%{0}){{const int64_t j=count/{0};{1}}}\n", lanes_, add(key, rest));
}

// Scores become weights: exp(score - largest so far), summed. What a row has of earlier keys is scaled to its
// new maximum. A row of nothing but -inf keeps the weights 0 and the sum 0, which makes it NaN in the end.
std::string Writer::weigh() {
  emitter_.use_function("fn_exp_weight", lanes_);
  emitter_.use_function("across_max", lanes_);
  emitter_.use_function("across_add", lanes_);
  const std::string vector = fmt::format("v{}", lanes_);
  std::string text = fmt::format(
      "static __attribute__((noinline)) int32_t weigh(const korch_kernel_context*context,float*scores,"
      "float*largest,float*sums,float*tile,int64_t image,int64_t x0,int64_t k0,int64_t count,int64_t "
      "rows){{\n"
      "(void)image;(void)x0;(void)k0;(void)tile;\n{}"
      "const int64_t vectors=(count+{})/{};const float none=-__builtin_inff();\n"
      "for(int64_t r=0;r<rows;++r){{float*row=scores+r*{};const int64_t x=x0+r;(void)x;\n",
      emitter_.argument_declarations(2), lanes_ - 1, lanes_, score_pitch());
  text += mask_text();
  text += fmt::format(
      "if(count%{0}){{{1}*last=({1}*)(row+(vectors-1)*{0});"
      "*last=fn_select(lanes_below_m{0}((int)(count%{0})),*last,splat_f32x{0}(none));}}\n"
      "{1} a=splat_f32x{0}(none),b=a,c=a,d=a;\nint64_t j=0;\n"
      "for(;j+4<=vectors;j+=4){{const {1} p=*(const {1}u*)(row+j*{0}),q=*(const {1}u*)(row+j*{0}+{0}),"
      "s=*(const {1}u*)(row+j*{0}+2*{0}),t=*(const {1}u*)(row+j*{0}+3*{0});\n"
      "a=fn_select(p>a,p,a);b=fn_select(q>b,q,b);c=fn_select(s>c,s,c);d=fn_select(t>d,t,d);}}\n"
      "for(;j<vectors;++j){{const {1} p=*(const {1}u*)(row+j*{0});a=fn_select(p>a,p,a);}}\n"
      "a=fn_select(b>a,b,a);c=fn_select(d>c,d,c);\n"
      "float now=across_max(fn_select(c>a,c,a));\n",
      lanes_, vector);
  const bool part = key_blocks() > 1;
  if (part) text += "const float before=k0>0?largest[r]:none;if(before>now)now=before;largest[r]=now;\n";
  text += fmt::format(
      "const float base=now==none?0.f:now;{1} sum={{}};\n"
      "for(j=0;j<vectors;++j){{const {1} "
      "e=fn_exp_weight(*(const {1}u*)(row+j*{0})-base);*({1}u*)(row+j*{0})=e;sum+=e;}}\n",
      lanes_, vector);
  if (!part) return text + "sums[r]=across_add(sum);}\nreturn 0;}\n";
  emitter_.use_function("fn_exp_weight", 1);
  return text + fmt::format(
                    "if(k0==0){{sums[r]=across_add(sum);continue;}}\n"
                    "const float factor=fn_exp_weight(before-base);sums[r]=sums[r]*factor+across_add(sum);\n"
                    "for(int64_t c=0;c<{};c+={})*({}u*)(tile+r*{}+c)*=factor;}}\nreturn 0;}}\n",
                    tile_pitch(), lanes_, vector, tile_pitch());
}

std::string Writer::tile_loops(const RowTiling& tiling,
                               const std::function<std::string(int rows)>& body) const {
  std::string text;
  const int64_t full = tiling.long_tiles * tiling.rows;
  if (tiling.long_tiles > 0)
    text += fmt::format("for(int64_t r=0;r<{};r+={}){}", full, tiling.rows, body(tiling.rows));
  if (tiling.short_tiles > 0)
    text += fmt::format("for(int64_t r={};r<{};r+={}){}", full, blocks_.rows, tiling.rows - 1,
                        body(tiling.rows - 1));
  return text;
}

// Of all rows of the block with the keys from k0 on.
std::string Writer::score_product(const PanelShape& panel) const {
  const ColumnBlocks& blocks = keys_.blocks;
  const int64_t lanes = blocks.block_lanes();
  const auto tiles = [&](bool tail) {
    return tile_loops(score_tiles_, [&](int rows) {
      return fmt::format("{}(panel+r*{},columns,scores+r*{}+key-k0,columns);\n",
                         tile_name("score", rows, tail, false), panel.pixel_step, score_pitch());
    });
  };
  std::string text;
  if (blocks.blocks > 0)
    text += fmt::format(
        "for(int64_t key=k0;key+{0}<=k0+count;key+={0}){{const float*columns=keys+key*{1};\n{2}}}\n", lanes,
        s_.depth, tiles(false));
  if (!blocks.tail.empty())
    text += fmt::format("if(k0+count=={0}){{const int64_t key={1};const float*columns=keys+key*{2};\n{3}}}\n",
                        s_.keys, blocks.blocks * lanes, s_.depth, tiles(true));
  return text;
}

std::string Writer::value_product(bool last) const {
  const ColumnBlocks& blocks = values_.blocks;
  const int64_t lanes = blocks.block_lanes();
  const auto tiles = [&](bool tail) {
    return tile_loops(value_tiles_, [&](int rows) {
      return fmt::format("{}(scores+r*{},columns,tile+r*{}+column,columns{});\n",
                         tile_name("value", rows, tail, last), score_pitch(), tile_pitch(),
                         key_blocks() > 1 ? ",k0==0" : "");
    });
  };
  std::string text;
  if (blocks.blocks > 0)
    text += fmt::format(
        "for(int64_t column=0;column<{};column+={}){{const float*columns=values+column*{}+k0*{};\n{}}}\n",
        blocks.blocks * lanes, lanes, s_.keys, lanes, tiles(false));
  if (!blocks.tail.empty())
    text += fmt::format("{{const int64_t column={};const float*columns=values+column*{}+k0*{};\n{}}}\n",
                        blocks.blocks * lanes, s_.keys, blocks.tail_lanes(), tiles(true));
  return text;
}

// One row of the tile at a time: the last block of queries may be one row short.
std::string Writer::finish() {
  EpilogueTile tile;
  tile.lanes = split_lanes(s_.width, lanes_);
  tile.valid_columns = s_.width;
  tile.tile_pitch = tile_pitch();
  EpilogueRows rows;
  rows.images = s_.batches;
  rows.width = s_.queries;
  rows.columns = s_.width;
  rows.result_coords = [this](const Index& image, const Index&, const Index& x, const Index& column) {
    return with_matrix(unflatten(type_of(p_, p_.value).shape, image), x, column);
  };
  return emit_epilogue("finish", p_, implementation_, target_, emitter_, tile, rows);
}

std::string Writer::main_text(const PanelShape& panel) const {
  const Index image = Index::variable("image", s_.batches);
  const auto matrix = [&](ValueId value, const ColumnOperand& columns, int temporary) {
    const Shape& shape = type_of(p_, value).shape;
    return fmt::format("temp{}+({})*{}", temporary,
                       tile::print(flatten(shape, operand_batch(s_.batch, shape, image))),
                       columns.matrix_elements());
  };
  const int64_t rows = blocks_.rows, full = blocks_.long_tiles;
  std::string text = fmt::format(
      "extern \"C\" int32_t korch_linear(const korch_kernel_context*context,int64_t begin,int64_t end){{\n{}"
      "float*panel=(float*)context->scratch,*scores=panel+{},*tile=scores+{},*largest=tile+{},*sums=largest+{"
      "};\n",
      emitter_.argument_declarations(2), ceil_div(panel.elements, kCacheLineFloats) * kCacheLineFloats,
      rows * score_pitch(), rows * tile_pitch(), row_elements());
  text += fmt::format(
      "for(int64_t s=begin;s<end;++s){{const int64_t image=s/{0},b=s%{0};(void)image;\n"
      "const int64_t x0=b<{1}?b*{2}:b*{3}+{1},rows=b<{1}?{2}:{3};\n"
      "const float*keys={4},*values={5};\n"
      "if(const int32_t status=load_panel(context,panel,image,0,0,x0))return status;\n",
      blocks_.tiles(), full, rows, rows - 1, matrix(p_.weight, keys_, 0), matrix(p_.values, values_, 1));
  text += fmt::format(
      "for(int64_t k0=0;k0<{0};k0+={1}){{const int64_t count=k0+{1}<{0}?{1}:{0}-k0;\n{2}"
      "if(const int32_t status=weigh(context,scores,largest,sums,tile,image,x0,k0,count,rows))return "
      "status;\n",
      s_.keys, blocking_.keys, score_product(panel));
  if (key_blocks() > 1)
    text += fmt::format("if(k0+{}<{}){{\n{}}}else", blocking_.keys, s_.keys, value_product(false));
  text += fmt::format(
      "{{\n{}}}}}\nfor(int64_t r=0;r<rows;++r){{float*row=tile+r*{};\n"
      "for(int64_t c=0;c<{};c+={})*(v{}u*)(row+c)/=sums[r];\n"
      "if(const int32_t status=finish(context,row,image,0,0,x0+r,0))return status;}}}}\n{}return 0;}}\n",
      value_product(true), tile_pitch(), tile_pitch(), lanes_, lanes_, fence_text(p_, target_));
  return text;
}

Result<Kernel> Writer::write() {
  emitter_.provide(p_.value, [](const std::vector<Index>&) { return std::string("acc"); });
  for (ValueId output : p_.candidate->outputs)
    if (const std::string obstacle = emitter_.obstacle(output); !obstacle.empty())
      return Refusal{RefusalReason::no_kernel_family, obstacle};
  const RowKernel queries = query_panel();
  const PanelShape panel = panel_shape(queries);
  Kernel kernel;
  std::string body;
  for (const auto& [columns, symbol, temporary] :
       {std::tuple{&keys_, "korch_pack_keys", 0}, std::tuple{&values_, "korch_pack_values", 1}}) {
    body += emit_pack_columns(*columns, symbol, temporary, target_, emitter_);
    kernel.phases.push_back({symbol, columns->matrices * columns->blocks.total(), 1});
    kernel.temporary_bytes.push_back(columns->matrices * columns->matrix_elements() * 4);
  }
  kernel.phases.push_back({"korch_linear", s_.batches * blocks_.tiles(), 1});
  body += emit_load_panel(queries, panel, emitter_) + micro_kernels(panel) + weigh() + finish() +
          main_text(panel);
  kernel.source = emitter_.preamble({4, lanes_}) + source_prelude() + body;
  kernel.constant_packing = emitter_.constant_packing();
  kernel.scratch_bytes = 4 * (ceil_div(panel.elements, kCacheLineFloats) * kCacheLineFloats +
                              blocks_.rows * (score_pitch() + tile_pitch()) + 2 * row_elements());
  kernel.flops = implementation_.flops;
  kernel.bytes = implementation_.bytes;
  return kernel;
}

// Measured on heads of 1024 x 1024 x 16 to 64: 24 to 66 queries of a block differ by 2 %; blocks of 256 keys
// are 8 % slower than those of 512 and more, whose scores still stay in L2.
AttentionSchedule choose_blocking(const AttentionShape& s, const Target& target) {
  constexpr int64_t kMostQueries = 28;
  constexpr double kScoresInL2 = 0.125;  // share of L2 for the scores of a block
  AttentionSchedule b;
  b.queries = std::min(kMostQueries, ceil_div(s.batches * s.queries, target.threads));
  const int rows = split_rows(s.queries, static_cast<int>(b.queries)).rows;
  const auto most_keys = static_cast<int64_t>(target.l2_bytes * kScoresInL2 / sizeof(float)) / rows;
  const int64_t keys = ceil_div(s.keys, ceil_div(s.keys, std::max<int64_t>(1, most_keys)));
  b.score = rank_tiles(rows, keys, s.depth, false, target).front();
  b.value = rank_tiles(rows, s.width, keys, false, target).front();
  const int64_t lanes = b.score.vectors * target.vector_lanes();
  b.keys = std::min(s.keys, ceil_div(keys, lanes) * lanes);
  return b;
}

}  // namespace

void list_attention(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy,
                    std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<Problem> problem = attention_problem(graph, candidate);
  if (!problem.ok()) {
    refused.push_back(problem.refusal());
    return;
  }
  Implementation implementation =
      with_layouts(problem.value(), "attention", Order::row_major, Order::row_major);
  implementation.schedule = choose_blocking(*problem.value().attention, target);
  found.push_back(implementation);
}

Result<Kernel> generate_attention(const Graph& graph, const Candidate& candidate,
                                  const Implementation& implementation, const Target& target) {
  const Result<Problem> problem = attention_problem(graph, candidate);
  if (!problem.ok()) return problem.refusal();
  return Writer(problem.value(), implementation, target).write();
}

}  // namespace korch
