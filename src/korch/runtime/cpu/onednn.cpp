#include "korch/runtime/cpu/onednn.h"

#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

#include <new>

#include "korch/base/usable_cpus.h"
#include "korch/runtime/library.h"

// From libgomp, which libdnnl brings along; sets the calling thread's own limit.
extern "C" void omp_set_num_threads(int) __attribute__((weak));
extern "C" int omp_get_max_threads() __attribute__((weak));

namespace korch::rt {
namespace {

constexpr int kMostPostOps = 8;
constexpr int kMostVariants = 8;
constexpr int kMostArgs = 8 + kMostPostOps;

// The library's calls of this thread use it alone while this lives; the thread may be somebody else's, who
// gets it back as it was.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads != nullptr ? omp_get_max_threads() : 1) { set(1); }
  ~OneThread() { set(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  static void set(int threads) {
    if (omp_set_num_threads != nullptr) omp_set_num_threads(threads);
  }
  const int before_;
};

// Without memory the library returns a status or throws: from here on it always throws.
bool ok(dnnl_status_t status) {
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  return status == dnnl_success;
}

template <typename Handle, dnnl_status_t (*destroy)(Handle)>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  ~Owner() {
    if (handle_ != nullptr) destroy(handle_);
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  operator Handle() const { return handle_; }
  Handle* receive() { return &handle_; }
  Handle release() {
    const Handle handle = handle_;
    handle_ = nullptr;
    return handle;
  }

 private:
  Handle handle_ = nullptr;
};
using Attributes = Owner<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using PostOps = Owner<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using PrimitiveDesc = Owner<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using Primitive = Owner<dnnl_primitive_t, dnnl_primitive_destroy>;
using Engine = Owner<dnnl_engine_t, dnnl_engine_destroy>;
using Stream = Owner<dnnl_stream_t, dnnl_stream_destroy>;
using Memory = Owner<dnnl_memory_t, dnnl_memory_destroy>;

// A call as it came in.
struct Request {
  OnednnCall call;
  OnednnPostOp post_ops[kMostPostOps];
  const float* floats;
};

bool read_request(const int64_t* params, uint32_t count, const float* floats, Request* request) {
  if (count < kOnednnCallFields) return false;
  memcpy(&request->call, params, sizeof(OnednnCall));
  const OnednnCall& c = request->call;
  if (c.post_ops < 0 || c.post_ops > kMostPostOps ||
      count != kOnednnCallFields + c.post_ops * kOnednnPostOpFields)
    return false;
  memcpy(request->post_ops, params + kOnednnCallFields, c.post_ops * sizeof(OnednnPostOp));
  request->floats = floats;
  return c.rows_per_slice > 0 && c.channels_per_slice > 0 && c.out_channels % c.channels_per_slice == 0;
}

// One slice of a convolution or product: result rows, the input rows they read, and the padding that is left.
struct SliceShape {
  int64_t rows, in_rows, pad_top, pad_bottom;
  bool operator==(const SliceShape& o) const {
    return rows == o.rows && in_rows == o.in_rows && pad_top == o.pad_top && pad_bottom == o.pad_bottom;
  }
};

int64_t row_slices(const OnednnCall& c) {
  return (c.out_height + c.rows_per_slice - 1) / c.rows_per_slice;
}

SliceShape slice_shape(const OnednnCall& c, int64_t slice, int64_t* first_in_row) {
  const int64_t y0 = slice * c.rows_per_slice;
  const int64_t y1 = y0 + c.rows_per_slice < c.out_height ? y0 + c.rows_per_slice : c.out_height;
  if (c.matmul) {
    *first_in_row = y0;
    return {y1 - y0, y1 - y0, 0, 0};
  }
  const int64_t from = y0 * c.stride_h - c.pad_top;
  const int64_t to = (y1 - 1) * c.stride_h - c.pad_top + (c.kernel_h - 1) * c.dilation_h + 1;
  const int64_t low = from < 0 ? 0 : from, high = to > c.in_height ? c.in_height : to;
  *first_in_row = low;
  return {y1 - y0, high - low, low - from, to - high};
}

dnnl_format_tag_t activation_tag(const OnednnCall& c) {
  return c.order == static_cast<int64_t>(OnednnOrder::channels_last) ? dnnl_nhwc : dnnl_nChw16c;
}

bool describe_conv(const OnednnCall& c, const SliceShape& s, const dnnl_memory_desc_t* weights,
                   dnnl_convolution_desc_t* desc) {
  const dnnl_dims_t src_dims = {1, c.in_channels, s.in_rows, c.in_width};
  const dnnl_dims_t dst_dims = {1, c.channels_per_slice, s.rows, c.out_width};
  const dnnl_dims_t plain_dims = {c.channels_per_slice, c.in_channels, c.kernel_h, c.kernel_w};
  const dnnl_dims_t group_dims = {c.group, c.channels_per_slice / c.group, c.in_channels / c.group,
                                  c.kernel_h, c.kernel_w};
  const dnnl_dims_t bias_dims = {c.channels_per_slice};
  const dnnl_dims_t strides = {c.stride_h, c.stride_w}, dilations = {c.dilation_h - 1, c.dilation_w - 1};
  const int64_t right =
      (c.out_width - 1) * c.stride_w - c.pad_left + (c.kernel_w - 1) * c.dilation_w + 1 - c.in_width;
  const dnnl_dims_t low = {s.pad_top, c.pad_left}, high = {s.pad_bottom, right};
  dnnl_memory_desc_t src, dst, any, bias;
  if (!ok(dnnl_memory_desc_init_by_tag(&src, 4, src_dims, dnnl_f32, activation_tag(c)))) return false;
  if (!ok(dnnl_memory_desc_init_by_tag(&dst, 4, dst_dims, dnnl_f32, activation_tag(c)))) return false;
  if (!ok(dnnl_memory_desc_init_by_tag(&bias, 1, bias_dims, dnnl_f32, dnnl_a))) return false;
  if (!ok(dnnl_memory_desc_init_by_tag(&any, c.group > 1 ? 5 : 4, c.group > 1 ? group_dims : plain_dims,
                                       dnnl_f32, dnnl_format_tag_any)))
    return false;
  return ok(dnnl_dilated_convolution_forward_desc_init(
      desc, dnnl_forward_inference, c.winograd ? dnnl_convolution_winograd : dnnl_convolution_direct, &src,
      weights != nullptr ? weights : &any, c.bias_arg >= 0 ? &bias : nullptr, &dst, strides, dilations, low,
      high));
}

bool describe_matmul(const OnednnCall& c, const SliceShape& s, const dnnl_memory_desc_t* weights,
                     bool any_weights, dnnl_matmul_desc_t* desc) {
  const dnnl_dims_t src_dims = {s.rows, c.in_channels}, weight_dims = {c.in_channels, c.out_channels};
  const dnnl_dims_t dst_dims = {s.rows, c.out_channels}, bias_dims = {1, c.out_channels};
  const dnnl_dims_t src_strides = {c.transpose_a ? 1 : c.in_channels, c.transpose_a ? c.out_height : 1};
  const dnnl_dims_t weight_strides = {c.transpose_b ? 1 : c.out_channels, c.transpose_b ? c.in_channels : 1};
  dnnl_memory_desc_t src, dst, own, bias;
  if (!ok(dnnl_memory_desc_init_by_strides(&src, 2, src_dims, dnnl_f32, src_strides))) return false;
  if (!ok(dnnl_memory_desc_init_by_tag(&dst, 2, dst_dims, dnnl_f32, dnnl_ab))) return false;
  if (!ok(dnnl_memory_desc_init_by_tag(&bias, 2, bias_dims, dnnl_f32, dnnl_ab))) return false;
  if (!ok(any_weights ? dnnl_memory_desc_init_by_tag(&own, 2, weight_dims, dnnl_f32, dnnl_format_tag_any)
                      : dnnl_memory_desc_init_by_strides(&own, 2, weight_dims, dnnl_f32, weight_strides)))
    return false;
  return ok(dnnl_matmul_desc_init(desc, &src, weights != nullptr ? weights : &own,
                                  c.bias_arg >= 0 ? &bias : nullptr, &dst));
}

bool append_post_op(dnnl_post_ops_t ops, const Request& r, const SliceShape& s, int64_t i) {
  const float alpha = r.floats[2 * i], beta = r.floats[2 * i + 1];
  auto eltwise = [&](dnnl_alg_kind_t kind) {
    return ok(dnnl_post_ops_append_eltwise(ops, 1.f, kind, alpha, beta));
  };
  switch (static_cast<OnednnPostOpKind>(r.post_ops[i].kind)) {
    case OnednnPostOpKind::relu:
      return eltwise(dnnl_eltwise_relu);
    case OnednnPostOpKind::elu:
      return eltwise(dnnl_eltwise_elu);
    case OnednnPostOpKind::sigmoid:
      return eltwise(dnnl_eltwise_logistic);
    case OnednnPostOpKind::tanh:
      return eltwise(dnnl_eltwise_tanh);
    case OnednnPostOpKind::swish:
      return eltwise(dnnl_eltwise_swish);
    case OnednnPostOpKind::mish:
      return eltwise(dnnl_eltwise_mish);
    case OnednnPostOpKind::hardswish:
      return eltwise(dnnl_eltwise_hardswish);
    case OnednnPostOpKind::add:
      break;
  }
  const OnednnCall& c = r.call;
  dnnl_memory_desc_t other;
  const dnnl_dims_t image = {1, c.channels_per_slice, s.rows, c.out_width}, matrix = {s.rows, c.out_channels};
  if (!ok(c.matmul ? dnnl_memory_desc_init_by_tag(&other, 2, matrix, dnnl_f32, dnnl_ab)
                   : dnnl_memory_desc_init_by_tag(&other, 4, image, dnnl_f32, activation_tag(c))))
    return false;
  return ok(dnnl_post_ops_append_binary(ops, dnnl_binary_add, &other));
}

// Reference code is slow. A convolution's residual is added rightly by the library's own loops ("jit:avx2",
// "jit_1x1:avx512_core", ...) alone: "x64:gemm:jit" and "brgconv:avx512_core" take some of it from elsewhere;
// and what "x64:gemm:jit" applies to the result loses a NaN (docs/design/codegen-linear.md).
bool is_trusted(const Request& r, const char* implementation) {
  if (strncmp(implementation, "ref", 3) == 0) return false;
  if (r.call.matmul) return true;
  bool residual = false;
  for (int64_t i = 0; i < r.call.post_ops; ++i)
    residual = residual || r.post_ops[i].kind == static_cast<int64_t>(OnednnPostOpKind::add);
  if (r.call.post_ops > 0 && strstr(implementation, "gemm") != nullptr) return false;
  return !residual || strncmp(implementation, "jit", 3) == 0;
}

// The primitive descriptor of a slice; null when refused. `weights` null: the library may choose (or plain,
// when they are not packed).
dnnl_primitive_desc_t describe(const Request& r, const SliceShape& s, const dnnl_memory_desc_t* weights,
                               bool packed, dnnl_engine_t engine) {
  Attributes attr;
  PostOps ops;
  bool good = ok(dnnl_primitive_attr_create(attr.receive())) && ok(dnnl_post_ops_create(ops.receive())) &&
              ok(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user));
  for (int64_t i = 0; good && i < r.call.post_ops; ++i) good = append_post_op(ops, r, s, i);
  good = good && ok(dnnl_primitive_attr_set_post_ops(attr, ops));
  PrimitiveDesc result;
  if (good && r.call.matmul) {
    dnnl_matmul_desc_t desc;
    good = describe_matmul(r.call, s, weights, packed, &desc) &&
           ok(dnnl_primitive_desc_create(result.receive(), &desc, attr, engine, nullptr));
  } else if (good) {
    dnnl_convolution_desc_t desc;
    good = describe_conv(r.call, s, weights, &desc) &&
           ok(dnnl_primitive_desc_create(result.receive(), &desc, attr, engine, nullptr));
  }
  const char* implementation = nullptr;
  if (result != nullptr &&
      (!ok(dnnl_primitive_desc_query(result, dnnl_query_impl_info_str, 0, &implementation)) ||
       !is_trusted(r, implementation)))
    return nullptr;
  return result.release();
}

// The slice whose preferred weight order all slices use: one without padding where there is one.
SliceShape leading_slice(const OnednnCall& c) {
  int64_t first = 0;
  return slice_shape(c, row_slices(c) > 2 ? 1 : 0, &first);
}

struct Worker {
  dnnl_stream_t stream;
  dnnl_memory_t memories[kMostVariants][kMostArgs];
};

struct State {
  Request request;
  float floats[2 * kMostPostOps];
  dnnl_engine_t engine;
  int variants;
  SliceShape shapes[kMostVariants];
  dnnl_primitive_desc_t descs[kMostVariants];
  dnnl_primitive_t primitives[kMostVariants];
  Worker* workers[kMostWorkers];
};

void destroy(void* pointer) {
  auto* state = static_cast<State*>(pointer);
  if (state == nullptr) return;
  for (Worker* worker : state->workers) {
    if (worker == nullptr) continue;
    for (auto& memories : worker->memories)
      for (dnnl_memory_t memory : memories)
        if (memory != nullptr) dnnl_memory_destroy(memory);
    if (worker->stream != nullptr) dnnl_stream_destroy(worker->stream);
    free(worker);
  }
  for (int v = 0; v < state->variants; ++v) {
    if (state->primitives[v] != nullptr) dnnl_primitive_destroy(state->primitives[v]);
    if (state->descs[v] != nullptr) dnnl_primitive_desc_destroy(state->descs[v]);
  }
  if (state->engine != nullptr) dnnl_engine_destroy(state->engine);
  free(state);
}

bool add_variant(State* state, const SliceShape& shape, const dnnl_memory_desc_t* weights) {
  for (int v = 0; v < state->variants; ++v)
    if (state->shapes[v] == shape) return true;
  if (state->variants == kMostVariants) return false;
  const int v = state->variants++;
  state->shapes[v] = shape;
  state->descs[v] =
      describe(state->request, shape, weights, state->request.call.weight_bytes > 0, state->engine);
  return state->descs[v] != nullptr && ok(dnnl_primitive_create(&state->primitives[v], state->descs[v]));
}

bool prepare(State* state, uint64_t* scratch_bytes) {
  const OnednnCall& c = state->request.call;
  if (c.version != onednn_version() || c.isa != onednn_isa() ||
      !ok(dnnl_engine_create(&state->engine, dnnl_cpu, 0)))
    return false;
  if (!add_variant(state, leading_slice(c), nullptr)) return false;
  const dnnl_memory_desc_t* weights = dnnl_primitive_desc_query_md(state->descs[0], dnnl_query_weights_md, 0);
  if (c.weight_bytes > 0 && dnnl_memory_desc_get_size(weights) != static_cast<size_t>(c.weight_bytes))
    return false;
  for (int64_t slice = 0; slice < row_slices(c); ++slice) {
    int64_t first = 0;
    if (!add_variant(state, slice_shape(c, slice, &first), weights)) return false;
  }
  *scratch_bytes = 0;
  for (int v = 0; v < state->variants; ++v) {
    const uint64_t bytes =
        dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(state->descs[v], dnnl_query_scratchpad_md, 0));
    if (bytes > *scratch_bytes) *scratch_bytes = bytes;
  }
  return true;
}

void* create(const int64_t* params, uint32_t param_count, const float* floats, uint32_t float_count,
             uint64_t* scratch_bytes, int32_t* code) {
  *code = KORCH_KERNEL_OUT_OF_MEMORY;
  auto* state = static_cast<State*>(calloc(1, sizeof(State)));
  if (state == nullptr) return nullptr;
  try {
    const OneThread limit;
    const bool good = read_request(params, param_count, floats, &state->request) &&
                      float_count == 2 * static_cast<uint64_t>(state->request.call.post_ops);
    if (good) {
      if (float_count > 0) memcpy(state->floats, floats, float_count * sizeof(float));
      state->request.floats = state->floats;
      *code = KORCH_KERNEL_OK;
      if (prepare(state, scratch_bytes)) return state;
    }
    *code = KORCH_KERNEL_LIBRARY_FAILED;
  } catch (...) {
    *code = KORCH_KERNEL_OUT_OF_MEMORY;
  }
  destroy(state);
  return nullptr;
}

// One execution's arguments: a memory object per worker, variant and position, pointed at this slice's bytes.
class Arguments {
 public:
  Arguments(const State* state, Worker* worker, int variant)
      : state_(state), worker_(worker), variant_(variant) {}

  void add(int index, dnnl_query_t query, int which, const void* data) {
    dnnl_memory_t& memory = worker_->memories[variant_][count_];
    if (memory == nullptr) {
      const dnnl_memory_desc_t* desc = dnnl_primitive_desc_query_md(state_->descs[variant_], query, which);
      good_ = good_ && ok(dnnl_memory_create(&memory, desc, state_->engine, DNNL_MEMORY_NONE));
    }
    good_ = good_ && ok(dnnl_memory_set_data_handle(memory, const_cast<void*>(data)));
    args_[count_++] = {index, memory};
  }
  bool execute() {
    return good_ &&
           ok(dnnl_primitive_execute(state_->primitives[variant_], worker_->stream, count_, args_)) &&
           ok(dnnl_stream_wait(worker_->stream));
  }

 private:
  const State* state_;
  Worker* worker_;
  int variant_;
  int count_ = 0;
  bool good_ = true;
  dnnl_exec_arg_t args_[kMostArgs];
};

// Element offsets of a slice in the data, the result and everything of the result's shape.
struct Offsets {
  int64_t data, result;
};

Offsets offsets(const OnednnCall& c, int64_t image, int64_t row_slice, int64_t channel_slice,
                int64_t first_in_row) {
  const int64_t y0 = row_slice * c.rows_per_slice;
  if (c.matmul)
    return {image * c.out_height * c.in_channels + first_in_row * (c.transpose_a ? 1 : c.in_channels),
            (image * c.out_height + y0) * c.out_channels};
  return {(image * c.in_height + first_in_row) * c.in_width * c.in_channels,
          (image * c.out_height + y0) * c.out_width * c.out_channels +
              channel_slice * c.channels_per_slice * c.out_height * c.out_width};
}

bool run_slice(State* state, Worker* worker, const korch_kernel_context* context, int64_t slice) {
  const OnednnCall& c = state->request.call;
  const int64_t channel_slices = c.out_channels / c.channels_per_slice;
  const int64_t channel_slice = slice % channel_slices, row_slice = slice / channel_slices % row_slices(c),
                image = slice / (channel_slices * row_slices(c));
  int64_t first_in_row = 0;
  const SliceShape shape = slice_shape(c, row_slice, &first_in_row);
  int variant = 0;
  while (!(state->shapes[variant] == shape)) ++variant;
  const Offsets at = offsets(c, image, row_slice, channel_slice, first_in_row);
  const auto* weights = static_cast<const char*>(context->args[c.weight_arg]);
  const int64_t matrix_bytes = c.in_channels * c.out_channels * static_cast<int64_t>(sizeof(float));
  weights += c.weight_bytes > 0 ? channel_slice * c.weight_bytes
                                : (c.weight_matrices > 1 ? image * matrix_bytes : 0);
  auto floats = [&](int64_t arg, int64_t offset) {
    return static_cast<const float*>(context->args[arg]) + offset;
  };

  Arguments args(state, worker, variant);
  args.add(DNNL_ARG_SRC, dnnl_query_src_md, 0, floats(c.data_arg, at.data));
  args.add(DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0, weights);
  args.add(DNNL_ARG_DST, dnnl_query_dst_md, 0, floats(c.result_arg, at.result));
  args.add(DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md, 0, context->scratch);
  if (c.bias_arg >= 0)
    args.add(DNNL_ARG_BIAS, dnnl_query_weights_md, 1,
             floats(c.bias_arg, channel_slice * c.channels_per_slice));
  for (int64_t i = 0; i < c.post_ops; ++i)
    if (state->request.post_ops[i].kind == static_cast<int64_t>(OnednnPostOpKind::add))
      args.add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1, dnnl_query_dst_md, 0,
               floats(state->request.post_ops[i].arg, at.result));
  return args.execute();
}

Worker* worker_of(State* state, int32_t number) {
  if (number < 0 || number >= kMostWorkers) return nullptr;
  Worker*& worker = state->workers[number];  // each worker touches its own
  if (worker == nullptr) {
    worker = static_cast<Worker*>(calloc(1, sizeof(Worker)));
    if (worker == nullptr) throw std::bad_alloc();
  }
  if (worker->stream == nullptr &&
      !ok(dnnl_stream_create(&worker->stream, state->engine, dnnl_stream_default_flags)))
    return nullptr;
  return worker;
}

}  // namespace

int64_t onednn_slices(const OnednnCall& call) {
  return call.images * row_slices(call) * (call.out_channels / call.channels_per_slice);
}

int64_t onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return version->major * 10000 + version->minor * 100 + version->patch;
}

int64_t onednn_isa() {
  return static_cast<int64_t>(dnnl_get_effective_cpu_isa());
}

bool onednn_makes(const int64_t* params, uint32_t param_count, const float* floats, int64_t* weight_bytes) {
  const OneThread limit;
  Request request;
  Engine engine;
  if (!read_request(params, param_count, floats, &request) ||
      !ok(dnnl_engine_create(engine.receive(), dnnl_cpu, 0)))
    return false;
  const OnednnCall& c = request.call;
  const bool packed = *weight_bytes > 0;
  SliceShape asked[kMostVariants] = {leading_slice(c)};
  int count = 1;
  const PrimitiveDesc leading(describe(request, asked[0], nullptr, packed, engine));
  if (leading == nullptr) return false;
  const dnnl_memory_desc_t* weights = dnnl_primitive_desc_query_md(leading, dnnl_query_weights_md, 0);
  if (packed) *weight_bytes = static_cast<int64_t>(dnnl_memory_desc_get_size(weights));
  for (int64_t slice = 0; slice < row_slices(c); ++slice) {
    int64_t first = 0;
    const SliceShape shape = slice_shape(c, slice, &first);
    bool known = false;
    for (int v = 0; v < count; ++v) known = known || asked[v] == shape;
    if (known) continue;
    if (count == kMostVariants) return false;
    asked[count++] = shape;
    if (PrimitiveDesc(describe(request, shape, weights, packed, engine)) == nullptr) return false;
  }
  return true;
}

bool onednn_pack_weights(const int64_t* params, uint32_t param_count, const float* floats,
                         const float* weights, void* packed) {
  const OneThread limit;
  Request request;
  if (!read_request(params, param_count, floats, &request)) return false;
  const OnednnCall& c = request.call;
  Engine engine;
  Stream stream;
  if (!ok(dnnl_engine_create(engine.receive(), dnnl_cpu, 0)) ||
      !ok(dnnl_stream_create(stream.receive(), engine, dnnl_stream_default_flags)))
    return false;
  const PrimitiveDesc desc(describe(request, leading_slice(c), nullptr, true, engine));
  if (desc == nullptr) return false;
  dnnl_memory_desc_t plain;
  const dnnl_dims_t conv = {c.channels_per_slice, c.in_channels, c.kernel_h, c.kernel_w};
  const dnnl_dims_t grouped = {c.group, c.channels_per_slice / c.group, c.in_channels / c.group, c.kernel_h,
                               c.kernel_w};
  const dnnl_dims_t matrix = {c.in_channels, c.out_channels};
  const dnnl_dims_t matrix_strides = {c.transpose_b ? 1 : c.out_channels, c.transpose_b ? c.in_channels : 1};
  if (!ok(c.matmul      ? dnnl_memory_desc_init_by_strides(&plain, 2, matrix, dnnl_f32, matrix_strides)
          : c.group > 1 ? dnnl_memory_desc_init_by_tag(&plain, 5, grouped, dnnl_f32, dnnl_goihw)
                        : dnnl_memory_desc_init_by_tag(&plain, 4, conv, dnnl_f32, dnnl_oihw)))
    return false;
  const dnnl_memory_desc_t* wanted = dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
  Memory from, to;
  PrimitiveDesc reorder_desc;
  Primitive reorder;
  if (!ok(dnnl_memory_create(from.receive(), &plain, engine, const_cast<float*>(weights))) ||
      !ok(dnnl_memory_create(to.receive(), wanted, engine, packed)) ||
      !ok(dnnl_reorder_primitive_desc_create(reorder_desc.receive(), &plain, engine, wanted, engine,
                                             nullptr)) ||
      !ok(dnnl_primitive_create(reorder.receive(), reorder_desc)))
    return false;
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  return ok(dnnl_primitive_execute(reorder, stream, 2, args)) && ok(dnnl_stream_wait(stream));
}

}  // namespace korch::rt

extern "C" {

const korch::rt::LibraryOps korch_onednn_ops = {korch::rt::create, korch::rt::destroy};

int32_t korch_onednn_run(const korch_kernel_context* context, int64_t begin, int64_t end) {
  auto* state = static_cast<korch::rt::State*>(const_cast<void*>(context->state));
  const korch::rt::OneThread limit;
  try {
    korch::rt::Worker* worker = korch::rt::worker_of(state, context->worker);
    if (worker == nullptr) return KORCH_KERNEL_LIBRARY_FAILED;
    for (int64_t slice = begin; slice < end; ++slice)
      if (!korch::rt::run_slice(state, worker, context, slice)) return KORCH_KERNEL_LIBRARY_FAILED;
    return KORCH_KERNEL_OK;
  } catch (...) {
    return KORCH_KERNEL_OUT_OF_MEMORY;
  }
}

}  // extern "C"
