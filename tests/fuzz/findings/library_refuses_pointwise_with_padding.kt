// setting x86-64-v3 1 strict 50134
// plans unfused random:950855
// constant w f32[8x32x1x1] random 0 0
graph {
  input %x0 : f32[1x32x7x6] "x0"
  %v1 = Constant() {hash="w"} : f32[8x32x1x1]
  %v3 = Conv(%x0, %v1) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]} : f32[1x8x9x8]
  output %v3 "y0"
}
