// What each pass makes of a family's tile graph (codegen/passes).

// RUN: lowered loop lanes
// Tails of vectors need nothing here: the printer masks them.
graph {
  input %x : f32[4x6] "x"
  %y = Relu(%x)
  output %y "y"
}

// RUN: lowered loop --target x86-64-v4 wider_lanes
graph {
  input %x : f32[4x6] "x"
  %y = Relu(%x)
  output %y "y"
}

// RUN: lowered loop lanes_across_a_sum
graph {
  input %x : f32[4x20] "x"
  %y = ReduceSum(%x) {axes=[1]}
  output %y "y"
}

// RUN: lowered loop transposed_blocks
graph {
  input %x : f32[2x16x24] "x"
  %y = Transpose(%x) {perm=[0,2,1]}
  output %y "y"
}

// RUN: lowered loop segments_of_a_padded_row
graph {
  input %x : f32[3x12] "x"
  %y = Pad(%x) {before=[0,2], after=[0,3], value=1}
  output %y "y"
}

// RUN: lowered linear_generic expanded_phases
// A loop over the phases of a stride is written out.
graph {
  input %x : f32[1x1x2x3] "x"
  %w = Constant() {splat=0.5} : f32[1x1x2x2]
  %y = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  output %y "y"
}

// RUN: lowered conv_direct --layouts p0231->p0231 partitioned_panel
graph {
  input %x : f32[1x8x5x5] "x"
  %w = Constant() {splat=0.5} : f32[8x8x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: lowered depthwise jammed_window
graph {
  input %x : f32[1x8x6x6] "x"
  %w = Constant() {splat=0.5} : f32[8x1x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=8}
  output %y "y"
}

// RUN: lowered matmul --layouts rm->rm register_tile_and_epilogue
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w)
  %y = Add(%p, %b)
  output %y "y"
}
