// The row kernel for matrix products (codegen/linear/matmul.cpp).

// RUN: tiles matmul plain
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %y = MatMul(%x, %w)
  output %y "y"
}

// RUN: tiles matmul --layouts rm->rm --target x86-64-v4 wider_vectors
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %y = MatMul(%x, %w)
  output %y "y"
}

// RUN: tiles matmul --layouts rm->rm transposed_weights
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[24x8]
  %y = MatMul(%x, %w) {transpose_b=true}
  output %y "y"
}

// RUN: tiles matmul --layouts rm->rm bias_and_relu
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Relu(%s)
  output %y "y"
}

// RUN: tiles matmul --layouts rm->rm prologue
// Data go through a panel in scratch.
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %r = Relu(%x)
  %y = MatMul(%r, %w)
  output %y "y"
}

// RUN: tiles matmul --layouts rm,rm->rm batched
// Columns that are computed are packed by a first phase.
graph {
  input %a : f32[3x5x4] "a"
  input %b : f32[3x4x6] "b"
  %y = MatMul(%a, %b)
  output %y "y"
}

// RUN: tiles matmul --layouts rm,rm->rm keys_by_rows
graph {
  input %q : f32[2x5x8] "q"
  input %k : f32[2x7x8] "k"
  %y = MatMul(%q, %k) {transpose_b=true}
  output %y "y"
}

// RUN: tiles matmul --layouts rm->rm long_reduction
// Parts of at most 768 terms.
graph {
  input %x : f32[8x1536] "x"
  %w = Constant() {splat=0.5} : f32[1536x8]
  %y = MatMul(%x, %w)
  output %y "y"
}

// RUN: tiles matmul --layouts rm->rm --target x86-64-v4-vnni bytes
// Four terms at a time.
graph {
  input %x : u8[5x8] "x"
  %w = Constant() {splat=3} : i8[8x16]
  %y = MatMul(%x, %w)
  output %y "y"
}

// RUN: tiles linear_generic doubles
graph {
  input %a : f64[3x4] "a"
  input %b : f64[4x5] "b"
  %y = MatMul(%a, %b)
  output %y "y"
}

// RUN: tiles staged --target gpu --layouts rm->rm tile_of_a_thread_block
graph {
  input %x : f32[64x32] "x"
  %w = Constant() {splat=0.5} : f32[32x64]
  %y = MatMul(%x, %w)
  output %y "y"
}
