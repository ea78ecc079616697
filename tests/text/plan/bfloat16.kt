// A plan whose steps exchange bfloat16.

// RUN: plan --bfloat16 --target x86-64-v4-bf16 --threads 1 product_and_storage
// Two steps read %r, which is 2 MiB as float32: the product's operand, and the quotient's.
graph {
  input %x : f32[1024x512] "x"
  input %z : f32[1024x512] "z"
  %w = Constant() {splat=0.5} : f32[512x16]
  %r = Add(%x, %z) @ "sum"
  %p = MatMul(%r, %w) @ "product"
  %t = ReduceMax(%p) {axes=[1],keepdims=true} @ "most"
  %y = Div(%r, %t) @ "quotient"
  output %y "y"
}
// EXPECT:
x86-64-v4-bf16, 1 threads: 93.047 us
arena of 1085440 bytes
tensor 0: %x f32[1024x512] rm, 2097152 bytes: input 0
tensor 1: %z f32[1024x512] rm, 2097152 bytes: input 1
tensor 2: %p~0 bf16[1024x512] rm, 1048576 bytes: arena 0
tensor 3: %p~1 bf16[512x16] rm, 16384 bytes: constant 0 packed column_groups(1, 1, 16, 0)
tensor 4: %p~4 bf16[1024x16] rm, 32768 bytes: arena 1048576
tensor 5: %t f32[1024x1] rm, 4096 bytes: arena 1081344
tensor 6: %y f32[1024x512] rm, 2097152 bytes: output 0
tensor 7: %y f32[1024x512] rm, 2097152 bytes: output 0, output of tensor 6
kernel 0: 524288 flops, 5242880 bytes, scratch 0
  phase of 8 slices, 1 at a time
kernel 1: 16777216 flops, 1097728 bytes, scratch 2048
  phase of 7 slices, 1 at a time
kernel 2: 16384 flops, 36864 bytes, scratch 4096
  phase of 1 slices, 1 at a time
kernel 3: 2097152 flops, 3149824 bytes, scratch 0
  phase of 64 slices, 2 at a time
step 0: kernel 0: Add+Cast loop() rm,rm->rm, 31.878 us
  tensors [0, 1], constants [] -> [2]
  %r = Add(%x, %z) : f32[1024x512] @ "sum"
  %p_0 = Cast(%r) {to=bf16} : bf16[1024x512] @ "product"
step 1: kernel 1: MatMul(bf16)+Cast matmul(1,30) rm->rm, 43.711 us
  tensors [2], constants [3] -> [4]
  %p = MatMul(%p_0, %p_1) {wide_result=true} : f32[1024x16] @ "product"
  %p_4 = Cast(%p) {to=bf16} : bf16[1024x16] @ "product"
step 2: kernel 2: Cast+ReduceMax loop() rm->rm, 0.116 us
  tensors [4], constants [] -> [5]
  %p = Cast(%p_4) : f32[1024x16] @ "product"
  %t = ReduceMax(%p) {axes=[1]} : f32[1024x1] @ "most"
step 3: kernel 3: Cast+Div loop() rm,rm->rm, 17.343 us
  tensors [2, 5], constants [] -> [6]
  %r = Cast(%p_0) : f32[1024x512] @ "sum"
  %y = Div(%r, %t) : f32[1024x512] @ "quotient"
no tasks
