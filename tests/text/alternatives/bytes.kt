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

// RUN: alternatives --only product_of_bytes --target x86-64-v4 target_without_byte_products
graph {
  input %x : u8[2x4] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[4x2]
  %f = Cast(%x) {to=f32}
  %y = MatMul(%f, %w)
  output %y "y"
}
