// Quantized numbers, on a target that multiplies bytes (rewrite/bytes.cpp).

// RUN: alternatives --only whole_numbers_as_bytes --target x86-64-v4-vnni whole_numbers_as_bytes
graph {
  input %x : f32[2x4] "x"
  %low = Constant() {value=[-100]} : f32[]
  %high = Constant() {value=[120]} : f32[]
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[4x2]
  %round = Round(%x)
  %max = Max(%round, %low)
  %q = Min(%max, %high)
  %y = MatMul(%q, %w)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[2x4] "x"
  %low = Constant() {value=[-100]} : f32[]
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[4x2]
  %round = Round(%x) : f32[2x4]
  %q_0 = Sub(%round, %low) : f32[2x4]
  %q_1 = Constant() {value=[0]} : f32[]
  %q_2 = Constant() {value=[220]} : f32[]
  %q_3 = Min(%q_0, %q_2) : f32[2x4]
  %q_4 = Max(%q_3, %q_1) : f32[2x4]
  %q_5 = Cast(%q_4) {to=u8} : u8[2x4]
  %q_6 = Cast(%q_5) : f32[2x4]
  %q = Add(%q_6, %low) : f32[2x4]
  %y = MatMul(%q, %w) : f32[2x2]
  output %y "y"
}
applied whole_numbers_as_bytes: 1

// RUN: alternatives --only product_of_bytes --target x86-64-v4-vnni product_of_bytes
// The zero point's part of the sums is a constant: 3 times 1 + 3 + 5 + 7 and 2 + 4 + 6 + 8.
graph {
  input %x : u8[2x4] "x"
  %zero = Constant() {value=[3]} : f32[]
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[4x2]
  %f = Cast(%x) {to=f32}
  %q = Sub(%f, %zero)
  %y = MatMul(%q, %w)
  output %y "y"
}
// EXPECT:
graph {
  input %x : u8[2x4] "x"
  %y_2 = Constant() {value=[-48,-60]} : i32[1x2]
  %y_0 = Constant() {value=[1,2,3,4,5,6,7,8]} : i8[4x2]
  %y_1 = MatMul(%x, %y_0) : i32[2x2]
  %y_3 = Add(%y_1, %y_2) : i32[2x2]
  %y = Cast(%y_3) : f32[2x2]
  output %y "y"
}
applied product_of_bytes: 1

// RUN: alternatives --only product_of_bytes --target x86-64-v4-vnni few_channels
// Padding is what stands for 0, of one more channel without weight.
graph {
  input %x : u8[1x3x2x2] "x"
  %zero = Constant() {value=[3]} : f32[]
  %w = Constant() {splat=2} : f32[1x3x2x2]
  %f = Cast(%x) {to=f32}
  %q = Sub(%f, %zero)
  %y = Conv(%q, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : u8[1x3x2x2] "x"
  %y_0 = Pad(%x) {before=[0,0,1,0], after=[0,1,0,0], value=3} : u8[1x4x3x2]
  %y_4 = Constant() {value=[-72]} : i32[1x1x1]
  %y_2 = Constant() {value=[2,2,2,2,2,2,2,2,2,2,2,2,0,0,0,0]} : i8[1x4x2x2]
  %y_3 = Conv(%y_0, %y_2) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : i32[1x1x2x1]
  %y_5 = Add(%y_3, %y_4) : i32[1x1x2x1]
  %y = Cast(%y_5) : f32[1x1x2x1]
  output %y "y"
}
applied product_of_bytes: 1

// RUN: alternatives --only product_of_bytes --target x86-64-v4 target_without_byte_products
graph {
  input %x : u8[2x4] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[4x2]
  %f = Cast(%x) {to=f32}
  %y = MatMul(%f, %w)
  output %y "y"
}
// EXPECT:
graph {
  input %x : u8[2x4] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[4x2]
  %f = Cast(%x) : f32[2x4]
  %y = MatMul(%f, %w) : f32[2x2]
  output %y "y"
}

// RUN: alternatives --only narrow_weights_as_floats --target gpu narrow_weights_as_floats
// Blocks of two terms; the last block has one.
graph {
  input %x : f32[2x3] "x"
  %q = Constant() {value=[1,2,3,4,5,6]} : u8[3x2]
  %s = Constant() {value=[0.5,0.25,1,2]} : f32[2x2]
  %z = Constant() {value=[8,7,6,5]} : u8[2x2]
  %y = NarrowMatMul(%x, %q, %s, %z) {bits=4, block=2}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[2x3] "x"
  %y_11 = Constant() {value=[-3.5,-1.25,-2.5,-0.75,-1,2]} : f32[3x2]
  %y = MatMul(%x, %y_11) : f32[2x2]
  output %y "y"
}
applied narrow_weights_as_floats: 1
