// What each pass makes of a family's tile graph (codegen/passes).

// RUN: lowered loop lanes
// Tails of vectors need nothing here: the printer masks them.
graph {
  input %x : f32[4x6] "x"
  %y = Relu(%x)
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[24]
  out0: f32[24]
  phase {
    map i0 in 24 lanes 8 along i0 {
      %0 = in0[i0]
      %1 = f32 0
      %2 = f32 max(%0, %1)
      out0[i0] <- %2
      segment i0 in 0..24 {
        out0[i0] <- %2
      }
    }
  }
}

// RUN: lowered loop --target x86-64-v4 wider_lanes
graph {
  input %x : f32[4x6] "x"
  %y = Relu(%x)
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[24]
  out0: f32[24]
  phase {
    map i0 in 24 lanes 16 along i0 {
      %0 = in0[i0]
      %1 = f32 0
      %2 = f32 max(%0, %1)
      out0[i0] <- %2
      segment i0 in 0..24 {
        out0[i0] <- %2
      }
    }
  }
}

// RUN: lowered loop lanes_across_a_sum
graph {
  input %x : f32[4x20] "x"
  %y = ReduceSum(%x) {axes=[1]}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[80]
  out0: f32[4]
  s0: f32[1] at 0
  scratch 64
  phase i0 in 4 {
    reduce add over r2 in 20 lanes 8 across r2 {
      %0 = in0[i0 * 20 + r2]
      s0[0] <- %0
      segment r2 in 0..20 {
        s0[0] <- %0
      }
    }
    map {
      %0 = s0[0]
      out0[i0] <- %0
    }
  }
}

// RUN: lowered loop transposed_blocks
graph {
  input %x : f32[2x16x24] "x"
  %y = Transpose(%x) {perm=[0,2,1]}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[768]
  out0: f32[768]
  phase i1 in 2 {
    map i3 in 24, i4 in 16 lanes 8 along i4 transposed with i3 {
      %0 = in0[i1 * 384 + i3 + i4 * 24]
      out0[i1 * 384 + i3 * 16 + i4] <- %0
    }
  }
}

// RUN: lowered loop segments_of_a_padded_row
graph {
  input %x : f32[3x12] "x"
  %y = Pad(%x) {before=[0,2], after=[0,3], value=1}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[36]
  out0: f32[51]
  phase i1 in 3 {
    map i2 in 17 lanes 8 along i2 {
      %0 = in0[i1 * 12 + i2 - 2]
      %1 = f32 1
      %2 = %0 if 0 <= i2 - 2 <= 11 else %1
      out0[i1 * 17 + i2] <- %2
      segment i2 in 0..2 {
        out0[i1 * 17 + i2] <- %1
      }
      segment i2 in 2..14 {
        out0[i1 * 17 + i2] <- %0
      }
      segment i2 in 14..17 {
        out0[i1 * 17 + i2] <- %1
      }
    }
  }
}

// RUN: lowered linear_generic expanded_phases
// A loop over the phases of a stride is written out.
graph {
  input %x : f32[1x1x2x3] "x"
  %w = Constant() {splat=0.5} : f32[1x1x2x2]
  %y = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  output %y "y"
}
// EXPECT:
linear_generic() rm->rm
kernel {
  in0: f32[6]
  const0: f32[4]
  out0: f32[24]
  s0: f32[2] at 0
  scratch 64
  phase i9 in 2, i10 in 2, i17 in 3 {
    reduce add over {
      %0 = in0[i17 + i9 * 3]
      %1 = const0[0]
      %2 = f32 mul(%0, %1)
      %3 = f32 0
      %4 = %2 if 0 <= i10 <= 0 else %3
      %5 = f32 add(%4, %3)
      %6 = in0[((i10 + 1) / 2) * 3 + i17 + i9 * 3 - 3]
      %7 = const0[2]
      %8 = f32 mul(%6, %7)
      %9 = %8 if 0 <= ((i10 + 1) % 2) <= 0 and 0 <= ((i10 + 1) / 2) + i9 - 1 <= 1 else %3
      %10 = f32 add(%5, %9)
      %11 = f32 add(%10, %3)
      s0[0] <- %11
    }
    reduce add over {
      %0 = f32 0
      %1 = in0[i17 + i9 * 3]
      %2 = const0[1]
      %3 = f32 mul(%1, %2)
      %4 = %3 if 0 <= i10 <= 0 else %0
      %5 = f32 add(%0, %4)
      %6 = f32 add(%5, %0)
      %7 = in0[((i10 + 1) / 2) * 3 + i17 + i9 * 3 - 3]
      %8 = const0[3]
      %9 = f32 mul(%7, %8)
      %10 = %9 if 0 <= ((i10 + 1) % 2) <= 0 and 0 <= ((i10 + 1) / 2) + i9 - 1 <= 1 else %0
      %11 = f32 add(%6, %10)
      s0[1] <- %11
    }
    map i18 in 2 lanes 8 along i18 {
      %0 = s0[i18]
      out0[i10 * 6 + i17 * 2 + i18 + i9 * 12] <- %0
      segment i18 in 0..2 {
        out0[i10 * 6 + i17 * 2 + i18 + i9 * 12] <- %0
      }
    }
  }
}

// RUN: lowered conv_direct --layouts p0231->p0231 partitioned_panel
graph {
  input %x : f32[1x8x5x5] "x"
  %w = Constant() {splat=0.5} : f32[8x8x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
conv_direct(1,5) p0231->p0231
kernel {
  in0: f32[200]
  const0: f32[576] packed columns(0, 1, 8, 0)
  out0: f32[200]
  s0: f32[128] at 0
  s1: f32[392] at 512
  scratch 2112
  phase {
    kept map pr in 7, px in 7, channel in 8 lanes 8 along channel partition along pr, px {
      %0 = in0[channel + pr * 40 + px * 8 - 48]
      %1 = f32 0
      %2 = %0 if 0 <= pr - 1 <= 4 and 0 <= px - 1 <= 4 else %1
      s1[channel + pr * 56 + px * 8] <- %2
      segment channel in 0..8 {
        s1[channel + pr * 56 + px * 8] <- %2
      }
    }
    for y in 5 {
      reduce add r in 5, c in 8 over kh in 3, kw in 3, k in 8 registers {
        %0 = s1[k + kh * 56 + kw * 8 + r * 8 + y * 56]
        %1 = const0[c + k * 8 + kh * 192 + kw * 64]
        %2 = f32 mul(%0, %1)
        s0[c + r * 8] <- %2
      }
      map r in 5, c in 8 lanes 8 along c {
        %0 = s0[c + r * 8]
        out0[c + r * 8 + y * 40] <- %0
        segment c in 0..8 {
          out0[c + r * 8 + y * 40] <- %0
        }
      }
    }
  }
}

// RUN: lowered depthwise jammed_window
// Neighbouring pixels share what they load.
graph {
  input %x : f32[1x8x1x12] "x"
  %w = Constant() {splat=0.5} : f32[8x1x1x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,1], pads_after=[0,1], group=8}
  output %y "y"
}
// EXPECT:
depthwise() p0231->p0231
kernel {
  in0: f32[96]
  const0: f32[24] packed depthwise(8)
  out0: f32[96]
  phase {
    map x in 12, c in 8 lanes 8 along c partition along x jam 2 {
      %0 = in0[c + x * 8 - 8]
      %1 = const0[c]
      %2 = f32 mul(%0, %1)
      %3 = f32 0
      %4 = %2 if 0 <= x - 1 <= 11 else %3
      %5 = in0[c + x * 8]
      %6 = const0[c + 8]
      %7 = f32 mul(%5, %6)
      %8 = f32 add(%4, %7)
      %9 = in0[c + x * 8 + 8]
      %10 = const0[c + 16]
      %11 = f32 mul(%9, %10)
      %12 = %11 if 0 <= x + 1 <= 11 else %3
      %13 = f32 add(%8, %12)
      out0[c + x * 8] <- %13
      segment c in 0..8 {
        out0[c + x * 8] <- %13
      }
    }
  }
}

// RUN: lowered depthwise --target x86-64-v4 more_registers_jam_more
graph {
  input %x : f32[1x8x1x12] "x"
  %w = Constant() {splat=0.5} : f32[8x1x1x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,1], pads_after=[0,1], group=8}
  output %y "y"
}
// EXPECT:
depthwise() p0231->p0231
kernel {
  in0: f32[96]
  const0: f32[48] packed depthwise(16)
  out0: f32[96]
  phase {
    map x in 12, c in 8 lanes 8 along c partition along x jam 5 {
      %0 = in0[c + x * 8 - 8]
      %1 = const0[c]
      %2 = f32 mul(%0, %1)
      %3 = f32 0
      %4 = %2 if 0 <= x - 1 <= 11 else %3
      %5 = in0[c + x * 8]
      %6 = const0[c + 16]
      %7 = f32 mul(%5, %6)
      %8 = f32 add(%4, %7)
      %9 = in0[c + x * 8 + 8]
      %10 = const0[c + 32]
      %11 = f32 mul(%9, %10)
      %12 = %11 if 0 <= x + 1 <= 11 else %3
      %13 = f32 add(%8, %12)
      out0[c + x * 8] <- %13
      segment c in 0..8 {
        out0[c + x * 8] <- %13
      }
    }
  }
}

// RUN: lowered matmul --layouts rm->rm register_tile_and_epilogue
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w)
  %y = Add(%p, %b)
  output %y "y"
}
// EXPECT:
matmul(1,10) rm->rm
kernel {
  in0: f32[80]
  const0: f32[192] packed columns(1, 1, 8, 0)
  const1: f32[24]
  out0: f32[240]
  s0: f32[128] at 0
  scratch 512
  phase {
    for block in 3 {
      reduce add r in 10, c in 8 over k in 8 registers {
        %0 = in0[k + r * 8]
        %1 = const0[block * 64 + c + k * 8]
        %2 = f32 mul(%0, %1)
        s0[c + r * 8] <- %2
      }
      map r in 10, c in 8 lanes 8 along c {
        %0 = s0[c + r * 8]
        %1 = const1[block * 8 + c]
        %2 = f32 add(%0, %1)
        out0[block * 8 + c + r * 24] <- %2
        segment c in 0..8 {
          out0[block * 8 + c + r * 24] <- %2
        }
      }
    }
  }
}

// RUN: lowered loop reflection_in_segments
graph {
  input %x : f32[2x9] "x"
  %y = Pad(%x) {before=[0,2], after=[0,2], mode=reflect}
  output %y "y"
}
// EXPECT:
loop() rm->rm
kernel {
  in0: f32[18]
  out0: f32[26]
  phase i1 in 2 {
    map i2 in 13 lanes 8 along i2 {
      %0 = in0[-index_abs(-index_abs(i2 - 2) + 8) + i1 * 9 + 8]
      out0[i1 * 13 + i2] <- %0
      segment i2 in 0..2 {
        %1 = in0[i1 * 9 - i2 + 2]
        out0[i1 * 13 + i2] <- %1
      }
      segment i2 in 2..11 {
        %1 = in0[i1 * 9 + i2 - 2]
        out0[i1 * 13 + i2] <- %1
      }
      segment i2 in 11..13 {
        %1 = in0[i1 * 9 - i2 + 18]
        out0[i1 * 13 + i2] <- %1
      }
    }
  }
}

// RUN: lowered opaque scan_has_no_lanes_along_itself
graph {
  input %x : f32[6x5] "x"
  %y = CumSum(%x) {axis=1}
  output %y "y"
}
// EXPECT:
opaque() rm->rm
kernel {
  in0: f32[30]
  out0: f32[30]
  phase {
    scan add i0 in 6 over r0 in 5 {
      %0 = in0[i0 * 5 + r0]
      out0[i0 * 5 + r0] <- %0
    }
  }
}

// RUN: lowered loop --layouts rm->p0231 change_of_layout
graph {
  input %x : f32[1x8x4x6] "x"
  %y = Reshape(%x) {shape=[1,8,4,6]}
  output %y "y"
}
// EXPECT:
loop() rm->p0231
kernel {
  in0: f32[192]
  out0: f32[192]
  phase {
    map i1 in 24, i2 in 8 lanes 8 along i2 transposed with i1 {
      %0 = in0[i1 + i2 * 24]
      out0[i1 * 8 + i2] <- %0
    }
  }
}
