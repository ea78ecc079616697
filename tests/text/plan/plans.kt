// Whole plans on bounds alone: what is fused, in which layouts, where tensors lie, which tasks wait for which.

// RUN: plan product_bias_relu
graph {
  input %x : f32[16x32] "x"
  %w = Constant() {splat=0.5} : f32[32x16]
  %b = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]} : f32[16]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Relu(%s)
  output %y "y"
}
// EXPECT:
x86-64-v3, 2 threads: 0.105 us
arena of 0 bytes
tensor 0: %x f32[16x32] rm, 2048 bytes: input 0
tensor 1: %w f32[32x16] rm, 2048 bytes: constant 0 packed columns(1, 1, 16, 0)
tensor 2: %b f32[16] rm, 64 bytes: constant 1
tensor 3: %y f32[16x16] rm, 1024 bytes: output 0
tensor 4: %y f32[16x16] rm, 1024 bytes: output 0, output of tensor 3
kernel 0: 16384 flops, 5184 bytes, scratch 1024
  phase of 1 slices, 1 at a time
step 0: kernel 0: MatMul+Add+Relu matmul(2,6) rm->rm, 0.105 us
  tensors [0], constants [1, 2] -> [3]
  %p = MatMul(%x, %w) : f32[16x16]
  %s = Add(%p, %b) : f32[16x16]
  %y = Relu(%s) : f32[16x16]
tasks {
  event 0 of 0
  event 1 of 1
  task step 0 phase 0 slices 0..1 us 0.10533333333333333 waits 0 triggers 1
}

// RUN: plan --target x86-64-v4 product_bias_relu_on_wider_vectors
graph {
  input %x : f32[16x32] "x"
  %w = Constant() {splat=0.5} : f32[32x16]
  %b = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]} : f32[16]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Relu(%s)
  output %y "y"
}
// EXPECT:
x86-64-v4, 2 threads: 0.063 us
arena of 0 bytes
tensor 0: %x f32[16x32] rm, 2048 bytes: input 0
tensor 1: %w f32[32x16] rm, 2048 bytes: constant 0 packed columns(1, 1, 16, 0)
tensor 2: %b f32[16] rm, 64 bytes: constant 1
tensor 3: %y f32[16x16] rm, 1024 bytes: output 0
tensor 4: %y f32[16x16] rm, 1024 bytes: output 0, output of tensor 3
kernel 0: 16384 flops, 5184 bytes, scratch 1024
  phase of 1 slices, 1 at a time
step 0: kernel 0: MatMul+Add+Relu matmul(1,16) rm->rm, 0.063 us
  tensors [0], constants [1, 2] -> [3]
  %p = MatMul(%x, %w) : f32[16x16]
  %s = Add(%p, %b) : f32[16x16]
  %y = Relu(%s) : f32[16x16]
tasks {
  event 0 of 0
  event 1 of 1
  task step 0 phase 0 slices 0..1 us 0.06266666666666666 waits 0 triggers 1
}

// RUN: plan --target x86-64 product_bias_relu_on_any_machine
graph {
  input %x : f32[16x32] "x"
  %w = Constant() {splat=0.5} : f32[32x16]
  %b = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]} : f32[16]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Relu(%s)
  output %y "y"
}
// EXPECT:
x86-64, 2 threads: 0.361 us
arena of 0 bytes
tensor 0: %x f32[16x32] rm, 2048 bytes: input 0
tensor 1: %w f32[32x16] rm, 2048 bytes: constant 0 packed columns(1, 1, 8, 0)
tensor 2: %b f32[16] rm, 64 bytes: constant 1
tensor 3: %y f32[16x16] rm, 1024 bytes: output 0
tensor 4: %y f32[16x16] rm, 1024 bytes: output 0, output of tensor 3
kernel 0: 16384 flops, 5184 bytes, scratch 512
  phase of 1 slices, 1 at a time
step 0: kernel 0: MatMul+Add+Relu matmul(2,6) rm->rm, 0.361 us
  tensors [0], constants [1, 2] -> [3]
  %p = MatMul(%x, %w) : f32[16x16]
  %s = Add(%p, %b) : f32[16x16]
  %y = Relu(%s) : f32[16x16]
tasks {
  event 0 of 0
  event 1 of 1
  task step 0 phase 0 slices 0..1 us 0.36133333333333334 waits 0 triggers 1
}

// RUN: plan --threads 1 softmax
graph {
  input %x : f32[32x40] "x"
  %y = Softmax(%x) {axis=1}
  output %y "y"
}
// EXPECT:
x86-64-v3, 1 threads: 0.288 us
arena of 0 bytes
tensor 0: %x f32[32x40] rm, 5120 bytes: input 0
tensor 1: %y f32[32x40] rm, 5120 bytes: output 0
tensor 2: %y f32[32x40] rm, 5120 bytes: output 0, output of tensor 1
kernel 0: 25728 flops, 10240 bytes, scratch 5376
  phase of 1 slices, 1 at a time
step 0: kernel 0: ReduceMax+Sub+Exp+ReduceSum+Reciprocal+Mul loop() rm->rm, 0.288 us
  tensors [0], constants [] -> [1]
  %y.1 = ReduceMax(%x) {axes=[1]} : f32[32x1]
  %y.2 = Sub(%x, %y.1) : f32[32x40]
  %y.3 = Exp(%y.2) : f32[32x40]
  %y.4 = ReduceSum(%y.3) {axes=[1]} : f32[32x1]
  %y.5 = Reciprocal(%y.4) : f32[32x1]
  %y = Mul(%y.3, %y.5) : f32[32x40]
no tasks

// RUN: plan convolutions
// The images stay channels last between the convolutions.
graph {
  input %x : f32[1x3x16x16] "x"
  %w1 = Constant() {splat=0.5} : f32[16x3x3x3]
  %b1 = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]} : f32[16x1x1]
  %w2 = Constant() {splat=0.5} : f32[16x16x1x1]
  %w3 = Constant() {splat=0.5} : f32[16x10]
  %c1 = Conv(%x, %w1) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  %s1 = Add(%c1, %b1)
  %r1 = Relu(%s1)
  %pool = WindowMax(%r1) {kernel=[2,2], strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %c2 = Conv(%pool, %w2) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %r2 = Relu(%c2)
  %mean = ReduceMean(%r2) {axes=[2,3]}
  %flat = Reshape(%mean) {shape=[1,16]}
  %y = MatMul(%flat, %w3)
  output %y "y"
}
// EXPECT:
x86-64-v3, 2 threads: 0.449 us
arena of 5120 bytes
tensor 0: %x f32[1x3x16x16] rm, 3072 bytes: input 0
tensor 1: %w1 f32[16x3x3x3] rm, 1728 bytes: constant 0 packed columns(0, 1, 16, 0)
tensor 2: %b1 f32[16x1x1] rm, 64 bytes: constant 1
tensor 3: %r1 f32[1x16x8x8] rm, 4096 bytes: arena 0
tensor 4: %pool f32[1x16x4x4] rm, 1024 bytes: arena 4096
tensor 5: %w2 f32[16x16x1x1] rm, 1024 bytes: constant 2 packed columns(0, 1, 16, 0)
tensor 6: %r2 f32[1x16x4x4] p0231, 1024 bytes: arena 0
tensor 7: %mean.2 f32[] rm, 4 bytes: constant 3
tensor 8: %flat f32[1x16] rm, 64 bytes: arena 1024
tensor 9: %w3 f32[16x10] rm, 768 bytes: constant 4 packed columns(1, 1, 16, 12)
tensor 10: %y f32[1x10] rm, 40 bytes: output 0
tensor 11: %y f32[1x10] rm, 40 bytes: output 0, output of tensor 10
kernel 0: 55296 flops, 8960 bytes, scratch 4544
  phase of 1 slices, 1 at a time
kernel 1: 768 flops, 5120 bytes, scratch 0
  phase of 8 slices, 1 at a time
kernel 2: 8192 flops, 3072 bytes, scratch 1024
  phase of 1 slices, 1 at a time
kernel 3: 272 flops, 1088 bytes, scratch 64
  phase of 4 slices, 1 at a time
kernel 4: 320 flops, 744 bytes, scratch 768
  phase of 1 slices, 1 at a time
step 0: kernel 0: Conv+Add+Relu conv_direct(2,4) rm->rm, 0.308 us
  tensors [0], constants [1, 2] -> [3]
  %c1 = Conv(%x, %w1) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x16x8x8]
  %s1 = Add(%c1, %b1) : f32[1x16x8x8]
  %r1 = Relu(%s1) : f32[1x16x8x8]
step 1: kernel 1: WindowMax loop() rm->rm, 0.033 us
  tensors [3], constants [] -> [4]
  %pool = WindowMax(%r1) {kernel=[2,2], strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x16x4x4]
step 2: kernel 2: Conv+Relu conv_direct(2,6) rm->p0231, 0.063 us
  tensors [4], constants [5] -> [6]
  %c2 = Conv(%pool, %w2) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x16x4x4]
  %r2 = Relu(%c2) : f32[1x16x4x4]
step 3: kernel 3: ReduceSum+Mul+Reshape loop() p0231->rm, 0.023 us
  tensors [6], constants [7] -> [8]
  %mean.1 = ReduceSum(%r2) {axes=[2,3]} : f32[1x16x1x1]
  %mean = Mul(%mean.1, %mean.2) : f32[1x16x1x1]
  %flat = Reshape(%mean) {shape=[1,16]} : f32[1x16]
step 4: kernel 4: MatMul matmul(2,1) rm->rm, 0.022 us
  tensors [8], constants [9] -> [10]
  %y = MatMul(%flat, %w3) : f32[1x10]
tasks {
  event 0 of 0
  event 1 of 1
  event 2 of 8
  event 3 of 1
  event 4 of 4
  event 5 of 1
  task step 0 phase 0 slices 0..1 us 0.308 waits 0 triggers 1
  task step 1 phase 0 slices 0..1 us 0.008333333333333333 waits 1 triggers 2
  task step 1 phase 0 slices 1..2 us 0.008333333333333333 waits 1 triggers 2
  task step 1 phase 0 slices 2..3 us 0.008333333333333333 waits 1 triggers 2
  task step 1 phase 0 slices 3..4 us 0.008333333333333333 waits 1 triggers 2
  task step 1 phase 0 slices 4..5 us 0.008333333333333333 waits 1 triggers 2
  task step 1 phase 0 slices 5..6 us 0.008333333333333333 waits 1 triggers 2
  task step 1 phase 0 slices 6..7 us 0.008333333333333333 waits 1 triggers 2
  task step 1 phase 0 slices 7..8 us 0.008333333333333333 waits 1 triggers 2
  task step 2 phase 0 slices 0..1 us 0.06266666666666666 waits 2 triggers 3
  task step 3 phase 0 slices 0..1 us 0.011416666666666667 waits 3 triggers 4
  task step 3 phase 0 slices 1..2 us 0.011416666666666667 waits 3 triggers 4
  task step 3 phase 0 slices 2..3 us 0.011416666666666667 waits 3 triggers 4
  task step 3 phase 0 slices 3..4 us 0.011416666666666667 waits 3 triggers 4
  task step 4 phase 0 slices 0..1 us 0.0219375 waits 4 triggers 5
}

// RUN: plan recomputed_diamond
// What both products read is cheaper to compute twice than to store.
graph {
  input %x : f32[64x64] "x"
  %w1 = Constant() {splat=0.5} : f32[64x32]
  %w2 = Constant() {splat=0.25} : f32[64x32]
  %r = Relu(%x)
  %a = MatMul(%r, %w1)
  %b = MatMul(%r, %w2)
  %ta = Tanh(%a)
  %tb = Sigmoid(%b)
  %y = Mul(%ta, %tb)
  output %y "y"
}
// EXPECT:
x86-64-v3, 2 threads: 2.855 us
arena of 8192 bytes
tensor 0: %x f32[64x64] rm, 16384 bytes: input 0
tensor 1: %w1 f32[64x32] rm, 8192 bytes: constant 0 packed columns(1, 1, 16, 0)
tensor 2: %ta f32[64x32] rm, 8192 bytes: output 0
tensor 3: %w2 f32[64x32] rm, 8192 bytes: constant 1 packed columns(1, 1, 16, 0)
tensor 4: %tb f32[64x32] rm, 8192 bytes: arena 0
tensor 5: %y f32[64x32] rm, 8192 bytes: output 0
tensor 6: %y f32[64x32] rm, 8192 bytes: output 0, output of tensor 5
kernel 0: 262144 flops, 32768 bytes, scratch 17408
  phase of 1 slices, 1 at a time
kernel 1: 262144 flops, 32768 bytes, scratch 17408
  phase of 1 slices, 1 at a time
kernel 2: 2048 flops, 24576 bytes, scratch 0, input 0 may be output 0, input 1 may be output 0
  phase of 1 slices, 1 at a time
step 0: kernel 0: Relu+MatMul+Tanh matmul(2,6) rm->rm, 1.385 us
  tensors [0], constants [1] -> [2]
  %r = Relu(%x) : f32[64x64]
  %a = MatMul(%r, %w1) : f32[64x32]
  %ta = Tanh(%a) : f32[64x32]
step 1: kernel 1: Relu+MatMul+Sigmoid matmul(2,6) rm->rm, 1.385 us
  tensors [0], constants [3] -> [4]
  %r = Relu(%x) : f32[64x64]
  %b = MatMul(%r, %w2) : f32[64x32]
  %tb = Sigmoid(%b) : f32[64x32]
step 2: kernel 2: Mul loop() rm,rm->rm, 0.084 us
  tensors [2, 4], constants [] -> [5]
  %y = Mul(%ta, %tb) : f32[64x32]
tasks {
  event 0 of 0
  event 1 of 2
  event 2 of 1
  task step 0 phase 0 slices 0..1 us 1.3853333333333333 waits 0 triggers 1
  task step 1 phase 0 slices 0..1 us 1.3853333333333333 waits 0 triggers 1
  task step 2 phase 0 slices 0..1 us 0.084 waits 1 triggers 2
}

// RUN: plan views_and_copies
// The reshape is the same bytes; one output is an input, which is copied.
graph {
  input %x : f32[4x6] "x"
  %e = Exp(%x)
  %m = ReduceMax(%e) {axes=[0]}
  %r = Reshape(%e) {shape=[6,4]}
  %w = Constant() {splat=0.5} : f32[4x8]
  %y = MatMul(%r, %w)
  output %y "y"
  output %m "m"
  output %r "r"
  output %x "same"
}
// EXPECT:
x86-64-v3, 2 threads: 0.044 us
arena of 0 bytes
tensor 0: %x f32[4x6] rm, 96 bytes: input 0
tensor 1: %e f32[4x6] rm, 96 bytes: output 2
tensor 2: %m f32[1x6] rm, 24 bytes: output 1
tensor 3: %r f32[6x4] rm, 96 bytes: output 2, view of tensor 1
tensor 4: %w f32[4x8] rm, 128 bytes: constant 0 packed columns(1, 1, 8, 0)
tensor 5: %y f32[6x8] rm, 192 bytes: output 0
tensor 6: %y f32[6x8] rm, 192 bytes: output 0, output of tensor 5
tensor 7: %m f32[1x6] rm, 24 bytes: output 1, output of tensor 2
tensor 8: %r f32[6x4] rm, 96 bytes: output 2, output of tensor 3
tensor 9: %x f32[4x6] rm, 96 bytes: input 0, output of tensor 0
copy input 0 -> output 3, 96 bytes
kernel 0: 408 flops, 216 bytes, scratch 192
  phase of 1 slices, 1 at a time
kernel 1: 384 flops, 416 bytes, scratch 640
  phase of 1 slices, 1 at a time
step 0: kernel 0: Exp+ReduceMax loop() rm->rm,rm, 0.022 us
  tensors [0], constants [] -> [1, 2]
  %e = Exp(%x) : f32[4x6]
  %m = ReduceMax(%e) {axes=[0]} : f32[1x6]
step 1: kernel 1: Reshape+MatMul matmul(1,6) rm->rm, 0.022 us
  tensors [1], constants [4] -> [5]
  %r = Reshape(%e) {shape=[6,4]} : f32[6x4]
  %y = MatMul(%r, %w) : f32[6x8]
tasks {
  event 0 of 0
  event 1 of 1
  event 2 of 2
  task step 0 phase 0 slices 0..1 us 0.022125 waits 0 triggers 1
  task step 2 phase 0 slices 0..1 us 0 waits 0 triggers 2
  task step 1 phase 0 slices 0..1 us 0.022 waits 1 triggers 2
}

// RUN: plan --strict memory_is_used_again
graph {
  input %x : f32[32x32] "x"
  %w = Constant() {splat=0.5} : f32[32x32]
  %a = MatMul(%x, %w)
  %b = MatMul(%a, %w)
  %c = MatMul(%b, %w)
  %y = MatMul(%c, %w)
  output %y "y"
}
// EXPECT:
x86-64-v3, 2 threads: 1.445 us
arena of 8192 bytes
tensor 0: %x f32[32x32] rm, 4096 bytes: input 0
tensor 1: %w f32[32x32] rm, 4096 bytes: constant 0 packed columns(1, 1, 16, 0)
tensor 2: %a f32[32x32] rm, 4096 bytes: arena 0
tensor 3: %b f32[32x32] rm, 4096 bytes: arena 4096
tensor 4: %c f32[32x32] rm, 4096 bytes: arena 0
tensor 5: %y f32[32x32] rm, 4096 bytes: output 0
tensor 6: %y f32[32x32] rm, 4096 bytes: output 0, output of tensor 5
kernel 0: 65536 flops, 12288 bytes, scratch 1024
  phase of 1 slices, 1 at a time
step 0: kernel 0: MatMul matmul(2,6) rm->rm, 0.361 us
  tensors [0], constants [1] -> [2]
  %a = MatMul(%x, %w) : f32[32x32]
step 1: kernel 0: MatMul matmul(2,6) rm->rm, 0.361 us
  tensors [2], constants [1] -> [3]
  %b = MatMul(%a, %w) : f32[32x32]
step 2: kernel 0: MatMul matmul(2,6) rm->rm, 0.361 us
  tensors [3], constants [1] -> [4]
  %c = MatMul(%b, %w) : f32[32x32]
step 3: kernel 0: MatMul matmul(2,6) rm->rm, 0.361 us
  tensors [4], constants [1] -> [5]
  %y = MatMul(%c, %w) : f32[32x32]
tasks {
  event 0 of 0
  event 1 of 1
  event 2 of 1
  event 3 of 1
  event 4 of 1
  task step 0 phase 0 slices 0..1 us 0.36133333333333334 waits 0 triggers 1
  task step 1 phase 0 slices 0..1 us 0.36133333333333334 waits 1 triggers 2
  task step 2 phase 0 slices 0..1 us 0.36133333333333334 waits 2 triggers 3
  task step 3 phase 0 slices 0..1 us 0.36133333333333334 waits 3 triggers 4
}

// RUN: plan open_rows
// Slices beyond the rows that a run has are left out.
graph {
  input %x : f32[512x64] "x"
  input %n : i64[] "n" open 1 512 of 0 0
  %w = Constant() {splat=0.5} : f32[64x48]
  %p = MatMul(%x, %w)
  %y = Relu(%p)
  output %y "y"
  output %n "n" extent 0 0
}
// EXPECT:
x86-64-v3, 2 threads: 16.404 us
arena of 0 bytes
tensor 0: %x f32[512x64] rm, 131072 bytes: input 0
tensor 1: %n i64[] rm, 8 bytes: input 1
tensor 2: %w f32[64x48] rm, 12288 bytes: constant 0 packed columns(1, 1, 24, 0)
tensor 3: %y f32[512x48] rm, 98304 bytes: output 0
tensor 4: %y f32[512x48] rm, 98304 bytes: output 0, output of tensor 3
tensor 5: %n i64[] rm, 8 bytes: input 1, output of tensor 1
copy input 1 -> output 1, 8 bytes
kernel 0: 3145728 flops, 241664 bytes, scratch 1536
  phase of 32 slices, 1 at a time
step 0: kernel 0: MatMul+Relu matmul(3,4,32 blocks) rm->rm, 16.404 us
  tensors [0], constants [2] -> [3]
  %p = MatMul(%x, %w) : f32[512x48]
  %y = Relu(%p) : f32[512x48]
  phase 0: slices / 1 % 32 below (tensor 1 * 1 + 15) / 16
tasks {
  event 0 of 0
  event 1 of 33
  task step 0 phase 0 slices 0..1 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 1..2 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 2..3 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 3..4 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 4..5 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 5..6 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 6..7 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 7..8 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 8..9 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 9..10 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 10..11 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 11..12 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 12..13 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 13..14 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 14..15 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 15..16 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 16..17 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 17..18 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 18..19 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 19..20 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 20..21 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 21..22 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 22..23 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 23..24 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 24..25 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 25..26 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 26..27 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 27..28 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 28..29 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 29..30 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 30..31 us 1.02525 waits 0 triggers 1
  task step 0 phase 0 slices 31..32 us 1.02525 waits 0 triggers 1
  task step 1 phase 0 slices 0..1 us 0 waits 0 triggers 1
}

// RUN: plan --threads 4 branches_as_tasks
// Neither branch waits for the other.
graph {
  input %a : f32[64x64] "a"
  input %b : f32[64x64] "b"
  %w = Constant() {splat=0.5} : f32[64x64]
  %p = MatMul(%a, %w)
  %sp = Softmax(%p) {axis=0}
  %q = MatMul(%b, %w)
  %sq = Softmax(%q) {axis=0}
  %y = MatMul(%sp, %sq)
  output %y "y"
}
// EXPECT:
x86-64-v3, 4 threads: 4.603 us
arena of 49920 bytes
tensor 0: %a f32[64x64] rm, 16384 bytes: input 0
tensor 1: %b f32[64x64] rm, 16384 bytes: input 1
tensor 2: %w f32[64x64] rm, 16384 bytes: constant 0 packed columns(1, 1, 16, 0)
tensor 3: %p f32[64x64] rm, 16384 bytes: arena 0
tensor 4: %sp.3 f32[64x64] rm, 16384 bytes: arena 16384
tensor 5: %sp.5 f32[1x64] rm, 256 bytes: arena 49152
tensor 6: %q f32[64x64] rm, 16384 bytes: arena 32768
tensor 7: %sq.1 f32[1x64] rm, 256 bytes: arena 49408
tensor 8: %sq.5 f32[1x64] rm, 256 bytes: arena 49664
tensor 9: %y f32[64x64] rm, 16384 bytes: output 0
tensor 10: %y f32[64x64] rm, 16384 bytes: output 0, output of tensor 9
kernel 0: 524288 flops, 49152 bytes, scratch 1024
  phase of 4 slices, 1 at a time
kernel 1: 78080 flops, 33024 bytes, scratch 16896
  phase of 1 slices, 1 at a time
kernel 2: 78080 flops, 16896 bytes, scratch 128
  phase of 16 slices, 1 at a time
kernel 3: 524288 flops, 49920 bytes, scratch 10240, temporary 16384
  phase of 4 slices, 1 at a time
  phase of 4 slices, 1 at a time
step 0: kernel 0: MatMul matmul(2,6) rm->rm, 1.385 us
  tensors [0], constants [2] -> [3]
  %p = MatMul(%a, %w) : f32[64x64]
step 1: kernel 1: ReduceMax+Sub+Exp+ReduceSum+Reciprocal loop() rm->rm,rm, 0.223 us
  tensors [3], constants [] -> [4, 5]
  %sp.1 = ReduceMax(%p) {axes=[0]} : f32[1x64]
  %sp.2 = Sub(%p, %sp.1) : f32[64x64]
  %sp.3 = Exp(%sp.2) : f32[64x64]
  %sp.4 = ReduceSum(%sp.3) {axes=[0]} : f32[1x64]
  %sp.5 = Reciprocal(%sp.4) : f32[1x64]
step 2: kernel 0: MatMul matmul(2,6) rm->rm, 1.385 us
  tensors [1], constants [2] -> [6]
  %q = MatMul(%b, %w) : f32[64x64]
step 3: kernel 2: ReduceMax+Sub+Exp+ReduceSum+Reciprocal loop() rm->rm,rm, 0.223 us
  tensors [6], constants [] -> [7, 8]
  %sq.1 = ReduceMax(%q) {axes=[0]} : f32[1x64]
  %sq.2 = Sub(%q, %sq.1) : f32[64x64]
  %sq.3 = Exp(%sq.2) : f32[64x64]
  %sq.4 = ReduceSum(%sq.3) {axes=[0]} : f32[1x64]
  %sq.5 = Reciprocal(%sq.4) : f32[1x64]
step 4: kernel 3: Mul+Sub+Exp+Mul+MatMul matmul(2,6) rm,rm,rm,rm,rm->rm, 1.385 us
  tensors [4, 5, 6, 7, 8], constants [] -> [9]
  temporary: arena 0
  %sp = Mul(%sp.3, %sp.5) : f32[64x64]
  %sq.2 = Sub(%q, %sq.1) : f32[64x64]
  %sq.3 = Exp(%sq.2) : f32[64x64]
  %sq = Mul(%sq.3, %sq.5) : f32[64x64]
  %y = MatMul(%sp, %sq) : f32[64x64]
tasks {
  event 0 of 0
  event 1 of 4
  event 2 of 2
  event 3 of 2
  event 4 of 5
  event 5 of 5
  event 6 of 5
  event 7 of 5
  event 8 of 2
  event 9 of 2
  event 10 of 4
  task step 0 phase 0 slices 0..1 us 1.3853333333333333 waits 0 triggers 1
  task step 0 phase 0 slices 1..2 us 1.3853333333333333 waits 0 triggers 1
  task step 0 phase 0 slices 2..3 us 1.3853333333333333 waits 0 triggers 1
  task step 0 phase 0 slices 3..4 us 1.3853333333333333 waits 0 triggers 1
  task step 2 phase 0 slices 0..1 us 1.3853333333333333 waits 0 triggers 2
  task step 2 phase 0 slices 1..2 us 1.3853333333333333 waits 0 triggers 3
  task step 2 phase 0 slices 2..3 us 1.3853333333333333 waits 0 triggers 2
  task step 2 phase 0 slices 3..4 us 1.3853333333333333 waits 0 triggers 3
  task step 1 phase 0 slices 0..1 us 0.22333333333333333 waits 1 triggers 4, 5, 6, 7
  task step 3 phase 0 slices 0..1 us 0.05583333333333333 waits 2 triggers 4
  task step 3 phase 0 slices 1..2 us 0.05583333333333333 waits 2 triggers 4
  task step 3 phase 0 slices 2..3 us 0.05583333333333333 waits 2 triggers 4
  task step 3 phase 0 slices 3..4 us 0.05583333333333333 waits 2 triggers 4
  task step 3 phase 0 slices 4..5 us 0.05583333333333333 waits 2 triggers 5
  task step 3 phase 0 slices 5..6 us 0.05583333333333333 waits 2 triggers 5
  task step 3 phase 0 slices 6..7 us 0.05583333333333333 waits 2 triggers 5
  task step 3 phase 0 slices 7..8 us 0.05583333333333333 waits 2 triggers 5
  task step 3 phase 0 slices 8..9 us 0.05583333333333333 waits 3 triggers 6
  task step 3 phase 0 slices 9..10 us 0.05583333333333333 waits 3 triggers 6
  task step 3 phase 0 slices 10..11 us 0.05583333333333333 waits 3 triggers 6
  task step 3 phase 0 slices 11..12 us 0.05583333333333333 waits 3 triggers 6
  task step 3 phase 0 slices 12..13 us 0.05583333333333333 waits 3 triggers 7
  task step 3 phase 0 slices 13..14 us 0.05583333333333333 waits 3 triggers 7
  task step 3 phase 0 slices 14..15 us 0.05583333333333333 waits 3 triggers 7
  task step 3 phase 0 slices 15..16 us 0.05583333333333333 waits 3 triggers 7
  task step 4 phase 0 slices 0..1 us 0.020812519561815335 waits 4 triggers 8
  task step 4 phase 0 slices 1..2 us 0.020812519561815335 waits 5 triggers 8
  task step 4 phase 0 slices 2..3 us 0.020812519561815335 waits 6 triggers 9
  task step 4 phase 0 slices 3..4 us 0.020812519561815335 waits 7 triggers 9
  task step 4 phase 1 slices 0..1 us 1.364520813771518 waits 8 triggers 10
  task step 4 phase 1 slices 2..3 us 1.364520813771518 waits 8 triggers 10
  task step 4 phase 1 slices 1..2 us 1.364520813771518 waits 9 triggers 10
  task step 4 phase 1 slices 3..4 us 1.364520813771518 waits 9 triggers 10
}

// RUN: plan --strict no_rule_that_adds_error
graph {
  input %x : f32[1x16x32x32] "x"
  %w = Constant() {splat=0.5} : f32[16x16x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
x86-64-v3, 2 threads: 24.596 us
arena of 0 bytes
tensor 0: %x f32[1x16x32x32] rm, 65536 bytes: input 0
tensor 1: %w f32[16x16x3x3] rm, 9216 bytes: constant 0 packed columns(0, 1, 16, 0)
tensor 2: %y f32[1x16x32x32] rm, 65536 bytes: output 0
tensor 3: %y f32[1x16x32x32] rm, 65536 bytes: output 0, output of tensor 2
kernel 0: 4718592 flops, 140288 bytes, scratch 22784
  phase of 4 slices, 1 at a time
step 0: kernel 0: Conv conv_direct(2,6) rm->rm, 24.596 us
  tensors [0], constants [1] -> [2]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x16x32x32]
tasks {
  event 0 of 0
  event 1 of 4
  task step 0 phase 0 slices 0..1 us 12.298 waits 0 triggers 1
  task step 0 phase 0 slices 1..2 us 12.298 waits 0 triggers 1
  task step 0 phase 0 slices 2..3 us 12.298 waits 0 triggers 1
  task step 0 phase 0 slices 3..4 us 12.298 waits 0 triggers 1
}

// RUN: plan winograd
graph {
  input %x : f32[1x16x32x32] "x"
  %w = Constant() {splat=0.5} : f32[16x16x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
x86-64-v3, 2 threads: 6.887 us
arena of 131072 bytes
tensor 0: %x f32[1x16x32x32] rm, 65536 bytes: input 0
tensor 1: %x f32[1x16x32x32] p0231, 65536 bytes: arena 0
tensor 2: %w f32[16x16x3x3] rm, 36864 bytes: constant 0 packed winograd(4, 8, 0)
tensor 3: %y f32[1x16x32x32] p0231, 65536 bytes: arena 65536
tensor 4: %y f32[1x16x32x32] rm, 65536 bytes: output 0
tensor 5: %y f32[1x16x32x32] rm, 65536 bytes: output 0, output of tensor 4
kernel 0: 0 flops, 131072 bytes, scratch 0
  phase of 8 slices, 1 at a time
kernel 1: 1179648 flops, 167936 bytes, scratch 116864
  phase of 2 slices, 1 at a time
kernel 2: 0 flops, 131072 bytes, scratch 0
  phase of 8 slices, 1 at a time
step 0: kernel 0: reorder reorder rm -> p0231, 0.361 us
  tensors [0], constants [] -> [1]
step 1: kernel 1: WinogradInput+WinogradProduct+WinogradOutput conv_winograd(4,1,14) p0231->p0231, 6.164 us
  tensors [1], constants [2] -> [3]
  %y_0 = WinogradInput(%x) {tile=4, pads_before=[1,1], pads_after=[1,1]} : f32[36x64x16]
  %y_1 = WinogradProduct(%y_0, %w) {tile=4} : f32[36x64x16]
  %y = WinogradOutput(%y_1) {tile=4, shape=[1,16,32,32]} : f32[1x16x32x32]
step 2: kernel 2: reorder reorder p0231 -> rm, 0.361 us
  tensors [3], constants [] -> [4]
tasks {
  event 0 of 0
  event 1 of 5
  event 2 of 5
  event 3 of 1
  event 4 of 1
  event 5 of 8
  task step 0 phase 0 slices 0..1 us 0.09033333333333333 waits 0 triggers 1
  task step 0 phase 0 slices 1..2 us 0.09033333333333333 waits 0 triggers 1
  task step 0 phase 0 slices 2..3 us 0.09033333333333333 waits 0 triggers 1
  task step 0 phase 0 slices 3..4 us 0.09033333333333333 waits 0 triggers 1, 2
  task step 0 phase 0 slices 4..5 us 0.09033333333333333 waits 0 triggers 1, 2
  task step 0 phase 0 slices 5..6 us 0.09033333333333333 waits 0 triggers 2
  task step 0 phase 0 slices 6..7 us 0.09033333333333333 waits 0 triggers 2
  task step 0 phase 0 slices 7..8 us 0.09033333333333333 waits 0 triggers 2
  task step 1 phase 0 slices 0..1 us 6.164 waits 1 triggers 3
  task step 1 phase 0 slices 1..2 us 6.164 waits 2 triggers 4
  task step 2 phase 0 slices 0..1 us 0.09033333333333333 waits 3 triggers 5
  task step 2 phase 0 slices 1..2 us 0.09033333333333333 waits 3 triggers 5
  task step 2 phase 0 slices 2..3 us 0.09033333333333333 waits 3 triggers 5
  task step 2 phase 0 slices 3..4 us 0.09033333333333333 waits 3 triggers 5
  task step 2 phase 0 slices 4..5 us 0.09033333333333333 waits 4 triggers 5
  task step 2 phase 0 slices 5..6 us 0.09033333333333333 waits 4 triggers 5
  task step 2 phase 0 slices 6..7 us 0.09033333333333333 waits 4 triggers 5
  task step 2 phase 0 slices 7..8 us 0.09033333333333333 waits 4 triggers 5
}

// RUN: plan attention
graph {
  input %q : f32[2x64x16] "q"
  input %k : f32[2x4096x16] "k"
  input %v : f32[2x4096x16] "v"
  %s = MatMul(%q, %k) {transpose_b=true}
  %p = Softmax(%s) {axis=2}
  %y = MatMul(%p, %v)
  output %y "y"
}
// EXPECT:
x86-64-v3, 2 threads: 226.708 us
arena of 2622464 bytes
tensor 0: %q f32[2x64x16] rm, 8192 bytes: input 0
tensor 1: %k f32[2x4096x16] rm, 524288 bytes: input 1
tensor 2: %v f32[2x4096x16] rm, 524288 bytes: input 2
tensor 3: %s f32[2x64x4096] rm, 2097152 bytes: arena 0
tensor 4: %p.1 f32[2x64x1] rm, 512 bytes: arena 2621440
tensor 5: %p.5 f32[2x64x1] rm, 512 bytes: arena 2621952
tensor 6: %y f32[2x64x16] rm, 8192 bytes: output 0
tensor 7: %y f32[2x64x16] rm, 8192 bytes: output 0, output of tensor 6
kernel 0: 16777216 flops, 2629632 bytes, scratch 1536, temporary 524288
  phase of 342 slices, 25 at a time
  phase of 16 slices, 1 at a time
kernel 1: 9961984 flops, 2098176 bytes, scratch 128
  phase of 8 slices, 1 at a time
kernel 2: 16777216 flops, 2630656 bytes, scratch 598272, temporary 524288
  phase of 2 slices, 1 at a time
  phase of 4 slices, 1 at a time
step 0: kernel 0: MatMul matmul(3,4) rm,rm->rm, 87.401 us
  tensors [0, 1], constants [] -> [3]
  temporary: arena 2097152
  %s = MatMul(%q, %k) {transpose_b=true} : f32[2x64x4096]
step 1: kernel 1: ReduceMax+Sub+Exp+ReduceSum+Reciprocal loop() rm->rm,rm, 51.905 us
  tensors [3], constants [] -> [4, 5]
  %p.1 = ReduceMax(%s) {axes=[2]} : f32[2x64x1]
  %p.2 = Sub(%s, %p.1) : f32[2x64x4096]
  %p.3 = Exp(%p.2) : f32[2x64x4096]
  %p.4 = ReduceSum(%p.3) {axes=[2]} : f32[2x64x1]
  %p.5 = Reciprocal(%p.4) : f32[2x64x1]
step 2: kernel 2: Sub+Exp+Mul+MatMul matmul(2,6) rm,rm,rm,rm->rm, 87.401 us
  tensors [3, 4, 5, 2], constants [] -> [6]
  temporary: arena 2097152
  %p.2 = Sub(%s, %p.1) : f32[2x64x4096]
  %p.3 = Exp(%p.2) : f32[2x64x4096]
  %p = Mul(%p.3, %p.5) : f32[2x64x4096]
  %y = MatMul(%p, %v) : f32[2x64x16]
tasks {
  event 0 of 0
  event 1 of 4
  event 2 of 4
  event 3 of 5
  event 4 of 4
  event 5 of 2
  event 6 of 2
  event 7 of 2
  event 8 of 2
  event 9 of 2
  event 10 of 2
  event 11 of 2
  event 12 of 2
  event 13 of 8
  event 14 of 8
  event 15 of 4
  event 16 of 3
  event 17 of 4
  event 18 of 3
  event 19 of 4
  task step 0 phase 0 slices 0..25 us 0.30627587302477266 waits 0 triggers 1
  task step 0 phase 0 slices 25..50 us 0.30627587302477266 waits 0 triggers 1
  task step 0 phase 0 slices 50..75 us 0.30627587302477266 waits 0 triggers 1
  task step 0 phase 0 slices 75..100 us 0.30627587302477266 waits 0 triggers 1, 2
  task step 0 phase 0 slices 100..125 us 0.30627587302477266 waits 0 triggers 2
  task step 0 phase 0 slices 125..150 us 0.30627587302477266 waits 0 triggers 2
  task step 0 phase 0 slices 150..175 us 0.30627587302477266 waits 0 triggers 2, 3
  task step 0 phase 0 slices 175..200 us 0.30627587302477266 waits 0 triggers 3
  task step 0 phase 0 slices 200..225 us 0.30627587302477266 waits 0 triggers 3
  task step 0 phase 0 slices 225..250 us 0.30627587302477266 waits 0 triggers 3
  task step 0 phase 0 slices 250..275 us 0.30627587302477266 waits 0 triggers 3, 4
  task step 0 phase 0 slices 275..300 us 0.30627587302477266 waits 0 triggers 4
  task step 0 phase 0 slices 300..325 us 0.30627587302477266 waits 0 triggers 4
  task step 0 phase 0 slices 325..342 us 0.20826759365684538 waits 0 triggers 4
  task step 0 phase 1 slices 0..1 us 10.663300795230485 waits 1 triggers 5, 13
  task step 0 phase 1 slices 2..3 us 10.663300795230485 waits 1 triggers 6, 13
  task step 0 phase 1 slices 4..5 us 10.663300795230485 waits 1 triggers 7, 13
  task step 0 phase 1 slices 6..7 us 10.663300795230485 waits 1 triggers 8, 13
  task step 0 phase 1 slices 1..2 us 10.663300795230485 waits 2 triggers 5, 13
  task step 0 phase 1 slices 3..4 us 10.663300795230485 waits 2 triggers 6, 13
  task step 0 phase 1 slices 5..6 us 10.663300795230485 waits 2 triggers 7, 13
  task step 0 phase 1 slices 7..8 us 10.663300795230485 waits 2 triggers 8, 13
  task step 0 phase 1 slices 8..9 us 10.663300795230485 waits 3 triggers 9, 14
  task step 0 phase 1 slices 10..11 us 10.663300795230485 waits 3 triggers 10, 14
  task step 0 phase 1 slices 12..13 us 10.663300795230485 waits 3 triggers 11, 14
  task step 0 phase 1 slices 14..15 us 10.663300795230485 waits 3 triggers 12, 14
  task step 0 phase 1 slices 9..10 us 10.663300795230485 waits 4 triggers 9, 14
  task step 0 phase 1 slices 11..12 us 10.663300795230485 waits 4 triggers 10, 14
  task step 0 phase 1 slices 13..14 us 10.663300795230485 waits 4 triggers 11, 14
  task step 0 phase 1 slices 15..16 us 10.663300795230485 waits 4 triggers 12, 14
  task step 1 phase 0 slices 0..1 us 12.976333333333335 waits 5 triggers 15
  task step 1 phase 0 slices 1..2 us 12.976333333333335 waits 6 triggers 15
  task step 1 phase 0 slices 2..3 us 12.976333333333335 waits 7 triggers 15, 16
  task step 1 phase 0 slices 3..4 us 12.976333333333335 waits 8 triggers 16
  task step 1 phase 0 slices 4..5 us 12.976333333333335 waits 9 triggers 17
  task step 1 phase 0 slices 5..6 us 12.976333333333335 waits 10 triggers 17
  task step 1 phase 0 slices 6..7 us 12.976333333333335 waits 11 triggers 17, 18
  task step 1 phase 0 slices 7..8 us 12.976333333333335 waits 12 triggers 18
  task step 2 phase 0 slices 0..1 us 1.2993461866047231 waits 13 triggers 15, 16
  task step 2 phase 0 slices 1..2 us 1.2993461866047231 waits 14 triggers 17, 18
  task step 2 phase 1 slices 0..1 us 43.0509935733643 waits 15 triggers 19
  task step 2 phase 1 slices 1..2 us 43.0509935733643 waits 16 triggers 19
  task step 2 phase 1 slices 2..3 us 43.0509935733643 waits 17 triggers 19
  task step 2 phase 1 slices 3..4 us 43.0509935733643 waits 18 triggers 19
}

// RUN: plan loop
// The ends of the loop know each other; what is within stands between them.
graph {
  input %x : f32[4x6] "x"
  %n = Constant() {value=[5]} : i64[]
  %c = Constant() {value=[1]} : bool[]
  %b = Relu(%x)
  %i, %g, %s = LoopBegin(%n, %c, %x) {carried=1}
  %t = Tanh(%s)
  %u = Add(%t, %b)
  %steps, %on, %last = LoopEnd(%i, %n, %c, %u) {carried=1}
  output %last "last"
}
// EXPECT:
x86-64-v3, 2 threads: 0.084 us
arena of 256 bytes
tensor 0: %x f32[4x6] rm, 96 bytes: input 0
tensor 1: %b f32[4x6] rm, 96 bytes: arena 0
tensor 2: %n i64[] rm, 8 bytes: constant 0
tensor 3: %c bool[] rm, 1 bytes: constant 1
tensor 4: %i i64[] rm, 8 bytes: arena 128
tensor 5: %g bool[] rm, 1 bytes: arena 192
tensor 6: %s f32[4x6] rm, 96 bytes: output 0
tensor 7: %u f32[4x6] rm, 96 bytes: output 0
tensor 8: %steps i64[] rm, 8 bytes: arena 128, view of tensor 4
tensor 9: %on bool[] rm, 1 bytes: arena 192, view of tensor 5
tensor 10: %last f32[4x6] rm, 96 bytes: output 0, view of tensor 6
tensor 11: %last f32[4x6] rm, 96 bytes: output 0, output of tensor 10
kernel 0: 24 flops, 192 bytes, scratch 0, input 0 may be output 0
  phase of 1 slices, 1 at a time
kernel 1: 0 flops, 105 bytes, scratch 0, input 0 may be output 2
  phase of 1 slices, 1 at a time
kernel 2: 600 flops, 288 bytes, scratch 0, input 0 may be output 0, input 1 may be output 0
  phase of 1 slices, 1 at a time
kernel 3: 0 flops, 105 bytes, scratch 0, input 1 may be output 2
  phase of 1 slices, 1 at a time
step 0: kernel 0: Relu loop() rm->rm, 0.021 us
  tensors [0], constants [] -> [1]
  %b = Relu(%x) : f32[4x6]
step 1: kernel 1: LoopBegin loop_end() rm->rm,rm,rm, 0.020 us
  tensors [0], constants [2, 3] -> [4, 5, 6]
  %i, %g, %s = LoopBegin(%n, %c, %x) {carried=1} : i64[], bool[], f32[4x6]
  the loop's other end is step 3
step 2: kernel 2: Tanh+Add loop() rm,rm->rm, 0.023 us
  tensors [6, 1], constants [] -> [7]
  %t = Tanh(%s) : f32[4x6]
  %u = Add(%t, %b) : f32[4x6]
step 3: kernel 3: LoopEnd loop_end() rm,rm->rm,rm,rm, 0.020 us
  tensors [4, 7], constants [2, 3] -> [8, 9, 10]
  %steps, %on, %last = LoopEnd(%i, %n, %c, %u) {carried=1} : i64[], bool[], f32[4x6]
  the loop's other end is step 1
no tasks

// RUN: plan rounds_of_a_recurrence
// A round is a phase of tasks, which waits for the one before.
graph {
  input %gates : f32[3x1x512] "gates"
  input %state : f32[2x1x128] "state"
  %w = Constant() {splat=0.5} : f32[4x128x128]
  %v = Constant() {splat=0.25} : f32[128x64]
  %y, %last = Recurrence(%gates, %w, %state) {cell="lstm", activations="Sigmoid Tanh Tanh", alphas=[0,0,0], betas=[0,0,0]}
  %rows = Reshape(%y) {shape=[3,128]}
  %z = MatMul(%rows, %v)
  output %z "z"
  output %last "last"
}
// EXPECT:
x86-64-v3, 2 threads: 2.344 us
arena of 3584 bytes
tensor 0: %gates f32[3x1x512] rm, 6144 bytes: input 0
tensor 1: %state f32[2x1x128] rm, 1024 bytes: input 1
tensor 2: %w f32[4x128x128] rm, 262144 bytes: constant 0 packed columns(2, 1, 32, 0)
tensor 3: %y f32[3x1x128] rm, 1536 bytes: arena 2048
tensor 4: %last f32[2x1x128] rm, 1024 bytes: output 1
tensor 5: %rows f32[3x128] rm, 1536 bytes: arena 2048, view of tensor 3
tensor 6: %v f32[128x64] rm, 32768 bytes: constant 1 packed columns(1, 1, 24, 16)
tensor 7: %z f32[3x64] rm, 768 bytes: output 0
tensor 8: %z f32[3x64] rm, 768 bytes: output 0, output of tensor 7
tensor 9: %last f32[2x1x128] rm, 1024 bytes: output 1, output of tensor 4
kernel 0: 393216 flops, 271872 bytes, scratch 512, temporary 2048
  phase of 1 slices, 1 at a time
  phase of 4 slices, 1 at a time, 3 rounds
kernel 1: 49152 flops, 35072 bytes, scratch 1536
  phase of 1 slices, 1 at a time
step 0: kernel 0: Recurrence recurrence(1,1,4,1) rm,rm->rm,rm, 2.068 us
  tensors [0, 1], constants [2] -> [3, 4]
  temporary: arena 0
  %y, %last = Recurrence(%gates, %w, %state) {activations="Sigmoid Tanh Tanh", alphas=[0,0,0], betas=[0,0,0]} : f32[3x1x128], f32[2x1x128]
step 1: kernel 1: MatMul matmul(3,3) rm->rm, 0.276 us
  tensors [5], constants [6] -> [7]
  %z = MatMul(%rows, %v) : f32[3x64]
tasks {
  event 0 of 0
  event 1 of 1
  event 2 of 4
  event 3 of 4
  event 4 of 4
  event 5 of 1
  task step 0 phase 0 slices 0..1 us 0.0026839714471122646 waits 0 triggers 1
  task step 0 phase 1 slices 0..1 us 0.34421933809214794 waits 1 triggers 2
  task step 0 phase 1 slices 1..2 us 0.34421933809214794 waits 1 triggers 2
  task step 0 phase 1 slices 2..3 us 0.34421933809214794 waits 1 triggers 2
  task step 0 phase 1 slices 3..4 us 0.34421933809214794 waits 1 triggers 2
  task step 0 phase 2 slices 4..5 us 0.34421933809214794 waits 2 triggers 3
  task step 0 phase 2 slices 5..6 us 0.34421933809214794 waits 2 triggers 3
  task step 0 phase 2 slices 6..7 us 0.34421933809214794 waits 2 triggers 3
  task step 0 phase 2 slices 7..8 us 0.34421933809214794 waits 2 triggers 3
  task step 0 phase 3 slices 8..9 us 0.34421933809214794 waits 3 triggers 4
  task step 0 phase 3 slices 9..10 us 0.34421933809214794 waits 3 triggers 4
  task step 0 phase 3 slices 10..11 us 0.34421933809214794 waits 3 triggers 4
  task step 0 phase 3 slices 11..12 us 0.34421933809214794 waits 3 triggers 4
  task step 1 phase 0 slices 0..1 us 0.276 waits 4 triggers 5
}
