// oneDNN convolutions and matrix products as library calls, each on one thread: slices are handed out by our
// own workers. A call is tied to the library's version and the instruction set that it chose (both are
// parameters), because constant weights are stored in the order that it prefers; anything else is refused at
// creation.
//
// LibraryCall::params are the fields of OnednnCall in order, then those of each OnednnPostOp; floats are
// alpha and beta of each post-op. Fields named *_arg number the step's arguments (runtime/abi.h), -1 for
// none.
#pragma once

#include "korch/runtime/abi.h"

namespace korch::rt {

enum class OnednnOrder : int64_t { channels_last, channels_blocked16 };  // of a convolution's activations

struct OnednnCall {
  int64_t version, isa;  // onednn_version(), onednn_isa()
  int64_t matmul;        // 1: result[images][rows][columns], else convolution
  int64_t images;        // batch
  int64_t in_channels;   // matmul: K
  int64_t in_height, in_width;
  int64_t out_channels;           // matmul: columns
  int64_t out_height, out_width;  // matmul: rows, 1
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, group;
  int64_t order;               // OnednnOrder
  int64_t winograd;            // 1: that algorithm, else direct
  int64_t rows_per_slice;      // of out_height; all unless channels_last
  int64_t channels_per_slice;  // of out_channels; all unless channels_blocked16 and one image; divides
                               // out_channels
  int64_t transpose_a, transpose_b;
  int64_t weight_bytes;     // of the packed weights of one channel slice; 0: plain row-major (matmul only)
  int64_t weight_matrices;  // 1, or one per image (matmul)
  int64_t data_arg, weight_arg, bias_arg, result_arg;
  int64_t post_ops;
};
constexpr int kOnednnCallFields = sizeof(OnednnCall) / sizeof(int64_t);

enum class OnednnPostOpKind : int64_t {
  relu,  // leaky
  elu,
  sigmoid,
  tanh,
  swish,
  mish,
  hardswish,
  add
};

struct OnednnPostOp {
  int64_t kind;  // OnednnPostOpKind
  int64_t arg;   // add: the other operand, of the result's shape and order
};
constexpr int kOnednnPostOpFields = sizeof(OnednnPostOp) / sizeof(int64_t);

// Images times row slices times channel slices: the grid of the one phase.
int64_t onednn_slices(const OnednnCall& call);

int64_t onednn_version();  // major * 10000 + minor * 100 + patch
int64_t onednn_isa();      // what it dispatches to on this machine

// Whether the library makes the call, every shape of its slices, by code that is neither its reference nor
// known to be wrong: what is true here is not refused at creation, on the same processor. `weight_bytes` is 0
// for plain weights; else it receives the bytes of one channel slice's weights in the order that the library
// prefers.
bool onednn_makes(const int64_t* params, uint32_t param_count, const float* floats, int64_t* weight_bytes);
// Reorders row-major weights of one channel slice into `packed`; false: it refuses.
bool onednn_pack_weights(const int64_t* params, uint32_t param_count, const float* floats,
                         const float* weights, void* packed);

}  // namespace korch::rt
