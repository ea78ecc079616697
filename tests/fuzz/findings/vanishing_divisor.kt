// setting x86-64-v3 2 strict 101
// plans random:255343
// constant 2f692ba1deabe64c8c9d688fc70281ea f32[18x18x3x3] random 0 0
// constant 604f86b4ebbb22cb1ae8da00bfb1d104 f32[3x18x8x1] random 0 0
graph {
  input %x0 : f32[3x18x6x13] "x0"
  %v1 = Constant() {hash="2f692ba1deabe64c8c9d688fc70281ea"} : f32[18x18x3x3]
  %v2 = Conv(%x0, %v1) {strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2], output_padding=[0,0]} : f32[3x18x8x15]
  %v3 = Add(%v2, %v2) : f32[3x18x8x15]
  %v4 = Sigmoid(%v3) : f32[3x18x8x15]
  %v5 = Constant() {hash="604f86b4ebbb22cb1ae8da00bfb1d104"} : f32[3x18x8x1]
  %v6 = Fmod(%v5, %v4) : f32[3x18x8x15]
  output %v6 "y0"
}
