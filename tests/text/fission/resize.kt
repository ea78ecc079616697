// Resize: whole repetitions are an expand, whole steps a slice, anything else gathers with weights.

// RUN: fission nearest_doubled
graph {
  input %a : f32[1x4x5x5] "a"
  %y = Resize(%a) {sizes=[1,4,10,10], scales=[1,1,2,2], mode="nearest", coordinate_mode="asymmetric", nearest_mode="floor"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x4x5x5] "a"
  %y.1 = Reshape(%a) {shape=[1,4,5,1,5,1]} : f32[1x4x5x1x5x1] @ "node"
  %y.2 = Expand(%y.1) {shape=[1,4,5,2,5,2]} : f32[1x4x5x2x5x2] @ "node"
  %y = Reshape(%y.2) {shape=[1,4,10,10]} : f32[1x4x10x10] @ "node"
  output %y "y"
}

// RUN: fission nearest_halved
graph {
  input %a : f32[1x4x6x6] "a"
  %y = Resize(%a) {sizes=[1,4,3,3], scales=[1,1,0.5,0.5], mode="nearest", coordinate_mode="asymmetric", nearest_mode="floor"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x4x6x6] "a"
  %y = Slice(%a) {starts=[0,0,0,0], sizes=[1,4,3,3], steps=[1,1,2,2]} : f32[1x4x3x3] @ "node"
  output %y "y"
}

// RUN: fission nearest_uneven
graph {
  input %a : f32[1x4x4x6] "a"
  %y = Resize(%a) {sizes=[1,4,6,6], scales=[1,1,1.5,1], mode="nearest"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x4x4x6] "a"
  %y.1 = Constant() {value=[0,0,1,2,2,3]} : i64[6] @ "node"
  %y = Gather(%a, %y.1) {axis=2} : f32[1x4x6x6] @ "node"
  output %y "y"
}

// RUN: fission linear_doubled
graph {
  input %a : f32[1x2x3x5] "a"
  %y = Resize(%a) {sizes=[1,2,6,5], scales=[1,1,2,1], mode="linear", coordinate_mode="half_pixel"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x2x3x5] "a"
  %y.1 = Constant() {value=[0,0,0,1,1,2]} : i64[6] @ "node"
  %y.2 = Gather(%a, %y.1) {axis=2} : f32[1x2x6x5] @ "node"
  %y.6 = Constant() {value=[0,1,1,2,2,2]} : i64[6] @ "node"
  %y.7 = Gather(%a, %y.6) {axis=2} : f32[1x2x6x5] @ "node"
  %y.4 = Constant() {value=[0.25,0.75,0.25,0.75,0.25,0.75]} : f32[6x1] @ "node"
  %y.5 = Mul(%y.2, %y.4) : f32[1x2x6x5] @ "node"
  %y.9 = Constant() {value=[0.75,0.25,0.75,0.25,0.75,0.25]} : f32[6x1] @ "node"
  %y.10 = Mul(%y.7, %y.9) : f32[1x2x6x5] @ "node"
  %y = Add(%y.5, %y.10) : f32[1x2x6x5] @ "node"
  output %y "y"
}

// RUN: fission linear_halved
graph {
  input %a : f32[1x2x4x5] "a"
  %y = Resize(%a) {sizes=[1,2,2,5], scales=[1,1,0.5,1], mode="linear", coordinate_mode="half_pixel"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x2x4x5] "a"
  %y.1 = Slice(%a) {starts=[0,0,0,0], sizes=[1,2,2,5], steps=[1,1,2,1]} : f32[1x2x2x5] @ "node"
  %y.5 = Slice(%a) {starts=[0,0,1,0], sizes=[1,2,2,5], steps=[1,1,2,1]} : f32[1x2x2x5] @ "node"
  %y.3 = Constant() {value=[0.5]} : f32[] @ "node"
  %y.4 = Mul(%y.1, %y.3) : f32[1x2x2x5] @ "node"
  %y.8 = Mul(%y.5, %y.3) : f32[1x2x2x5] @ "node"
  %y = Add(%y.4, %y.8) : f32[1x2x2x5] @ "node"
  output %y "y"
}

// RUN: fission cubic
graph {
  input %a : f32[1x1x2x3] "a"
  %y = Resize(%a) {sizes=[1,1,2,6], scales=[1,1,1,2], mode="cubic", coordinate_mode="align_corners"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x1x2x3] "a"
  %y.1 = Constant() {value=[0,0,0,0,0,1]} : i64[6] @ "node"
  %y.2 = Gather(%a, %y.1) {axis=3} : f32[1x1x2x6] @ "node"
  %y.3 = Constant() {value=[0,-0.108,-0.024,-0.096,-0.072,0]} : f32[6] @ "node"
  %y.4 = Mul(%y.2, %y.3) : f32[1x1x2x6] @ "node"
  %y.5 = Constant() {value=[0,0,0,1,1,2]} : i64[6] @ "node"
  %y.6 = Gather(%a, %y.5) {axis=3} : f32[1x1x2x6] @ "node"
  %y.7 = Constant() {value=[1,0.72,0.2,0.92,0.46,1]} : f32[6] @ "node"
  %y.8 = Mul(%y.6, %y.7) : f32[1x1x2x6] @ "node"
  %y.9 = Add(%y.4, %y.8) : f32[1x1x2x6] @ "node"
  %y.10 = Constant() {value=[1,1,1,2,2,2]} : i64[6] @ "node"
  %y.11 = Gather(%a, %y.10) {axis=3} : f32[1x1x2x6] @ "node"
  %y.12 = Constant() {value=[0,0.46,0.92,0.2,0.72,0]} : f32[6] @ "node"
  %y.13 = Mul(%y.11, %y.12) : f32[1x1x2x6] @ "node"
  %y.14 = Add(%y.9, %y.13) : f32[1x1x2x6] @ "node"
  %y.15 = Constant() {value=[2,2,2,2,2,2]} : i64[6] @ "node"
  %y.16 = Gather(%a, %y.15) {axis=3} : f32[1x1x2x6] @ "node"
  %y.17 = Constant() {value=[0,-0.072,-0.096,-0.024,-0.108,0]} : f32[6] @ "node"
  %y.18 = Mul(%y.16, %y.17) : f32[1x1x2x6] @ "node"
  %y = Add(%y.14, %y.18) : f32[1x1x2x6] @ "node"
  output %y "y"
}

// RUN: fission cropped
graph {
  input %a : f32[1x1x2x3] "a"
  %y = Resize(%a) {sizes=[1,1,2,6], scales=[1,1,1,2], mode="linear", coordinate_mode="tf_crop_and_resize"} @ "node"
  output %y "y"
}
// EXPECT:
error: Resize node 'node' with inputs f32[1x1x2x3]: coordinate mode 'tf_crop_and_resize'
