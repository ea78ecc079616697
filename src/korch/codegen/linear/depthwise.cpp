// Depthwise convolution, channels last: vectors along channels, a register tile along the width, the epilogue
// on the accumulators. Tiles whose taps all lie inside a row are free of checks; border pixels clip their
// taps.
#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/epilogue.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/output_map.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/loop/emitter.h"

namespace korch {

using namespace linear;

namespace {

constexpr double kSliceBytes = 128 << 10;  // about 5 us of L2 traffic
constexpr int64_t kSlicesPerWorker = 8;

Result<Problem> depthwise_problem(const Graph& graph, const Candidate& candidate) {
  Result<Problem> problem = analyze(graph, candidate);
  if (!problem.ok()) return problem;
  const Problem& p = problem.value();
  const auto refuse = [](const char* why) { return Refusal{RefusalReason::no_kernel_family, why}; };
  if (!p.conv || graph.node(p.node).op != Op::Conv) return refuse("not a convolution of one or two axes");
  const ConvShape& s = *p.conv;
  if (s.group != s.in_channels || s.out_channels != s.in_channels || s.group == 1)
    return refuse("not a depthwise convolution");
  if (!p.weight_constant || p.data_fused) return refuse("depthwise convolution with computed operands");
  if (!is_float32(p))
    return Refusal{RefusalReason::unsupported_type, "convolution of a type other than float32"};
  return problem;
}

class Writer {
 public:
  Writer(const Problem& problem, const Implementation& implementation, const Target& target)
      : p_(problem),
        s_(*problem.conv),
        implementation_(implementation),
        target_(target),
        emitter_(*problem.graph, *problem.candidate, implementation, target) {}
  Result<Kernel> write();

 private:
  void plan();
  Coords coords(const Index& image, const Index& channel, const Index& y, const Index& x) const {
    if (type_of(p_, p_.value).shape.size() == 3) return {image, channel, x};
    return {image, channel, y, x};
  }
  std::string finish(int rows, const Index& channel, const Index& x, int width, int64_t valid);
  std::string tile_body(int rows, const Index& channel, int width, int64_t valid, const std::string& block);
  std::string border_body(const Index& channel, int width, int64_t valid, const std::string& block);
  std::string load(const Index& channel, int width, int64_t valid, const Index& iy, const Index& ix,
                   const std::string& pointer, const std::string& name);
  std::string prefetch_start() const;
  std::string prefetch_step(int rows) const;
  std::string pixel_function(int rows, bool border);
  std::string slices();

  const Problem& p_;
  const ConvShape& s_;
  const Implementation& implementation_;
  const Target& target_;
  tile::ValueEmitter emitter_;
  int64_t lanes_ = 1, vectors_ = 0, tail_ = 0, padded_ = 0;  // channels as full vectors, then `tail_` more
  int tail_width_ = 0;
  int64_t row_step_ = 0, pixel_step_ = 0, image_step_ = 0;
  int64_t first_inner_ = 0, inner_end_ = 0;  // pixels all of whose taps are inside
  RowTiling tiling_;
  int64_t heights_ = 1, tiles_per_strip_ = 1, strips_ = 1;
};

void Writer::plan() {
  lanes_ = target_.vector_lanes();
  vectors_ = s_.in_channels / lanes_;
  tail_ = s_.in_channels % lanes_;
  tail_width_ = tail_ > 0 ? split_lanes(tail_, static_cast<int>(lanes_)).back() : 0;
  padded_ = vectors_ * lanes_ + tail_width_;
  pixel_step_ = s_.in_channels;
  row_step_ = s_.in_width * pixel_step_;
  image_step_ = s_.in_height * row_step_;
  first_inner_ = std::min(s_.out_width, ceil_div(s_.pad_left, s_.stride_w));
  const int64_t last_start = s_.in_width - 1 - (s_.kernel_w - 1) * s_.dilation_w + s_.pad_left;
  inner_end_ = last_start < 0 ? 0 : std::min(s_.out_width, last_start / s_.stride_w + 1);
  inner_end_ = std::max(inner_end_, first_inner_);
  if (inner_end_ > first_inner_)
    tiling_ =
        split_rows(inner_end_ - first_inner_, std::get<DepthwiseSchedule>(implementation_.schedule).pixels);
  else
    tiling_ = {1, 0, 0};
  // A strip of the rows that one row of the result needs stays in half of L2.
  const double row_bytes = 4.0 * ((s_.kernel_h - 1) * s_.dilation_h + s_.stride_h) * row_step_;
  strips_ = std::clamp<int64_t>(static_cast<int64_t>(row_bytes / (target_.l2_bytes / 2.0)) + 1, 1,
                                std::max<int64_t>(1, tiling_.tiles()));
  tiles_per_strip_ = std::max<int64_t>(1, ceil_div(tiling_.tiles(), strips_));
  strips_ = std::max<int64_t>(1, ceil_div(tiling_.tiles(), tiles_per_strip_));
  const double bytes = implementation_.bytes;
  const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(bytes / kSliceBytes), target_.threads,
                                             target_.threads * kSlicesPerWorker);
  const int64_t blocks = std::clamp<int64_t>(ceil_div(wanted, s_.images * strips_), 1, s_.out_height);
  heights_ = ceil_div(s_.out_height, blocks);
}

std::string Writer::load(const Index& channel, int width, int64_t valid, const Index& iy, const Index& ix,
                         const std::string& pointer, const std::string& name) {
  if (valid == width) return fmt::format("const v{0} {1}=*(const v{0}u*)({2});", width, name, pointer);
  tile::Block block{
      .vector_variable = "l", .lanes = width, .count = std::to_string(valid), .code = "", .indent = "  "};
  const std::string vector =
      emitter_.emit(p_.data, coords(Index::variable("image", s_.images), channel, iy, ix), block);
  return block.code + fmt::format("const v{} {}={};", width, name, vector);
}

// Stores the outputs for accumulators c0 .. c[rows-1] of pixels x, x + 1, ...
std::string Writer::finish(int rows, const Index& channel, const Index& x, int width, int64_t valid) {
  std::string text;
  for (int r = 0; r < rows; ++r) {
    tile::Block block = tile::vector_block("l", width, valid);
    const Index image = Index::variable("image", s_.images), y = Index::variable("y", s_.out_height);
    emit_outputs(p_, implementation_, target_, emitter_, coords(image, channel, y, x + r),
                 fmt::format("c{}", r), block);
    text += fmt::format("{{{}}}\n", block.code);
  }
  return text;
}

std::string Writer::tile_body(int rows, const Index& channel, int width, int64_t valid,
                              const std::string& block) {
  std::string text = fmt::format(
      "const int64_t l=0;(void)l;const float*px={}+image*{}+iy0*{}+ix0*{}+{}*{};const "
      "float*pw=weights+{}*{};\n",
      argument_name(p_, p_.data), image_step_, row_step_, pixel_step_, block, lanes_, block, lanes_);
  text += prefetch_start();
  for (int r = 0; r < rows; ++r) text += fmt::format("v{} c{}={{}};", width, r);
  text +=
      fmt::format("\nfor(int64_t kh=kh0;kh<kh1;++kh){{const float*row=px+kh*{};const float*wk=pw+kh*{};\n",
                  s_.dilation_h * row_step_, s_.kernel_w * padded_);
  text += prefetch_step(rows);
  for (int64_t k = 0; k < s_.kernel_w; ++k)
    text += fmt::format("const v{0} w{1}=*(const v{0}u*)(wk+{2});", width, k, k * padded_);
  text += "\n";
  const int64_t last_tap = (rows - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w;
  for (int64_t j = 0; j <= last_tap; ++j) {
    std::string uses;
    for (int r = 0; r < rows; ++r) {
      const int64_t distance = j - r * s_.stride_w;
      if (distance < 0 || distance % s_.dilation_w != 0 || distance / s_.dilation_w >= s_.kernel_w) continue;
      uses += fmt::format("c{}+=x*w{};", r, distance / s_.dilation_w);
    }
    if (uses.empty()) continue;
    const Index iy = Index::variable("iy", s_.in_height);
    const Index ix = Index::variable("ix0", 0, s_.in_width - 1 - last_tap) + j;
    const std::string set = load(channel, width, valid, iy, ix, fmt::format("row+{}", j * pixel_step_), "x");
    text += fmt::format(
        "{{{}{}{}}}\n",
        valid < width ? fmt::format("const int64_t iy=iy0+kh*{};(void)iy;", s_.dilation_h) : "", set, uses);
  }
  text += "}\n";
  const Index first_pixel = Index::variable("x", first_inner_, inner_end_ - rows);
  return text + finish(rows, channel, first_pixel, width, valid);
}

// Channels `block` of the rows that the next row of the result adds, under this tile, a few pixels with every
// row of taps: accesses strided over many rows are beyond the hardware's prefetching. Only for inputs from
// beyond L2.
std::string Writer::prefetch_start() const {
  if (4 * image_step_ <= target_.l2_bytes) return "";
  const int64_t first = (s_.kernel_h - 1) * s_.dilation_h + 1;
  std::string text;
  for (int64_t r = 0; r < s_.stride_h; ++r)
    text += fmt::format("const float*next{0}=px+(iy0+{1}<{2}?{3}:0);", r, first + r, s_.in_height,
                        (first + r) * row_step_);
  return text + "\n";
}

std::string Writer::prefetch_step(int rows) const {
  if (4 * image_step_ <= target_.l2_bytes) return "";
  const int64_t pixels = ceil_div(rows * s_.stride_w, s_.kernel_h);
  std::string text;
  for (int64_t r = 0; r < s_.stride_h; ++r) {
    for (int64_t j = 0; j < pixels; ++j)
      text += fmt::format("__builtin_prefetch(next{}+{});", r, j * pixel_step_);
    text += fmt::format("next{}+={};\n", r, pixels * pixel_step_);
  }
  return text;
}

std::string Writer::border_body(const Index& channel, int width, int64_t valid, const std::string& block) {
  std::string text = fmt::format("const int64_t l=0;(void)l;v{} c0={{}};\n", width);
  text += fmt::format(
      "for(int64_t kh=kh0;kh<kh1;++kh)for(int64_t kw=0;kw<{};++kw){{"
      "const int64_t iy=iy0+kh*{},ix=ix0+kw*{};if(ix<0||ix>={})continue;\n",
      s_.kernel_w, s_.dilation_h, s_.dilation_w, s_.in_width);
  const std::string pointer = fmt::format("{}+image*{}+iy*{}+ix*{}+{}*{}", argument_name(p_, p_.data),
                                          image_step_, row_step_, pixel_step_, block, lanes_);
  text += load(channel, width, valid, Index::variable("iy", s_.in_height), Index::variable("ix", s_.in_width),
               pointer, "x");
  text += fmt::format("c0+=x**(const v{}u*)(weights+(kh*{}+kw)*{}+{}*{});}}\n", width, s_.kernel_w, padded_,
                      block, lanes_);
  return text + finish(1, channel, Index::variable("x", s_.out_width), width, valid);
}

std::string Writer::pixel_function(int rows, bool border) {
  std::string text = fmt::format(
      "static __attribute__((noinline)) int32_t {}(const korch_kernel_context*context,const "
      "float*weights,int64_t image,"
      "int64_t y,int64_t x,int64_t kh0,int64_t kh1){{\n{}const int64_t "
      "iy0=y*{}-{},ix0=x*{}-{};(void)ix0;(void)iy0;\n",
      border ? "border" : fmt::format("pixels{}", rows), emitter_.argument_declarations(), s_.stride_h,
      s_.pad_top, s_.stride_w, s_.pad_left);
  auto body = [&](const Index& channel, int width, int64_t valid, const std::string& block) {
    return border ? border_body(channel, width, valid, block) : tile_body(rows, channel, width, valid, block);
  };
  const int lanes = static_cast<int>(lanes_);
  if (vectors_ > 0)
    text += fmt::format("for(int64_t block=0;block<{};++block){{\n{}}}\n", vectors_,
                        body(Index::variable("block", vectors_) * lanes_ + Index::variable("l", lanes_),
                             lanes, lanes, "block"));
  if (tail_ > 0)
    text += fmt::format("{{{}}}\n", body(Index::variable("l", tail_width_) + vectors_ * lanes_, tail_width_,
                                         tail_, std::to_string(vectors_)));
  return text + "return 0;}\n";
}

std::string Writer::slices() {
  const int64_t height_blocks = ceil_div(s_.out_height, heights_);
  std::string text = fmt::format(
      "extern \"C\" int32_t korch_depthwise(const korch_kernel_context*context,int64_t begin,int64_t "
      "end){{\n{}"
      "const float*weights={};int32_t status=0;\n"
      "for(int64_t s=begin;s<end;++s){{const int64_t strip=s%{},hb=s/{}%{},image=s/{};\n",
      emitter_.argument_declarations(), argument_name(p_, p_.weight), strips_, strips_, height_blocks,
      strips_ * height_blocks);
  text += fmt::format("for(int64_t y=hb*{0};y<hb*{0}+{0}&&y<{1};++y){{\n", heights_, s_.out_height);
  text += fmt::format(
      "int64_t kh0=0,kh1={0};const int64_t iy0=y*{1}-{2};while(kh0<kh1&&iy0+kh0*{3}<0)++kh0;"
      "while(kh1>kh0&&iy0+(kh1-1)*{3}>={4})--kh1;\n",
      s_.kernel_h, s_.stride_h, s_.pad_top, s_.dilation_h, s_.in_height);
  auto border = [&](int64_t from, int64_t to, const std::string& when) {
    if (from < to)
      text +=
          fmt::format("if({})for(int64_t x={};x<{};++x)status|=border(context,weights,image,y,x,kh0,kh1);\n",
                      when, from, to);
  };
  border(0, first_inner_, "strip==0");
  text += fmt::format("const int64_t t0=strip*{0},t1=t0+{0}<{1}?t0+{0}:{1};(void)t0;(void)t1;\n",
                      tiles_per_strip_, tiling_.tiles());
  if (tiling_.long_tiles > 0)
    text += fmt::format(
        "for(int64_t "
        "t=t0;t<(t1<{0}?t1:{0});++t)status|=pixels{1}(context,weights,image,y,{2}+t*{1},kh0,kh1);\n",
        tiling_.long_tiles, tiling_.rows, first_inner_);
  if (tiling_.short_tiles > 0)
    text += fmt::format(
        "for(int64_t "
        "t=(t0>{0}?t0:{0});t<t1;++t)status|=pixels{1}(context,weights,image,y,{2}+t*{1}+{0},kh0,kh1);\n",
        tiling_.long_tiles, tiling_.rows - 1, first_inner_);
  border(inner_end_, s_.out_width, fmt::format("strip=={}", strips_ - 1));
  return text + fmt::format("}}}}\n{}return status;}}\n", fence_text(p_, target_));
}

Result<Kernel> Writer::write() {
  plan();
  emitter_.provide(p_.value, [](const std::vector<Index>&) { return std::string("c0"); });
  for (ValueId output : p_.candidate->outputs)
    if (const std::string obstacle = emitter_.obstacle(output); !obstacle.empty())
      return Refusal{RefusalReason::no_kernel_family, obstacle};
  std::string body;
  if (first_inner_ > 0 || inner_end_ < s_.out_width) body += pixel_function(1, true);
  if (tiling_.long_tiles > 0) body += pixel_function(tiling_.rows, false);
  if (tiling_.short_tiles > 0) body += pixel_function(tiling_.rows - 1, false);
  body += slices();
  Kernel kernel;
  kernel.source = emitter_.preamble({4, static_cast<int>(lanes_)}) + source_prelude() + body;
  kernel.phases.push_back({"korch_depthwise", s_.images * strips_ * ceil_div(s_.out_height, heights_), 1});
  kernel.constant_packing = emitter_.constant_packing();
  for (size_t i = 0; i < p_.candidate->constants.size(); ++i)
    if (p_.candidate->constants[i] == p_.weight) kernel.constant_packing[i] = {"depthwise", {padded_}};
  kernel.flops = implementation_.flops;
  kernel.bytes = implementation_.bytes;
  return kernel;
}

}  // namespace

void list_depthwise(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy,
                    std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<Problem> problem = depthwise_problem(graph, candidate);
  if (!problem.ok()) {
    refused.push_back(problem.refusal());
    return;
  }
  Implementation implementation =
      with_layouts(problem.value(), "depthwise", Order::channels_last, Order::channels_last);
  implementation.flops = problem.value().inner_flops;
  implementation.schedule = DepthwiseSchedule{target.vector_registers() == 32 ? 8 : 4};
  found.push_back(implementation);
}

Result<Kernel> generate_depthwise(const Graph& graph, const Candidate& candidate,
                                  const Implementation& implementation, const Target& target) {
  const Result<Problem> problem = depthwise_problem(graph, candidate);
  if (!problem.ok()) return problem.refusal();
  return Writer(problem.value(), implementation, target).write();
}

}  // namespace korch
