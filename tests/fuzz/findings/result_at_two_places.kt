// setting native 1 standard 1
// plans random:382972
graph {
  input %x0 : f32[1x1x1x2] "x0"
  %v1 = Constant() {value=[-0.73401654,-0.7226957]} : f32[2x1x1x1]
  %v2 = Conv(%x0, %v1) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]} : f32[1x2x1x2]
  %v3 = Reshape(%v2) {shape=[1,2,2]} : f32[1x2x2]
  %v4 = Transpose(%v3) {perm=[0,2,1]} : f32[1x2x2]
  %v5 = Reshape(%v2) {shape=[1,2,2]} : f32[1x2x2]
  %v6 = Add(%v4, %v5) : f32[1x2x2]
  output %v6 "y0"
}
