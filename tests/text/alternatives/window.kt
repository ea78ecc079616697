// Windows (rewrite/window.cpp, and depthwise convolutions as windows).

// RUN: alternatives --only window_of_window window_of_window
graph {
  input %x : f32[1x2x7x6] "x"
  %small = WindowMax(%x) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  %large = WindowMax(%x) {kernel=[5,5], strides=[1,1], dilations=[1,1], pads_before=[2,2], pads_after=[2,2]}
  output %small "small"
  output %large "large"
}
// EXPECT:
graph {
  input %x : f32[1x2x7x6] "x"
  %small = WindowMax(%x) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x2x7x6]
  %large = WindowMax(%small) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x2x7x6]
  output %small "small"
  output %large "large"
}
applied window_of_window: 1

// RUN: alternatives --only separable_window separable_window
graph {
  input %x : f32[1x2x7x6] "x"
  %y = WindowMax(%x) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x2x7x6] "x"
  %y_0 = WindowMax(%x) {kernel=[1,3], strides=[1,1], dilations=[1,1], pads_before=[0,1], pads_after=[0,1]} : f32[1x2x7x6]
  %y = WindowMax(%y_0) {kernel=[3,1], strides=[1,1], dilations=[1,1], pads_before=[1,0], pads_after=[1,0]} : f32[1x2x7x6]
  output %y "y"
}
applied separable_window: 1

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
// EXPECT:
graph {
  input %x : f32[1x2x5x5] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[2x1x2x2]
  %m = Constant() {value=[1,2,3,4]} : f32[2x2x1x1]
  %c = Conv(%x, %w) {strides=[2,1], dilations=[1,1], pads_before=[0,1], pads_after=[1,0], group=2} : f32[1x2x3x5]
  %c_1 = Constant() {value=[1,5,2,6,3,7,4,8]} : f32[2x2x2]
  %c |= WindowDot(%x, %c_1) {kernel=[2,2], strides=[2,1], dilations=[1,1], pads_before=[0,1], pads_after=[1,0]}
  %r = Relu(%c) : f32[1x2x3x5]
  %y = Conv(%r, %m) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x3x5]
  output %y "y"
}
applied depthwise_as_window: 1
