// Windows (rewrite/window.cpp, and depthwise convolutions as windows).

// RUN: alternatives --only window_of_window window_of_window
graph {
  input %x : f32[1x2x7x6] "x"
  %small = WindowMax(%x) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  %large = WindowMax(%x) {kernel=[5,5], strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2]}
  output %small "small"
  output %large "large"
}

// RUN: alternatives --only separable_window separable_window
graph {
  input %x : f32[1x2x7x6] "x"
  %y = WindowMax(%x) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: alternatives --only depthwise_as_window depthwise_as_window
graph {
  input %x : f32[1x2x5x5] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[2x1x2x2]
  %m = Constant() {value=[1,2,3,4]} : f32[2x2x1x1]
  %c = Conv(%x, %w) {strides=[2,1], dilations=[1,1], pads_before=[0,1], pads_after=[1,0], group=2}
  %r = Relu(%c)
  %y = Conv(%r, %m) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
