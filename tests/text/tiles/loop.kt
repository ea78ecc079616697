// Nests of memory-bound primitives (codegen/loop).

// RUN: tiles loop elementwise_with_broadcasts
// A bias per column, a number of one element.
graph {
  input %x : f32[4x6] "x"
  %b = Constant() {value=[1,2,3,4,5,6]} : f32[6]
  %half = Constant() {value=[0.5]} : f32[]
  %s = Add(%x, %b)
  %h = Mul(%s, %half)
  %y = Relu(%h)
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[24]
  const0: f32[6]
  const1: f32[1]
  out0: f32[24]
  phase i1 in 4 {
    map i2 in 6 {
      %0 = in0[i1 * 6 + i2]
      %1 = const0[i2]
      %2 = f32 add(%0, %1)
      %3 = f32 0.5
      %4 = f32 mul(%2, %3)
      %5 = f32 0
      %6 = f32 max(%4, %5)
      out0[i1 * 6 + i2] <- %6
    }
  }
}

// RUN: tiles loop channel_bias
graph {
  input %x : f32[2x3x4x5] "x"
  input %b : f32[1x3x1x1] "b"
  %y = Add(%x, %b)
  output %y "y"
}
// EXPECT:
loop() rm,rm->rm
kernel {
  in0: f32[120]
  in1: f32[3]
  out0: f32[120]
  phase i3 in 2, i4 in 3 {
    map i2 in 20 {
      %0 = in0[i2 + i3 * 60 + i4 * 20]
      %1 = in1[i4]
      %2 = f32 add(%0, %1)
      out0[i2 + i3 * 60 + i4 * 20] <- %2
    }
  }
}
loop() p0231,rm->p0231
kernel {
  in0: f32[120]
  in1: f32[3]
  out0: f32[120]
  phase i1 in 40 by 5 {
    map i1 in 40, i2 in 3 {
      %0 = in0[i1 * 3 + i2]
      %1 = in1[i2]
      %2 = f32 add(%0, %1)
      out0[i1 * 3 + i2] <- %2
    }
  }
}
loop() p0231,rm->rm
kernel {
  in0: f32[120]
  in1: f32[3]
  out0: f32[120]
  phase i1 in 2, i3 in 3 {
    map i4 in 20 {
      %0 = in0[i1 * 60 + i3 + i4 * 3]
      %1 = in1[i3]
      %2 = f32 add(%0, %1)
      out0[i1 * 60 + i3 * 20 + i4] <- %2
    }
  }
}
loop() rm,rm->p0231
kernel {
  in0: f32[120]
  in1: f32[3]
  out0: f32[120]
  phase i1 in 2 {
    map i3 in 20, i4 in 3 {
      %0 = in0[i1 * 60 + i3 + i4 * 20]
      %1 = in1[i4]
      %2 = f32 add(%0, %1)
      out0[i1 * 60 + i3 * 3 + i4] <- %2
    }
  }
}

// RUN: tiles loop row_sum
graph {
  input %x : f32[6x20] "x"
  %y = ReduceSum(%x) {axes=[1]}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[120]
  out0: f32[6]
  s0: f32[1] at 0
  scratch 64
  phase i0 in 6 {
    reduce add over r2 in 20 {
      %0 = in0[i0 * 20 + r2]
      s0[0] <- %0
    }
    map {
      %0 = s0[0]
      out0[i0] <- %0
    }
  }
}

// RUN: tiles loop column_maximum
graph {
  input %x : f32[6x20] "x"
  %y = ReduceMax(%x) {axes=[0]}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[120]
  out0: f32[20]
  s0: f32[4] at 0
  scratch 64
  phase i3 in 5 {
    reduce max j5 in 4 over r6 in 6 {
      %0 = in0[i3 * 4 + j5 + r6 * 20]
      s0[j5] <- %0
    }
    map i4 in 4 {
      %0 = s0[i4]
      out0[i3 * 4 + i4] <- %0
    }
  }
}

// RUN: tiles loop softmax
graph {
  input %x : f32[4x10] "x"
  %max = ReduceMax(%x) {axes=[1]}
  %d = Sub(%x, %max)
  %e = Exp(%d)
  %sum = ReduceSum(%e) {axes=[1]}
  %y = Div(%e, %sum)
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[40]
  out0: f32[40]
  s0: f32[1] at 0
  s1: f32[10] at 64
  s2: f32[1] at 128
  scratch 192
  phase i1 in 4 {
    reduce max over r18 in 10 {
      %0 = in0[i1 * 10 + r18]
      s2[0] <- %0
    }
    reduce add over r14 in 10 {
      %0 = in0[i1 * 10 + r14]
      %1 = s2[0]
      %2 = f32 sub(%0, %1)
      %3 = f32 exp(%2)
      s0[0] <- %3
      s1[r14] <- %3
    }
    map i2 in 10 {
      %0 = s1[i2]
      %1 = f32 1.2676506002282294e+30
      %2 = s0[0]
      %3 = f32 abs(%2)
      %4 = bool lt(%1, %3)
      %5 = f32 5.421010862427522e-20
      %6 = f32 7.888609052210118e-31
      %7 = bool lt(%3, %6)
      %8 = f32 1.8446744073709552e+19
      %9 = f32 1
      %10 = f32 select(%7, %8, %9)
      %11 = f32 select(%4, %5, %10)
      %12 = f32 mul(%0, %11)
      %13 = f32 mul(%2, %11)
      %14 = f32 reciprocal(%13)
      %15 = f32 mul(%12, %14)
      out0[i1 * 10 + i2] <- %15
    }
  }
}

// RUN: tiles loop statistics_beside_their_rows
// Two outputs of different sizes.
graph {
  input %a : f32[4x10] "a"
  input %b : f32[4x10] "b"
  %y = Add(%a, %b)
  %s = ReduceSum(%y) {axes=[1]}
  output %y "y"
  output %s "s"
}
// EXPECT:
loop() rm,rm->rm,rm
kernel {
  in0: f32[40]
  in1: f32[40]
  out0: f32[40]
  out1: f32[4]
  s0: f32[4] at 0
  scratch 64
  phase {
    reduce add j5 in 4 over r6 in 10 {
      %0 = in0[j5 * 10 + r6]
      %1 = in1[j5 * 10 + r6]
      %2 = f32 add(%0, %1)
      s0[j5] <- %2
    }
    map o4 in 4 {
      %0 = s0[o4]
      out1[o4] <- %0
    }
    map i0 in 40 {
      %0 = in0[i0]
      %1 = in1[i0]
      %2 = f32 add(%0, %1)
      out0[i0] <- %2
    }
  }
}

// RUN: tiles loop arg_max
graph {
  input %x : f32[3x7] "x"
  %y = ArgMax(%x) {axis=1}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[21]
  out0: i64[3]
  s0: i64[3] at 0
  scratch 64
  phase {
    arg_reduce max j3 in 3 over r4 in 7 at r4 {
      %0 = in0[j3 * 7 + r4]
      s0[j3] <- %0
    }
    map i0 in 3 {
      %0 = s0[i0]
      out0[i0] <- %0
    }
  }
}

// RUN: tiles loop transpose
graph {
  input %x : f32[2x9x12] "x"
  %t = Transpose(%x) {perm=[0,2,1]}
  %y = Relu(%t)
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[216]
  out0: f32[216]
  phase i1 in 2 {
    map i3 in 12, i4 in 9 {
      %0 = in0[i1 * 108 + i3 + i4 * 12]
      %1 = f32 0
      %2 = f32 max(%0, %1)
      out0[i1 * 108 + i3 * 9 + i4] <- %2
    }
  }
}

// RUN: tiles loop --layouts rm->rm padded_window
graph {
  input %x : f32[1x2x6x7] "x"
  %y = WindowMax(%x) {kernel=[3,3], strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[84]
  out0: f32[24]
  phase i3 in 2, i4 in 3 {
    map i2 in 4 {
      %0 = in0[i2 * 2 + i3 * 42 + i4 * 14 - 8]
      %1 = f32 -inf
      %2 = %0 if 0 <= i4 * 2 - 1 <= 5 and 0 <= i2 * 2 - 1 <= 6 else %1
      %3 = in0[i2 * 2 + i3 * 42 + i4 * 14 - 7]
      %4 = %3 if 0 <= i4 * 2 - 1 <= 5 else %1
      %5 = f32 max(%2, %4)
      %6 = in0[i2 * 2 + i3 * 42 + i4 * 14 - 6]
      %7 = %6 if 0 <= i4 * 2 - 1 <= 5 and 0 <= i2 * 2 + 1 <= 6 else %1
      %8 = f32 max(%5, %7)
      %9 = in0[i2 * 2 + i3 * 42 + i4 * 14 - 1]
      %10 = %9 if 0 <= i2 * 2 - 1 <= 6 else %1
      %11 = f32 max(%8, %10)
      %12 = in0[i2 * 2 + i3 * 42 + i4 * 14]
      %13 = f32 max(%11, %12)
      %14 = in0[i2 * 2 + i3 * 42 + i4 * 14 + 1]
      %15 = %14 if 0 <= i2 * 2 + 1 <= 6 else %1
      %16 = f32 max(%13, %15)
      %17 = in0[i2 * 2 + i3 * 42 + i4 * 14 + 6]
      %18 = %17 if 0 <= i2 * 2 - 1 <= 6 else %1
      %19 = f32 max(%16, %18)
      %20 = in0[i2 * 2 + i3 * 42 + i4 * 14 + 7]
      %21 = f32 max(%19, %20)
      %22 = in0[i2 * 2 + i3 * 42 + i4 * 14 + 8]
      %23 = %22 if 0 <= i2 * 2 + 1 <= 6 else %1
      %24 = f32 max(%21, %23)
      out0[i2 + i3 * 12 + i4 * 4] <- %24
    }
  }
}

// RUN: tiles loop concat
graph {
  input %a : f32[2x3] "a"
  input %b : f32[2x4] "b"
  %y = Concat(%a, %b) {axis=1}
  output %y "y"
}
// EXPECT:
loop() rm,rm->rm
kernel {
  in0: f32[6]
  in1: f32[8]
  out0: f32[14]
  phase i1 in 2 {
    map i2 in 7 {
      %0 = in0[i1 * 3 + i2]
      %1 = in1[i1 * 4 + i2 - 3]
      %2 = %0 if 0 <= i2 <= 2 else %1
      out0[i1 * 7 + i2] <- %2
    }
  }
}

// RUN: tiles loop reflected_border
graph {
  input %x : f32[3x5] "x"
  %y = Pad(%x) {before=[0,2], after=[1,2], mode=reflect}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[15]
  out0: f32[36]
  phase i1 in 4 {
    map i2 in 9 {
      %0 = in0[-index_abs(-i1 + 2) * 5 - index_abs(-index_abs(i2 - 2) + 4) + 14]
      out0[i1 * 9 + i2] <- %0
    }
  }
}

// RUN: tiles loop gather_by_data
// An index from data is checked, and counts from the end where it is negative.
graph {
  input %x : f32[5x8] "x"
  input %i : i64[3] "i"
  %y = Gather(%x, %i) {axis=0}
  output %y "y"
}
// EXPECT:
loop() rm,rm->rm
kernel {
  in0: f32[40]
  in1: i64[3]
  out0: f32[24]
  phase i1 in 3 {
    map i2 in 8 {
      %0 = in1[i1]
      %1 = checked %0 of 5
      %2 = in0[%1 * 8 + i2]
      out0[i1 * 8 + i2] <- %2
    }
  }
}

// RUN: tiles loop elements_by_data
// An index for each element, in 32 bits where these hold it.
graph {
  input %x : f32[2x3x5] "x"
  input %i : i16[3x4] "i"
  %all = Expand(%i) {shape=[2,3,4]}
  %g = GatherElements(%x, %all) {axis=2}
  %y = Exp(%g)
  output %y "y"
}
// EXPECT:
loop() rm,rm->rm
kernel {
  in0: i16[12]
  in1: f32[30]
  out0: f32[24]
  phase i1 in 2, i3 in 3 {
    map i4 in 4 {
      %0 = in0[i3 * 4 + i4]
      %1 = i32 cast(%0)
      %2 = checked %1 of 5
      %3 = in1[%2 + i1 * 15 + i3 * 5]
      %4 = f32 exp(%3)
      out0[i1 * 12 + i3 * 4 + i4] <- %4
    }
  }
}

// RUN: tiles loop two_products
graph {
  input %x : f32[4x4] "x"
  %a = MatMul(%x, %x)
  %y = MatMul(%a, %x)
  output %y "y"
}
// EXPECT:
no such kernel; others: none
refused: no kernel family: MatMul is not a loop nest
refused: no kernel family: two linear primitives
refused: no kernel family: two linear primitives
refused: no kernel family: not one of Winograd's primitives
refused: no kernel family: two linear primitives
refused: no kernel family: two linear primitives
refused: no kernel family: two linear primitives

// RUN: tiles loop layer_normalization
graph {
  input %x : f32[3x16] "x"
  %n = Constant() {value=[0.0625]} : f32[]
  %eps = Constant() {value=[0.00001]} : f32[]
  %g = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]} : f32[16]
  %s = ReduceSum(%x) {axes=[1]}
  %mean = Mul(%s, %n)
  %d = Sub(%x, %mean)
  %sq = Mul(%d, %d)
  %qs = ReduceSum(%sq) {axes=[1]}
  %var = Mul(%qs, %n)
  %ve = Add(%var, %eps)
  %sd = Sqrt(%ve)
  %inverse = Reciprocal(%sd)
  %f = Mul(%d, %inverse)
  %y = Mul(%f, %g)
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[48]
  const0: f32[1]
  const1: f32[1]
  const2: f32[16]
  out0: f32[48]
  s0: f32[1] at 0
  s1: f32[1] at 64
  scratch 128
  phase i1 in 3 {
    reduce add over r10 in 16 {
      %0 = in0[i1 * 16 + r10]
      s1[0] <- %0
    }
    reduce add over r8 in 16 {
      %0 = in0[i1 * 16 + r8]
      %1 = s1[0]
      %2 = f32 0.0625
      %3 = f32 mul(%1, %2)
      %4 = f32 sub(%0, %3)
      %5 = f32 mul(%4, %4)
      s0[0] <- %5
    }
    map i2 in 16 {
      %0 = in0[i1 * 16 + i2]
      %1 = s1[0]
      %2 = f32 0.0625
      %3 = f32 mul(%1, %2)
      %4 = f32 sub(%0, %3)
      %5 = s0[0]
      %6 = f32 mul(%5, %2)
      %7 = f32 9.999999747378752e-06
      %8 = f32 add(%6, %7)
      %9 = f32 sqrt(%8)
      %10 = f32 reciprocal(%9)
      %11 = f32 mul(%4, %10)
      %12 = const2[i2]
      %13 = f32 mul(%11, %12)
      out0[i1 * 16 + i2] <- %13
    }
  }
}

// RUN: tiles loop window_of_a_window
// The first window is an intermediate in scratch: composed, the taps of both would multiply.
graph {
  input %x : f32[1x1x4x6] "x"
  %a = WindowMax(%x) {kernel=[1,3], strides=[1,1], dilations=[1,1], pads_before=[0,1], pads_after=[0,1]}
  %y = WindowMax(%a) {kernel=[1,3], strides=[1,1], dilations=[1,1], pads_before=[0,1], pads_after=[0,1]}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[24]
  out0: f32[24]
  s0: f32[6] at 0
  scratch 64
  phase i1 in 4 {
    map j5 in 6 {
      %0 = in0[i1 * 6 + j5 - 1]
      %1 = f32 -inf
      %2 = %0 if 0 <= j5 - 1 <= 5 else %1
      %3 = in0[i1 * 6 + j5]
      %4 = f32 max(%2, %3)
      %5 = in0[i1 * 6 + j5 + 1]
      %6 = %5 if 0 <= j5 + 1 <= 5 else %1
      %7 = f32 max(%4, %6)
      s0[j5] <- %7
    }
    map i2 in 6 {
      %0 = s0[i2 - 1]
      %1 = f32 -inf
      %2 = %0 if 0 <= i2 - 1 <= 5 else %1
      %3 = s0[i2]
      %4 = f32 max(%2, %3)
      %5 = s0[i2 + 1]
      %6 = %5 if 0 <= i2 + 1 <= 5 else %1
      %7 = f32 max(%4, %6)
      out0[i1 * 6 + i2] <- %7
    }
  }
}

// RUN: tiles loop upsampled_and_joined
graph {
  input %x : f32[1x1x2x3] "x"
  input %z : f32[1x2x4x6] "z"
  %apart = Reshape(%x) {shape=[1,1,2,1,3,1]}
  %repeated = Expand(%apart) {shape=[1,1,2,2,3,2]}
  %up = Reshape(%repeated) {shape=[1,1,4,6]}
  %y = Concat(%up, %z) {axis=1}
  output %y "y"
}
// EXPECT:
loop() rm,rm->rm
kernel {
  in0: f32[6]
  in1: f32[48]
  out0: f32[72]
  phase i5 in 3, i6 in 2, i7 in 2 {
    map i8 in 3, i4 in 2 {
      %0 = in0[i6 * 3 + i8]
      %1 = in1[i4 + i5 * 24 + i6 * 12 + i7 * 6 + i8 * 2 - 24]
      %2 = %0 if 0 <= i5 <= 0 else %1
      out0[i4 + i5 * 24 + i6 * 12 + i7 * 6 + i8 * 2] <- %2
    }
  }
}
loop() rm,p0231->p0231
kernel {
  in0: f32[6]
  in1: f32[48]
  out0: f32[72]
  phase i1 in 2, i5 in 2, i6 in 3 {
    map i7 in 2, i8 in 3 {
      %0 = in0[i1 * 3 + i6]
      %1 = in1[i1 * 24 + i5 * 12 + i6 * 4 + i7 * 2 + i8 - 1]
      %2 = %0 if 0 <= i8 <= 0 else %1
      out0[i1 * 36 + i5 * 18 + i6 * 6 + i7 * 3 + i8] <- %2
    }
  }
}
loop() rm,p0231->rm
kernel {
  in0: f32[6]
  in1: f32[48]
  out0: f32[72]
  phase i5 in 3, i6 in 2, i7 in 2 {
    map i8 in 3, i4 in 2 {
      %0 = in0[i6 * 3 + i8]
      %1 = in1[i4 * 2 + i5 + i6 * 24 + i7 * 12 + i8 * 4 - 1]
      %2 = %0 if 0 <= i5 <= 0 else %1
      out0[i4 + i5 * 24 + i6 * 12 + i7 * 6 + i8 * 2] <- %2
    }
  }
}
loop() rm,rm->p0231
kernel {
  in0: f32[6]
  in1: f32[48]
  out0: f32[72]
  phase i1 in 2, i5 in 2, i6 in 3 {
    map i7 in 2, i8 in 3 {
      %0 = in0[i1 * 3 + i6]
      %1 = in1[i1 * 12 + i5 * 6 + i6 * 2 + i7 + i8 * 24 - 24]
      %2 = %0 if 0 <= i8 <= 0 else %1
      out0[i1 * 36 + i5 * 18 + i6 * 6 + i7 * 3 + i8] <- %2
    }
  }
}

// RUN: tiles loop every_second_backwards
graph {
  input %x : f32[3x9] "x"
  %y = Slice(%x) {starts=[0,8], sizes=[3,5], steps=[1,-2]}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[27]
  out0: f32[15]
  phase i1 in 3 {
    map i2 in 5 {
      %0 = in0[i1 * 9 - i2 * 2 + 8]
      out0[i1 * 5 + i2] <- %0
    }
  }
}

// RUN: tiles loop integers_and_masks
graph {
  input %a : i32[2x6] "a"
  input %b : i32[6] "b"
  input %x : f32[2x6] "x"
  %none = Constant() {value=[0]} : f32[]
  %less = Less(%a, %b)
  %y = Where(%less, %x, %none)
  output %y "y"
}
// EXPECT:
loop() rm,rm,rm->rm
kernel {
  in0: i32[12]
  in1: i32[6]
  in2: f32[12]
  const0: f32[1]
  out0: f32[12]
  phase i1 in 2 {
    map i2 in 6 {
      %0 = in0[i1 * 6 + i2]
      %1 = in1[i2]
      %2 = bool lt(%0, %1)
      %3 = in2[i1 * 6 + i2]
      %4 = f32 0
      %5 = f32 select(%2, %3, %4)
      out0[i1 * 6 + i2] <- %5
    }
  }
}

// RUN: tiles loop repeated_border_and_chosen_rows
graph {
  input %x : f32[3x4] "x"
  %p = Pad(%x) {before=[1,0], after=[0,2], mode=edge}
  %i = Constant() {value=[3,1,0]} : i64[3]
  %y = Gather(%p, %i)
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[12]
  const0: i64[3]
  out0: f32[18]
  phase i1 in 3 {
    map i2 in 6 {
      %0 = in0[index_clamp(index_clamp(-i1 * 2 + 3, 0, 3) - 1, 0, 2) * 4 + index_clamp(i2, 0, 3)]
      out0[i1 * 6 + i2] <- %0
    }
  }
}

// RUN: tiles loop --target gpu --layouts rm->rm staged_windows
// A tile of results per slice; what its windows read is staged, with the padding.
graph {
  input %x : f32[1x4x56x56] "x"
  %y = WindowMax(%x) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[12544]
  out0: f32[12544]
  s0: f32[256] at 0
  scratch 1024
  phase i3_tile in 4, i4_tile in 28 {
    map i4_box in 4, i2_box in 64 lanes 4 along i2_box {
      %0 = in0[i2_box + i3_tile * 3136 + i4_box * 56 + i4_tile * 112 - 60]
      %1 = f32 -inf
      %2 = %0 if 0 <= i4_box + i4_tile * 2 - 1 <= 55 and 0 <= i2_box - 4 <= 55 else %1
      s0[i2_box + i4_box * 64] <- %2
    }
    map i4_in in 2, i2_in in 56 lanes 4 along i2_in {
      %0 = s0[i2_in + i4_in * 64 + 3]
      %1 = s0[i2_in + i4_in * 64 + 4]
      %2 = f32 max(%0, %1)
      %3 = s0[i2_in + i4_in * 64 + 5]
      %4 = f32 max(%2, %3)
      %5 = s0[i2_in + i4_in * 64 + 67]
      %6 = f32 max(%4, %5)
      %7 = s0[i2_in + i4_in * 64 + 68]
      %8 = f32 max(%6, %7)
      %9 = s0[i2_in + i4_in * 64 + 69]
      %10 = f32 max(%8, %9)
      %11 = s0[i2_in + i4_in * 64 + 131]
      %12 = f32 max(%10, %11)
      %13 = s0[i2_in + i4_in * 64 + 132]
      %14 = f32 max(%12, %13)
      %15 = s0[i2_in + i4_in * 64 + 133]
      %16 = f32 max(%14, %15)
      out0[i2_in + i3_tile * 3136 + i4_in * 56 + i4_tile * 112] <- %16
    }
  }
}
