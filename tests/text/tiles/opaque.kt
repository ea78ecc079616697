// Primitives that are always a kernel by themselves (codegen/opaque).

// RUN: tiles opaque gather_elements
graph {
  input %x : f32[3x5] "x"
  input %i : i64[2x5] "i"
  %y = GatherElements(%x, %i) {axis=0}
  output %y "y"
}

// RUN: tiles opaque scatter_elements
graph {
  input %x : f32[4x5] "x"
  input %i : i64[2x5] "i"
  input %u : f32[2x5] "u"
  %y = ScatterElements(%x, %i, %u) {axis=0}
  output %y "y"
}

// RUN: tiles opaque exclusive_sum
graph {
  input %x : f32[3x7] "x"
  %y = CumSum(%x) {axis=1, exclusive=true}
  output %y "y"
}

// RUN: tiles opaque top_k
graph {
  input %x : f32[4x9] "x"
  %v, %p = TopK(%x) {axis=1, k=3}
  output %v "v"
  output %p "p"
}

// RUN: tiles opaque suppression
graph {
  input %b : f32[1x6x4] "b"
  input %s : f32[1x2x6] "s"
  %y = NonMaxSuppression(%b, %s) {k=3, threshold=0.5}
  output %y "y"
}

// RUN: tiles recurrence lstm
graph {
  input %gates : f32[3x1x16] "gates"
  input %state : f32[2x1x4] "state"
  %w = Constant() {splat=0.5} : f32[4x4x4]
  %y, %last = Recurrence(%gates, %w, %state) {cell="lstm", activations="Sigmoid Tanh Tanh", alphas=[0,0,0], betas=[0,0,0]}
  output %y "y"
  output %last "last"
}
