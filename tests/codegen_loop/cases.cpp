#include "cases.h"

namespace korch::testing {

const std::vector<Case>& hand_written() {
  static const std::vector<Case> cases = {
      {"chain", R"(graph {
  input %x : f32[3x5x7] "x"
  input %b : f32[7] "b"
  %h = Constant() {value=[0.5]} : f32[1]
  %y = Add(%x, %b)
  %e = Erf(%y)
  %z = Mul(%e, %h)
  output %z "z"
})"},
      {"scalar_output", R"(graph {
  input %x : f32[1] "x"
  %y = Tanh(%x)
  output %y "y"
})"},
      {"long_flat", R"(graph {
  input %x : f32[100003] "x"
  %y = Sigmoid(%x)
  output %y "y"
})"},
      {"channel_bias", R"(graph {
  input %x : f32[2x19x6x5] "x"
  input %b : f32[1x19x1x1] "b"
  %y = Add(%x, %b)
  %z = Relu(%y)
  output %z "z"
})"},
      {"softmax", R"(graph {
  input %x : f32[4x6x37] "x"
  %m = ReduceMax(%x) {axes=[2], keepdims=true}
  %d = Sub(%x, %m)
  %e = Exp(%d)
  %s = ReduceSum(%e) {axes=[2], keepdims=true}
  %y = Div(%e, %s)
  output %y "y"
})"},
      {"gather_of_the_last_axis_by_a_number", R"(graph {
  input %x : f32[3x4] "x"
  input %i : i64[] "i"
  %z = Gather(%x, %i) {axis=1}
  %y = Relu(%z)
  output %y "y"
})"},
      {"elements_of_rows", R"(graph {
  input %x : f32[5x8x37] "x"
  input %i : i32[2x8x37] "i"
  %y = GatherElements(%x, %i) {axis=0}
  output %y "y"
})"},
      {"elements_by_long_indices", R"(graph {
  input %x : f32[7x37] "x"
  input %i : i64[5x43] "i"
  %g = GatherElements(%x, %i) {axis=1}
  %y = Exp(%g)
  output %y "y"
})"},
      // Data, indices and result in lanes; lanes are left over, and rows of the data.
      {"elements_in_lanes", R"(graph {
  input %x : f32[3x9x40] "x"
  input %i : i32[3x7x53] "i"
  input %b : f32[53] "b"
  %g = GatherElements(%x, %i) {axis=2}
  %y = Add(%g, %b)
  output %y "y"
})"},
      {"elements_by_small_indices", R"(graph {
  input %x : f32[4x40] "x"
  input %i : i8[4x53] "i"
  input %j : u16[4x53] "j"
  %g = GatherElements(%x, %i) {axis=1}
  %h = GatherElements(%x, %j) {axis=1}
  %y = Sub(%g, %h)
  output %y "y"
})"},
      {"softmax_of_elements", R"(graph {
  input %x : f32[6x40] "x"
  input %i : i32[1x40] "i"
  input %t : f32[40x6] "t"
  %all = Expand(%i) {shape=[6,40]}
  %g = GatherElements(%x, %all) {axis=1}
  %turned = Transpose(%t) {perm=[1,0]}
  %h = GatherElements(%turned, %all) {axis=1}
  %a = Add(%g, %h)
  %m = ReduceMax(%a) {axes=[1], keepdims=true}
  %d = Sub(%a, %m)
  %e = Exp(%d)
  %s = ReduceSum(%e) {axes=[1], keepdims=true}
  %y = Div(%e, %s)
  output %y "y"
})"},
      {"softmax_of_many_short_rows", R"(graph {
  input %x : f32[33792x4] "x"
  %m = ReduceMax(%x) {axes=[1], keepdims=true}
  %d = Sub(%x, %m)
  %e = Exp(%d)
  %s = ReduceSum(%e) {axes=[1], keepdims=true}
  %y = Div(%e, %s)
  output %y "y"
})"},
      {"softmax_where_rows_are_masked", R"(graph {
  input %x : f32[6x40] "x"
  input %b : bool[6x1] "b"
  %low = Constant() {value=[-10]} : f32[1]
  %h = Where(%b, %x, %low)
  %m = ReduceMax(%h) {axes=[1], keepdims=true}
  %d = Sub(%h, %m)
  %e = Exp(%d)
  %s = ReduceSum(%e) {axes=[1], keepdims=true}
  %y = Div(%e, %s)
  output %y "y"
})"},
      {"softmax_over_channels", R"(graph {
  input %x : f32[2x21x6x7] "x"
  %m = ReduceMax(%x) {axes=[1], keepdims=true}
  %d = Sub(%x, %m)
  %e = Exp(%d)
  %s = ReduceSum(%e) {axes=[1], keepdims=true}
  %y = Div(%e, %s)
  output %y "y"
})"},
      {"layer_normalization_with_residual", R"(graph {
  input %x : f32[2x9x40] "x"
  input %r : f32[2x9x40] "r"
  input %g : f32[40] "g"
  %n = Constant() {value=[0.025]} : f32[1]
  %eps = Constant() {value=[0.00001]} : f32[1]
  %h = Add(%x, %r)
  %s = ReduceSum(%h) {axes=[2], keepdims=true}
  %m = Mul(%s, %n)
  %d = Sub(%h, %m)
  %q = Mul(%d, %d)
  %qs = ReduceSum(%q) {axes=[2], keepdims=true}
  %v = Mul(%qs, %n)
  %ve = Add(%v, %eps)
  %sd = Sqrt(%ve)
  %i = Reciprocal(%sd)
  %t = Mul(%d, %i)
  %y = Mul(%t, %g)
  output %h "h"
  output %y "y"
})"},
      {"instance_normalization_relu_reflect", R"(graph {
  input %x : f32[2x18x9x11] "x"
  input %g : f32[18x1x1] "g"
  %n = Constant() {value=[0.010101010101]} : f32[1]
  %eps = Constant() {value=[0.00001]} : f32[1]
  %s = ReduceSum(%x) {axes=[2,3], keepdims=true}
  %m = Mul(%s, %n)
  %d = Sub(%x, %m)
  %q = Mul(%d, %d)
  %qs = ReduceSum(%q) {axes=[2,3], keepdims=true}
  %v = Mul(%qs, %n)
  %ve = Add(%v, %eps)
  %sd = Sqrt(%ve)
  %i = Reciprocal(%sd)
  %f = Mul(%i, %g)
  %t = Mul(%d, %f)
  %r = Relu(%t)
  %y = Pad(%r) {before=[0,0,2,3], after=[0,0,1,2], mode=reflect}
  output %y "y"
})"},
      {"group_normalization", R"(graph {
  input %x : f32[2x12x5x5] "x"
  %n = Constant() {value=[0.01]} : f32[1]
  %g = Reshape(%x) {shape=[2,3,100]}
  %s = ReduceSum(%g) {axes=[2], keepdims=true}
  %m = Mul(%s, %n)
  %d = Sub(%g, %m)
  %q = Mul(%d, %d)
  %qs = ReduceSum(%q) {axes=[2], keepdims=true}
  %sd = Sqrt(%qs)
  %y = Div(%d, %sd)
  %o = Reshape(%y) {shape=[2,12,5,5]}
  output %o "o"
})"},
      {"constant_pad", R"(graph {
  input %x : f32[1x3x6x17] "x"
  %y = Pad(%x) {before=[0,0,1,2], after=[0,1,2,1], mode=constant, value=1.5}
  %z = Tanh(%y)
  output %z "z"
})"},
      {"edge_pad", R"(graph {
  input %x : f32[1x3x6x17] "x"
  %y = Pad(%x) {before=[0,0,4,20], after=[0,0,2,9], mode=edge}
  output %y "y"
})"},
      {"transpose_scale", R"(graph {
  input %x : f32[2x35x41] "x"
  %y = Transpose(%x) {perm=[0,2,1]}
  %z = Relu(%y)
  output %z "z"
})"},
      {"transpose_whole_tiles", R"(graph {
  input %x : f32[2x32x64] "x"
  %y = Transpose(%x) {perm=[0,2,1]}
  output %y "y"
})"},
      {"transpose_plus_plain", R"(graph {
  input %x : f32[2x35x41] "x"
  input %w : f32[2x41x35] "w"
  %y = Transpose(%x) {perm=[0,2,1]}
  %z = Add(%y, %w)
  output %z "z"
})"},
      {"split_heads", R"(graph {
  input %x : f32[2x9x48] "x"
  %r = Reshape(%x) {shape=[2,9,3,16]}
  %y = Transpose(%r) {perm=[0,2,1,3]}
  output %y "y"
})"},
      {"window_partition", R"(graph {
  input %x : f32[1x14x14x12] "x"
  %r = Reshape(%x) {shape=[1,2,7,2,7,12]}
  %t = Transpose(%r) {perm=[0,1,3,2,4,5]}
  %y = Reshape(%t) {shape=[4,49,12]}
  output %y "y"
})"},
      {"slice_steps", R"(graph {
  input %x : f32[2x20x40] "x"
  %y = Slice(%x) {starts=[0,19,1], sizes=[2,10,13], steps=[1,-2,3]}
  %z = Neg(%y)
  output %z "z"
})"},
      {"concat_channels", R"(graph {
  input %a : f32[1x3x5x6] "a"
  input %b : f32[1x8x5x6] "b"
  input %c : f32[1x1x5x6] "c"
  %y = Concat(%a, %b, %c) {axis=1}
  %z = Relu(%y)
  output %z "z"
})"},
      {"concat_rows", R"(graph {
  input %a : f32[4x20] "a"
  input %b : f32[4x33] "b"
  %y = Concat(%a, %b) {axis=1}
  output %y "y"
})"},
      {"focus", R"(graph {
  input %x : f32[1x3x12x16] "x"
  %a = Slice(%x) {starts=[0,0,0,0], sizes=[1,3,6,8], steps=[1,1,2,2]}
  %b = Slice(%x) {starts=[0,0,1,0], sizes=[1,3,6,8], steps=[1,1,2,2]}
  %c = Slice(%x) {starts=[0,0,0,1], sizes=[1,3,6,8], steps=[1,1,2,2]}
  %y = Concat(%a, %b, %c) {axis=1}
  output %y "y"
})"},
      {"expand", R"(graph {
  input %x : f32[1x7x1] "x"
  %y = Expand(%x) {shape=[3,7,19]}
  output %y "y"
})"},
      {"max_pool", R"(graph {
  input %x : f32[1x18x11x13] "x"
  %y = WindowMax(%x) {kernel=[3,3], strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], count_include_pad=false}
  output %y "y"
})"},
      {"relu_max_pool_unpadded", R"(graph {
  input %x : f32[1x18x12x34] "x"
  %r = Relu(%x)
  %y = WindowMax(%r) {kernel=[2,2], strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], count_include_pad=false}
  output %y "y"
})"},
      {"large_pools_beside_input", R"(graph {
  input %x : f32[1x20x13x13] "x"
  %a = WindowMax(%x) {kernel=[5,5], strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2], count_include_pad=false}
  %b = WindowMax(%x) {kernel=[13,13], strides=[1,1], dilations=[1,1], pads_before=[6,6], pads_after=[6,6], count_include_pad=false}
  %y = Concat(%a, %b, %x) {axis=1}
  output %y "y"
})"},
      {"nested_pools_joined", R"(graph {
  input %x : f32[1x20x9x11] "x"
  %r = Relu(%x)
  %a = WindowMax(%r) {kernel=[5,5], strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2], count_include_pad=false}
  %b = WindowMax(%a) {kernel=[5,5], strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2], count_include_pad=false}
  %c = WindowMax(%b) {kernel=[5,5], strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2], count_include_pad=false}
  %y = Concat(%r, %a, %b, %c) {axis=1}
  output %y "y"
})"},
      {"unlike_nested_windows", R"(graph {
  input %x : f32[2x18x13x14] "x"
  input %w : f32[3x3x18] "w"
  %a = WindowMax(%x) {kernel=[2,2], strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[1,0], count_include_pad=false}
  %b = Tanh(%a)
  %c = WindowDot(%b, %w) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], count_include_pad=false}
  %d = Mul(%c, %a)
  %y = WindowSum(%d) {kernel=[3,2], strides=[2,1], dilations=[1,2], pads_before=[0,0], pads_after=[0,0], count_include_pad=false}
  output %y "y"
})",
       1e-5},
      {"nested_windows_of_three_axes", R"(graph {
  input %x : f32[1x6x5x6x7] "x"
  %a = WindowMax(%x) {kernel=[3,3,3], strides=[1,1,1], dilations=[1,1,1], pads_before=[1,1,1], pads_after=[1,1,1], count_include_pad=false}
  %y = WindowMax(%a) {kernel=[3,3,3], strides=[2,2,2], dilations=[1,1,1], pads_before=[1,1,1], pads_after=[1,1,1], count_include_pad=false}
  output %y "y"
})"},
      {"window_of_long_rows", R"(graph {
  input %x : f32[1x3x4x620] "x"
  %y = WindowMax(%x) {kernel=[2,300], strides=[1,1], dilations=[1,2], pads_before=[0,7], pads_after=[0,3], count_include_pad=false}
  output %y "y"
})"},
      {"depthwise_window", R"(graph {
  input %x : f32[2x20x9x11] "x"
  input %w : f32[3x2x20] "w"
  %r = Relu(%x)
  %y = WindowDot(%r, %w) {kernel=[3,2], strides=[2,1], dilations=[1,2], pads_before=[1,0], pads_after=[0,1], count_include_pad=false}
  output %y "y"
})"},
      {"average_pool", R"(graph {
  input %x : f32[2x5x9x33] "x"
  %k = Constant() {value=[0.111111111]} : f32[1]
  %s = WindowSum(%x) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], count_include_pad=true}
  %y = Mul(%s, %k)
  output %y "y"
})"},
      {"global_average_pool", R"(graph {
  input %x : f32[1x70x7x7] "x"
  %k = Constant() {value=[0.020408163]} : f32[1]
  %s = ReduceSum(%x) {axes=[2,3], keepdims=true}
  %y = Mul(%s, %k)
  output %y "y"
})"},
      {"squeeze_excite", R"(graph {
  input %x : f32[1x40x6x6] "x"
  input %g : f32[1x40x1x1] "g"
  %s = Sigmoid(%g)
  %y = Mul(%x, %s)
  output %y "y"
})"},
      {"reduce_all", R"(graph {
  input %x : f32[5x7x9] "x"
  %y = ReduceSum(%x) {axes=[0,1,2], keepdims=false}
  output %y "y"
})",
       2e-5},
      {"reduce_outer", R"(graph {
  input %x : f32[50x37] "x"
  %y = ReduceMin(%x) {axes=[0], keepdims=false}
  output %y "y"
})"},
      {"reduce_middle", R"(graph {
  input %x : f32[3x50x100] "x"
  %y = ReduceMax(%x) {axes=[1], keepdims=true}
  output %y "y"
})"},
      {"reduce_product", R"(graph {
  input %x : f32[6x20] "x"
  %y = ReduceProd(%x) {axes=[1], keepdims=false}
  output %y "y"
})",
       1e-4},
      {"two_reductions_as_outputs", R"(graph {
  input %x : f32[6x90] "x"
  %a = ReduceMax(%x) {axes=[1], keepdims=true}
  %b = ReduceSum(%x) {axes=[1], keepdims=true}
  output %a "a"
  output %b "b"
})",
       1e-5},
      {"maximum_beside_softmax", R"(graph {
  input %x : f32[4x6x37] "x"
  %m = ReduceMax(%x) {axes=[2], keepdims=true}
  %d = Sub(%x, %m)
  %e = Exp(%d)
  output %e "e"
  output %m "m"
})"},
      {"small_output_beside_a_large_one", R"(graph {
  input %x : f32[3x64x50] "x"
  input %m : f32[1x50] "m"
  %e = Exp(%m)
  %y = Mul(%x, %e)
  output %e "e"
  output %y "y"
})"},
      {"transposed_copy_beside_the_original", R"(graph {
  input %x : f32[2x80x48] "x"
  %s = ReduceSum(%x) {axes=[2], keepdims=true}
  %y = Div(%x, %s)
  %t = Transpose(%y) {perm=[0,2,1]}
  %r = Reshape(%t) {shape=[2,48,8,10]}
  %z = Abs(%r)
  output %y "y"
  output %z "z"
})",
       1e-3},
      {"row_statistics_beside_rows", R"(graph {
  input %x : f32[2x80x48] "x"
  input %r : f32[2x80x48] "r"
  %h = Add(%x, %r)
  %s = ReduceSum(%h) {axes=[2], keepdims=true}
  %m = ReduceMax(%h) {axes=[2], keepdims=false}
  output %h "h"
  output %s "s"
  output %m "m"
})",
       2e-5},
      {"every_second", R"(graph {
  input %x : f32[3x101] "x"
  %y = Slice(%x) {starts=[0,0], sizes=[3,51], steps=[1,2]}
  %z = Abs(%y)
  output %z "z"
})"},
      {"arg_max", R"(graph {
  input %x : f32[5x33] "x"
  %y = ArgMax(%x) {axis=1, keepdims=false, select_last=false}
  output %y "y"
})"},
      {"arg_min_channels", R"(graph {
  input %x : f32[1x33x4x9] "x"
  %y = ArgMin(%x) {axis=1, keepdims=true, select_last=true}
  output %y "y"
})"},
      {"causal_mask", R"(graph {
  input %x : f32[2x9x21] "x"
  input %m : bool[9x21] "m"
  %big = Constant() {value=[-10000.0]} : f32[1]
  %y = Where(%m, %x, %big)
  output %y "y"
})"},
      {"logic", R"(graph {
  input %x : f32[2x37] "x"
  input %y : f32[37] "y"
  %a = Less(%x, %y)
  %b = Equal(%x, %x)
  %c = And(%a, %b)
  %d = Not(%c)
  output %d "d"
})"},
      {"integers", R"(graph {
  input %x : i64[5x19] "x"
  input %y : i64[19] "y"
  %d = Div(%x, %y)
  %m = Mod(%x, %y)
  %s = Add(%d, %m)
  %c = Cast(%s) {to=f32}
  %p = Mul(%s, %x)
  output %p "p"
  output %c "c"
})"},
      {"cast_chain", R"(graph {
  input %x : f32[5x19] "x"
  %i = Cast(%x) {to=i32}
  %b = Cast(%i) {to=bool}
  %f = Cast(%b) {to=f32}
  %y = Add(%f, %x)
  output %y "y"
})"},
      {"double_precision", R"(graph {
  input %x : f64[5x19] "x"
  %e = Exp(%x)
  %s = ReduceSum(%e) {axes=[1], keepdims=true}
  %y = Div(%e, %s)
  output %y "y"
})"},
      {"small_integers", R"(graph {
  input %x : u8[3x50] "x"
  input %y : u8[3x50] "y"
  %a = Add(%x, %y)
  %b = Max(%a, %x)
  %r = ReduceMax(%b) {axes=[1], keepdims=false}
  output %b "b"
  output %r "r"
})"},
      {"rare_functions", R"(graph {
  input %x : f32[3x50] "x"
  input %y : f32[50] "y"
  %s = Sin(%x)
  %c = Cos(%x)
  %a = Abs(%x)
  %p = Pow(%a, %y)
  %f = Floor(%x)
  %r = Round(%x)
  %m = Mod(%x, %y)
  %t1 = Add(%s, %c)
  %t2 = Add(%p, %f)
  %t3 = Mul(%r, %m)
  %t4 = Add(%t1, %t2)
  %z = Add(%t3, %t4)
  output %z "z"
})",
       2e-5},
      {"activations", R"(graph {
  input %x : f32[3x50] "x"
  %a = LeakyRelu(%x) {alpha=0.1}
  %b = Elu(%x) {alpha=1.5}
  %c = HardSwish(%x)
  %d = Softplus(%x)
  %e = Tanh(%d)
  %f = HardSigmoid(%x) {alpha=0.2, beta=0.5}
  %g = Mul(%a, %b)
  %h = Mul(%c, %e)
  %i = Add(%g, %h)
  %z = Add(%i, %f)
  output %z "z"
})"},
      {"upsample_by_reshape", R"(graph {
  input %x : f32[1x18x5x6] "x"
  %a = Reshape(%x) {shape=[1,18,5,1,6,1]}
  %b = Expand(%a) {shape=[1,18,5,2,6,2]}
  %y = Reshape(%b) {shape=[1,18,10,12]}
  output %y "y"
})"},
      {"pixel_shuffle", R"(graph {
  input %x : f32[1x20x5x6] "x"
  %a = Reshape(%x) {shape=[1,5,2,2,5,6]}
  %b = Transpose(%a) {perm=[0,1,4,2,5,3]}
  %y = Reshape(%b) {shape=[1,5,10,12]}
  output %y "y"
})"},
      {"tokens_to_image", R"(graph {
  input %x : f32[1x35x24] "x"
  %t = Transpose(%x) {perm=[0,2,1]}
  %y = Reshape(%t) {shape=[1,24,5,7]}
  output %y "y"
})"},
      {"indivisible_reshape", R"(graph {
  input %x : f32[6x35] "x"
  %a = Transpose(%x) {perm=[1,0]}
  %b = Reshape(%a) {shape=[14,15]}
  %y = Relu(%b)
  output %y "y"
})"},
      {"rotate_halves", R"(graph {
  input %x : f32[2x3x9x16] "x"
  input %c : f32[9x16] "c"
  input %s : f32[9x16] "s"
  %a = Slice(%x) {starts=[0,0,0,0], sizes=[2,3,9,8], steps=[1,1,1,1]}
  %b = Slice(%x) {starts=[0,0,0,8], sizes=[2,3,9,8], steps=[1,1,1,1]}
  %n = Neg(%b)
  %r = Concat(%n, %a) {axis=3}
  %p = Mul(%x, %c)
  %q = Mul(%r, %s)
  %y = Add(%p, %q)
  output %y "y"
})"},
  };
  return cases;
}

const std::vector<Case>& products() {
  static const std::vector<Case> cases = {
      {"matmul_batched_bias_relu", R"(graph {
  input %x : f32[2x3x7x20] "x"
  input %w : f32[3x20x19] "w"
  input %b : f32[19] "b"
  %m = MatMul(%x, %w)
  %a = Add(%m, %b)
  %y = Relu(%a)
  output %y "y"
})"},
      {"matmul_both_turned", R"(graph {
  input %x : f32[24x9] "x"
  input %w : f32[33x24] "w"
  %m = MatMul(%x, %w) {transpose_a=true, transpose_b=true}
  %t = Transpose(%m) {perm=[1,0]}
  output %t "y"
})"},
      {"matmul_f64", R"(graph {
  input %x : f64[5x17] "x"
  input %w : f64[17x21] "w"
  %y = MatMul(%x, %w)
  output %y "y"
})"},
      {"matmul_i32", R"(graph {
  input %x : i32[5x17] "x"
  input %w : i32[17x21] "w"
  %y = MatMul(%x, %w)
  output %y "y"
})"},
      {"matmul_of_vectors", R"(graph {
  input %x : f32[1x40] "x"
  input %w : f32[40x1] "w"
  %y = MatMul(%x, %w)
  output %y "y"
})"},
      {"conv_padded_groups", R"(graph {
  input %x : f32[2x6x9x11] "x"
  input %w : f32[4x3x3x3] "w"
  %c = Conv(%x, %w) {strides=[2,1], dilations=[1,2], pads_before=[1,2], pads_after=[1,2], output_padding=[0,0], group=2}
  %y = Sigmoid(%c)
  output %y "y"
})"},
      {"conv_large_window", R"(graph {
  input %x : f32[1x2x13x12] "x"
  input %w : f32[3x2x7x7] "w"
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[3,3], pads_after=[3,3], output_padding=[0,0]}
  output %y "y"
})"},
      {"conv_of_volumes", R"(graph {
  input %x : f32[1x3x5x6x7] "x"
  input %w : f32[4x3x3x3x3] "w"
  %y = Conv(%x, %w) {strides=[1,1,1], dilations=[1,1,1], pads_before=[1,1,1], pads_after=[1,1,1], output_padding=[0,0,0]}
  output %y "y"
})"},
      {"transposed_conv_even", R"(graph {
  input %x : f32[2x4x5x6] "x"
  input %w : f32[4x3x4x4] "w"
  %c = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0], group=2}
  %y = Relu(%c)
  output %y "y"
})"},
      {"transposed_conv_odd_dilated", R"(graph {
  input %x : f32[1x3x6x7] "x"
  input %w : f32[3x2x3x3] "w"
  %y = ConvTranspose(%x, %w) {strides=[2,3], dilations=[2,1], pads_before=[0,1], pads_after=[0,1], output_padding=[1,0]}
  output %y "y"
})"},
      {"transposed_conv_1d", R"(graph {
  input %x : f32[1x5x40] "x"
  input %w : f32[5x3x16] "w"
  %y = ConvTranspose(%x, %w) {strides=[8], dilations=[1], pads_before=[4], pads_after=[4], output_padding=[0]}
  output %y "y"
})"},
  };
  return cases;
}

}  // namespace korch::testing
