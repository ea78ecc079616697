// Operators that move elements, and masks made from positions.

// RUN: fission tile
graph {
  input %a : f32[2x3x1] "a"
  %y = Tile(%a) {shape=[2,1,5]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3x1] "a"
  %y.1 = Reshape(%a) {shape=[1,2,3,1]} : f32[1x2x3x1] @ "node"
  %y.2 = Expand(%y.1) {shape=[2,2,3,5]} : f32[2x2x3x5] @ "node"
  %y = Reshape(%y.2) {shape=[4,3,5]} : f32[4x3x5] @ "node"
  output %y "y"
}

// RUN: fission depth_to_space
graph {
  input %a : f32[1x8x3x2] "a"
  %y = DepthToSpace(%a) {axis=2} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x8x3x2] "a"
  %y.1 = Reshape(%a) {shape=[1,2,2,2,3,2]} : f32[1x2x2x2x3x2] @ "node"
  %y.2 = Transpose(%y.1) {perm=[0,3,4,1,5,2]} : f32[1x2x3x2x2x2] @ "node"
  %y = Reshape(%y.2) {shape=[1,2,6,4]} : f32[1x2x6x4] @ "node"
  output %y "y"
}

// RUN: fission depth_to_space_crd
graph {
  input %a : f32[1x8x3x2] "a"
  %y = DepthToSpaceCRD(%a) {axis=2} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x8x3x2] "a"
  %y.1 = Reshape(%a) {shape=[1,2,2,2,3,2]} : f32[1x2x2x2x3x2] @ "node"
  %y.2 = Transpose(%y.1) {perm=[0,1,4,2,5,3]} : f32[1x2x3x2x2x2] @ "node"
  %y = Reshape(%y.2) {shape=[1,2,6,4]} : f32[1x2x6x4] @ "node"
  output %y "y"
}

// RUN: fission space_to_depth
graph {
  input %a : f32[1x2x6x4] "a"
  %y = SpaceToDepth(%a) {axis=2} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x2x6x4] "a"
  %y.1 = Reshape(%a) {shape=[1,2,3,2,2,2]} : f32[1x2x3x2x2x2] @ "node"
  %y.2 = Transpose(%y.1) {perm=[0,3,5,1,2,4]} : f32[1x2x2x2x3x2] @ "node"
  %y = Reshape(%y.2) {shape=[1,8,3,2]} : f32[1x8x3x2] @ "node"
  output %y "y"
}

// RUN: fission one_hot
graph {
  input %a : i64[4] "a"
  input %b : f32[2] "b"
  %y = OneHot(%a, %b) {axis=1, depth=3} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : i64[4] "a"
  input %b : f32[2] "b"
  %y.1 = Reshape(%a) {shape=[4,1]} : i64[4x1] @ "node"
  %y.2 = Constant() {value=[0]} : i64[] @ "node"
  %y.3 = Less(%y.1, %y.2) : bool[4x1] @ "node"
  %y.4 = Constant() {value=[3]} : i64[] @ "node"
  %y.5 = Add(%y.1, %y.4) : i64[4x1] @ "node"
  %y.6 = Where(%y.3, %y.5, %y.1) : i64[4x1] @ "node"
  %y.7 = Constant() {value=[0,1,2]} : i64[3] @ "node"
  %y.8 = Slice(%b) {starts=[0], sizes=[1], steps=[1]} : f32[1] @ "node"
  %y.9 = Reshape(%y.8) : f32[] @ "node"
  %y.10 = Slice(%b) {starts=[1], sizes=[1], steps=[1]} : f32[1] @ "node"
  %y.11 = Reshape(%y.10) : f32[] @ "node"
  %y.12 = Equal(%y.7, %y.6) : bool[4x3] @ "node"
  %y = Where(%y.12, %y.11, %y.9) : f32[4x3] @ "node"
  output %y "y"
}

// RUN: fission trilu
graph {
  input %a : f32[2x4x4] "a"
  %y = Trilu(%a) {axis=1, reverse=true} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x4x4] "a"
  %y.1 = Constant() {value=[0,1,1,1,0,0,1,1,0,0,0,1,0,0,0,0]} : bool[4x4] @ "node"
  %y.2 = Constant() {value=[0]} : f32[] @ "node"
  %y = Where(%y.1, %a, %y.2) : f32[2x4x4] @ "node"
  output %y "y"
}
