// setting native 2 standard 50187
// plans unfused random:840795
// constant w f32[32x1x9x9] random 0 0
graph {
  input %x0 : f32[1x1x10x8] "x0"
  %v1 = Constant() {hash="w"} : f32[32x1x9x9]
  %v2 = Conv(%x0, %v1) {strides=[1,1], dilations=[1,1], pads_before=[4,4], pads_after=[4,4], output_padding=[0,0]} : f32[1x32x10x8]
  output %v2 "y0"
}
