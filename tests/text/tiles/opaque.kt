// Primitives that are always a kernel by themselves (codegen/opaque).

// RUN: tiles opaque scatter_elements
graph {
  input %x : f32[4x5] "x"
  input %i : i64[2x5] "i"
  input %u : f32[2x5] "u"
  %y = ScatterElements(%x, %i, %u) {axis=0}
  output %y "y"
}
// EXPECT:
opaque() rm,rm,rm->rm
kernel {
  in0: f32[20]
  in1: i64[10]
  in2: f32[10]
  out0: f32[20]
  phase {
    map i0 in 20 {
      %0 = in0[i0]
      out0[i0] <- %0
    }
  }
  phase {
    scatter i0 in 2, i1 in 5 {
      %0 = in2[i0 * 5 + i1]
      %1 = in1[i0 * 5 + i1]
      %2 = checked %1 of 4
      out0[%2 * 5 + i1] <- %0
    }
  }
}

// RUN: tiles opaque exclusive_sum
graph {
  input %x : f32[3x7] "x"
  %y = CumSum(%x) {axis=1, exclusive=true}
  output %y "y"
}
// EXPECT:
opaque() rm->rm
kernel {
  in0: f32[21]
  out0: f32[21]
  phase {
    scan add i0 in 3 over r0 in 7 {
      %0 = in0[i0 * 7 + r0 - 1]
      %1 = f32 0
      %2 = %0 if 1 <= r0 <= 6 else %1
      out0[i0 * 7 + r0] <- %2
    }
  }
}

// RUN: tiles opaque top_k
graph {
  input %x : f32[4x9] "x"
  %v, %p = TopK(%x) {axis=1, k=3}
  output %v "v"
  output %p "p"
}
// EXPECT:
opaque() rm->rm,rm
kernel {
  in0: f32[36]
  out0: f32[12]
  out1: i64[12]
  phase {
    top_k max i0 in 4 over r0 in 9 rank k0 in 3 {
      %0 = in0[i0 * 9 + r0]
      out1[i0 * 3 + k0] <- %0
      out0[i0 * 3 + k0] <- %0
    }
  }
}

// RUN: tiles opaque suppression
graph {
  input %b : f32[1x6x4] "b"
  input %s : f32[1x2x6] "s"
  %y = NonMaxSuppression(%b, %s) {k=3, threshold=0.5}
  output %y "y"
}
// EXPECT:
opaque() rm,rm->rm
kernel {
  in0: f32[24]
  in1: f32[12]
  out0: i64[6]
  temp0: i64[12]
  phase {
    suppress max i1 in 2 over r0 in 6, r1 in 6 rank k0 in 3 {
      %0 = in1[i1 * 6 + r0]
      %1 = f64 0.5
      %2 = f64 0
      %3 = in0[r0 * 4 + 2]
      %4 = f64 cast(%3)
      %5 = in0[r1 * 4 + 2]
      %6 = f64 cast(%5)
      %7 = f64 min(%4, %6)
      %8 = in0[r0 * 4]
      %9 = f64 cast(%8)
      %10 = in0[r1 * 4]
      %11 = f64 cast(%10)
      %12 = f64 max(%9, %11)
      %13 = f64 sub(%7, %12)
      %14 = f64 max(%2, %13)
      %15 = in0[r0 * 4 + 3]
      %16 = f64 cast(%15)
      %17 = in0[r1 * 4 + 3]
      %18 = f64 cast(%17)
      %19 = f64 min(%16, %18)
      %20 = in0[r0 * 4 + 1]
      %21 = f64 cast(%20)
      %22 = in0[r1 * 4 + 1]
      %23 = f64 cast(%22)
      %24 = f64 max(%21, %23)
      %25 = f64 sub(%19, %24)
      %26 = f64 max(%2, %25)
      %27 = f64 mul(%14, %26)
      %28 = f64 sub(%4, %9)
      %29 = f64 sub(%16, %21)
      %30 = f64 mul(%28, %29)
      %31 = f64 sub(%6, %11)
      %32 = f64 sub(%18, %23)
      %33 = f64 mul(%31, %32)
      %34 = f64 add(%30, %33)
      %35 = f64 sub(%34, %27)
      %36 = f64 div(%27, %35)
      %37 = bool lt(%1, %36)
      out0[i1 * 3 + k0] <- %0
      temp0[i1 * 6 + r0] <- %37
    }
  }
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
// EXPECT:
recurrence(0,3,1,1) rm,rm->rm,rm
kernel {
  in0: f32[48]
  in1: f32[8]
  const0: f32[64] packed columns(2, 1, 8, 4)
  out0: f32[12]
  out1: f32[8]
  temp0: f32[16]
  s0: f32[16] at 0
  scratch 64
  phase {
    map i in 8 {
      %0 = in1[i]
      temp0[i] <- %0
    }
  }
  phase {
    for t in 3 {
      reduce add r in 1, c in 4 over k in 4 registers {
        %0 = temp0[k + ((t) % 2) * 8]
        %1 = const0[c + k * 4]
        %2 = f32 mul(%0, %1)
        s0[c] <- %2
      }
      reduce add r in 1, c in 4 over k in 4 registers {
        %0 = temp0[k + ((t) % 2) * 8]
        %1 = const0[c + k * 4 + 16]
        %2 = f32 mul(%0, %1)
        s0[c + 4] <- %2
      }
      reduce add r in 1, c in 4 over k in 4 registers {
        %0 = temp0[k + ((t) % 2) * 8]
        %1 = const0[c + k * 4 + 32]
        %2 = f32 mul(%0, %1)
        s0[c + 8] <- %2
      }
      reduce add r in 1, c in 4 over k in 4 registers {
        %0 = temp0[k + ((t) % 2) * 8]
        %1 = const0[c + k * 4 + 48]
        %2 = f32 mul(%0, %1)
        s0[c + 12] <- %2
      }
      map r in 1, c in 4 {
        %0 = f32 1
        %1 = in0[c + t * 16 + 4]
        %2 = s0[c + 4]
        %3 = f32 add(%1, %2)
        %4 = f32 neg(%3)
        %5 = f32 -80
        %6 = f32 max(%4, %5)
        %7 = f32 exp(%6)
        %8 = f32 add(%0, %7)
        %9 = f32 div(%0, %8)
        %10 = in0[c + t * 16 + 8]
        %11 = s0[c + 8]
        %12 = f32 add(%10, %11)
        %13 = f32 neg(%12)
        %14 = f32 max(%13, %5)
        %15 = f32 exp(%14)
        %16 = f32 add(%0, %15)
        %17 = f32 div(%0, %16)
        %18 = temp0[c + ((t) % 2) * 8 + 4]
        %19 = f32 mul(%17, %18)
        %20 = in0[c + t * 16]
        %21 = s0[c]
        %22 = f32 add(%20, %21)
        %23 = f32 neg(%22)
        %24 = f32 max(%23, %5)
        %25 = f32 exp(%24)
        %26 = f32 add(%0, %25)
        %27 = f32 div(%0, %26)
        %28 = in0[c + t * 16 + 12]
        %29 = s0[c + 12]
        %30 = f32 add(%28, %29)
        %31 = f32 tanh(%30)
        %32 = f32 mul(%27, %31)
        %33 = f32 add(%19, %32)
        %34 = f32 tanh(%33)
        %35 = f32 mul(%9, %34)
        temp0[c + ((t + 1) % 2) * 8] <- %35
        out1[c] <- %35 if 2 <= t <= 2
        temp0[c + ((t + 1) % 2) * 8 + 4] <- %33
        out1[c + 4] <- %33 if 2 <= t <= 2
        out0[c + t * 4] <- %35
      }
    }
  }
}
recurrence(1,1,1,1) rm,rm->rm,rm
kernel {
  in0: f32[48]
  in1: f32[8]
  const0: f32[64] packed columns(2, 1, 8, 4)
  out0: f32[12]
  out1: f32[8]
  temp0: f32[16]
  s0: f32[16] at 0
  scratch 64
  phase {
    map i in 8 {
      %0 = in1[i]
      temp0[i] <- %0
    }
  }
  phase t in 3 ordered {
    reduce add r in 1, c in 4 over k in 4 registers {
      %0 = temp0[k + ((t) % 2) * 8]
      %1 = const0[c + k * 4]
      %2 = f32 mul(%0, %1)
      s0[c] <- %2
    }
    reduce add r in 1, c in 4 over k in 4 registers {
      %0 = temp0[k + ((t) % 2) * 8]
      %1 = const0[c + k * 4 + 16]
      %2 = f32 mul(%0, %1)
      s0[c + 4] <- %2
    }
    reduce add r in 1, c in 4 over k in 4 registers {
      %0 = temp0[k + ((t) % 2) * 8]
      %1 = const0[c + k * 4 + 32]
      %2 = f32 mul(%0, %1)
      s0[c + 8] <- %2
    }
    reduce add r in 1, c in 4 over k in 4 registers {
      %0 = temp0[k + ((t) % 2) * 8]
      %1 = const0[c + k * 4 + 48]
      %2 = f32 mul(%0, %1)
      s0[c + 12] <- %2
    }
    map r in 1, c in 4 {
      %0 = f32 1
      %1 = in0[c + t * 16 + 4]
      %2 = s0[c + 4]
      %3 = f32 add(%1, %2)
      %4 = f32 neg(%3)
      %5 = f32 -80
      %6 = f32 max(%4, %5)
      %7 = f32 exp(%6)
      %8 = f32 add(%0, %7)
      %9 = f32 div(%0, %8)
      %10 = in0[c + t * 16 + 8]
      %11 = s0[c + 8]
      %12 = f32 add(%10, %11)
      %13 = f32 neg(%12)
      %14 = f32 max(%13, %5)
      %15 = f32 exp(%14)
      %16 = f32 add(%0, %15)
      %17 = f32 div(%0, %16)
      %18 = temp0[c + ((t) % 2) * 8 + 4]
      %19 = f32 mul(%17, %18)
      %20 = in0[c + t * 16]
      %21 = s0[c]
      %22 = f32 add(%20, %21)
      %23 = f32 neg(%22)
      %24 = f32 max(%23, %5)
      %25 = f32 exp(%24)
      %26 = f32 add(%0, %25)
      %27 = f32 div(%0, %26)
      %28 = in0[c + t * 16 + 12]
      %29 = s0[c + 12]
      %30 = f32 add(%28, %29)
      %31 = f32 tanh(%30)
      %32 = f32 mul(%27, %31)
      %33 = f32 add(%19, %32)
      %34 = f32 tanh(%33)
      %35 = f32 mul(%9, %34)
      temp0[c + ((t + 1) % 2) * 8] <- %35
      out1[c] <- %35 if 2 <= t <= 2
      temp0[c + ((t + 1) % 2) * 8 + 4] <- %33
      out1[c + 4] <- %33 if 2 <= t <= 2
      out0[c + t * 4] <- %35
    }
  }
}

// RUN: tiles opaque gather_slices
graph {
  input %x : f32[4x3x5] "x"
  input %i : i64[6x2] "i"
  %y = GatherND(%x, %i) {axis=0}
  output %y "y"
}
// EXPECT:
opaque() rm,rm->rm
kernel {
  in0: f32[60]
  in1: i64[12]
  out0: f32[30]
  phase {
    map i0 in 6, i1 in 5 {
      %0 = in1[i0 * 2]
      %1 = checked %0 of 4
      %2 = in1[i0 * 2 + 1]
      %3 = checked %2 of 3
      %4 = in0[%1 * 15 + %3 * 5 + i1]
      out0[i0 * 5 + i1] <- %4
    }
  }
}

// RUN: tiles opaque scatter_slices
graph {
  input %x : f32[4x5] "x"
  input %i : i64[2x1] "i"
  input %u : f32[2x5] "u"
  %y = ScatterND(%x, %i, %u)
  output %y "y"
}
// EXPECT:
opaque() rm,rm,rm->rm
kernel {
  in0: f32[20]
  in1: i64[2]
  in2: f32[10]
  out0: f32[20]
  phase {
    map i0 in 20 {
      %0 = in0[i0]
      out0[i0] <- %0
    }
  }
  phase {
    scatter i0 in 2, i1 in 5 {
      %0 = in2[i0 * 5 + i1]
      %1 = in1[i0]
      %2 = checked %1 of 4
      out0[%2 * 5 + i1] <- %0
    }
  }
}

// RUN: tiles opaque max_pool_positions
graph {
  input %x : f32[1x2x4x4] "x"
  %y = MaxPoolIndices(%x) {kernel=[2,2], strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
opaque() rm->rm
kernel {
  in0: f32[32]
  out0: i64[8]
  phase {
    arg_reduce max i1 in 2, i2 in 2, i3 in 2 over r0 in 2, r1 in 2 at i1 * 16 + i2 * 8 + i3 * 2 + r0 * 4 + r1 by comparison {
      %0 = in0[i1 * 16 + i2 * 8 + i3 * 2 + r0 * 4 + r1]
      out0[i1 * 4 + i2 * 2 + i3] <- %0
    }
  }
}
