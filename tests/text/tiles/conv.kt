// Convolutions (codegen/linear).

// RUN: tiles conv_direct --layouts p0231->p0231 padded
graph {
  input %x : f32[1x4x6x6] "x"
  %w = Constant() {splat=0.5} : f32[16x4x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
conv_direct(2,6) p0231->p0231
kernel {
  in0: f32[144]
  const0: f32[576] packed columns(0, 1, 16, 0)
  out0: f32[576]
  s0: f32[256] at 0
  s1: f32[256] at 1024
  scratch 2048
  phase {
    kept map pr in 8, px in 8, channel in 4 {
      %0 = in0[channel + pr * 24 + px * 4 - 28]
      %1 = f32 0
      %2 = %0 if 0 <= pr - 1 <= 5 and 0 <= px - 1 <= 5 else %1
      s1[channel + pr * 32 + px * 4] <- %2
    }
    for y in 6 {
      reduce add r in 6, c in 16 over kh in 3, kw in 3, k in 4 registers {
        %0 = s1[k + kh * 32 + kw * 4 + r * 4 + y * 32]
        %1 = const0[c + k * 16 + kh * 192 + kw * 64]
        %2 = f32 mul(%0, %1)
        s0[c + r * 16] <- %2
      }
      map r in 6, c in 16 lanes 8 along c {
        %0 = s0[c + r * 16]
        out0[c + r * 16 + y * 96] <- %0
      }
    }
  }
}

// RUN: tiles conv_direct --layouts rm->rm strided_row_major
graph {
  input %x : f32[1x3x8x8] "x"
  %w = Constant() {splat=0.5} : f32[16x3x2x2]
  %y = Conv(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
conv_direct(2,4) rm->rm
kernel {
  in0: f32[192]
  const0: f32[192] packed columns(0, 1, 16, 0)
  out0: f32[256]
  s0: f32[256] at 0
  scratch 1024
  phase {
    for y in 4 {
      reduce add r in 4, c in 16 over kh in 2, kw in 2, k in 3 registers {
        %0 = in0[k * 64 + kh * 8 + kw + r * 2 + y * 16]
        %1 = const0[c + k * 16 + kh * 96 + kw * 48]
        %2 = f32 mul(%0, %1)
        s0[c + r * 16] <- %2
      }
      map r in 4, c in 16 {
        %0 = s0[c + r * 16]
        out0[c * 16 + r + y * 4] <- %0
      }
    }
  }
}

// RUN: tiles conv_direct --layouts p0231->p0231 pointwise_with_bias_and_relu
graph {
  input %x : f32[1x8x3x4] "x"
  %w = Constant() {splat=0.5} : f32[16x8x1x1]
  %b = Constant() {splat=0.25} : f32[16x1x1]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %s = Add(%c, %b)
  %y = Relu(%s)
  output %y "y"
}
// EXPECT:
conv_direct(2,6) p0231->p0231
kernel {
  in0: f32[96]
  const0: f32[128] packed columns(0, 1, 16, 0)
  const1: f32[16]
  out0: f32[192]
  s0: f32[256] at 0
  scratch 1024
  phase {
    for t in 2 {
      reduce add r in 6, c in 16 over k in 8 registers {
        %0 = in0[k + r * 8 + t * 48]
        %1 = const0[c + k * 16]
        %2 = f32 mul(%0, %1)
        s0[c + r * 16] <- %2
      }
      map r in 6, c in 16 lanes 8 along c {
        %0 = s0[c + r * 16]
        %1 = const1[c]
        %2 = f32 add(%0, %1)
        %3 = f32 0
        %4 = f32 max(%2, %3)
        out0[c + r * 16 + t * 96] <- %4
      }
    }
  }
}

// RUN: tiles conv_pixels --layouts rm->rm few_features
graph {
  input %x : f32[1x3x6x16] "x"
  %w = Constant() {splat=0.5} : f32[2x3x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
conv_pixels(1,1) rm->rm
kernel {
  in0: f32[288]
  const0: f32[54] packed columns(0, 1, 2, 0)
  out0: f32[192]
  s0: f32[32] at 0
  s1: f32[432] at 128
  scratch 1856
  phase {
    kept map channel in 3, pr in 8, px in 18 {
      %0 = in0[channel * 96 + pr * 16 + px - 17]
      %1 = f32 0
      %2 = %0 if 0 <= pr - 1 <= 5 and 0 <= px - 1 <= 15 else %1
      s1[channel * 144 + pr * 18 + px] <- %2
    }
    for y in 6 {
      reduce add c in 2, r in 16 over k in 3, kh in 3, kw in 3 registers {
        %0 = const0[c + k * 2 + kh * 18 + kw * 6]
        %1 = s1[k * 144 + kh * 18 + kw + r + y * 18]
        %2 = f32 mul(%0, %1)
        s0[c * 16 + r] <- %2
      }
      map r in 16, c in 2 {
        %0 = s0[c * 16 + r]
        out0[c * 96 + r + y * 16] <- %0
      }
    }
  }
}

// RUN: tiles depthwise depthwise
graph {
  input %x : f32[1x8x6x6] "x"
  %w = Constant() {splat=0.5} : f32[8x1x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=8}
  output %y "y"
}
// EXPECT:
depthwise() p0231->p0231
kernel {
  in0: f32[288]
  const0: f32[72] packed depthwise(8)
  out0: f32[288]
  phase y in 6 by 3 {
    for y in 6 {
      map x in 6, c in 8 lanes 8 along c {
        %0 = in0[c + x * 8 + y * 48 - 56]
        %1 = const0[c]
        %2 = f32 mul(%0, %1)
        %3 = f32 0
        %4 = %2 if 0 <= y - 1 <= 5 and 0 <= x - 1 <= 5 else %3
        %5 = in0[c + x * 8 + y * 48 - 48]
        %6 = const0[c + 8]
        %7 = f32 mul(%5, %6)
        %8 = %7 if 0 <= y - 1 <= 5 else %3
        %9 = f32 add(%4, %8)
        %10 = in0[c + x * 8 + y * 48 - 40]
        %11 = const0[c + 16]
        %12 = f32 mul(%10, %11)
        %13 = %12 if 0 <= y - 1 <= 5 and 0 <= x + 1 <= 5 else %3
        %14 = f32 add(%9, %13)
        %15 = in0[c + x * 8 + y * 48 - 8]
        %16 = const0[c + 24]
        %17 = f32 mul(%15, %16)
        %18 = %17 if 0 <= x - 1 <= 5 else %3
        %19 = f32 add(%14, %18)
        %20 = in0[c + x * 8 + y * 48]
        %21 = const0[c + 32]
        %22 = f32 mul(%20, %21)
        %23 = f32 add(%19, %22)
        %24 = in0[c + x * 8 + y * 48 + 8]
        %25 = const0[c + 40]
        %26 = f32 mul(%24, %25)
        %27 = %26 if 0 <= x + 1 <= 5 else %3
        %28 = f32 add(%23, %27)
        %29 = in0[c + x * 8 + y * 48 + 40]
        %30 = const0[c + 48]
        %31 = f32 mul(%29, %30)
        %32 = %31 if 0 <= y + 1 <= 5 and 0 <= x - 1 <= 5 else %3
        %33 = f32 add(%28, %32)
        %34 = in0[c + x * 8 + y * 48 + 48]
        %35 = const0[c + 56]
        %36 = f32 mul(%34, %35)
        %37 = %36 if 0 <= y + 1 <= 5 else %3
        %38 = f32 add(%33, %37)
        %39 = in0[c + x * 8 + y * 48 + 56]
        %40 = const0[c + 64]
        %41 = f32 mul(%39, %40)
        %42 = %41 if 0 <= y + 1 <= 5 and 0 <= x + 1 <= 5 else %3
        %43 = f32 add(%38, %42)
        out0[c + x * 8 + y * 48] <- %43
      }
    }
  }
}

// RUN: tiles conv_winograd winograd
graph {
  input %x : f32[1x2x6x6] "x"
  %w = Constant() {splat=0.5} : f32[8x2x3x3]
  %v = WinogradInput(%x) {tile=2, pads_before=[1,1], pads_after=[1,1]}
  %p = WinogradProduct(%v, %w) {tile=2}
  %y = WinogradOutput(%p) {tile=2, shape=[1,8,6,6]}
  output %y "y"
}
// EXPECT:
conv_winograd(2,1,9) p0231->p0231
kernel {
  in0: f32[72]
  const0: f32[256] packed winograd(2, 8, 0)
  out0: f32[288]
  temp0: f32[1408]
  s0: f32[1408] at 0
  s1: f32[128] at 5632
  s2: f32[32] at 6144
  scratch 6272
  phase {
    for tl in 9 {
      map i in 4, l in 2 lanes 4 along l {
        %0 = in0[((tl) / 3) * 24 + i * 12 + l + ((tl) % 3) * 4 - 10]
        %1 = f32 0
        %2 = %0 if 0 <= ((tl) / 3) * 2 + i - 1 <= 5 else %1
        %3 = in0[((tl) / 3) * 24 + i * 12 + l + ((tl) % 3) * 4 - 14]
        %4 = %3 if 0 <= ((tl) / 3) * 2 + i - 1 <= 5 and 0 <= ((tl) % 3) * 2 - 1 <= 5 else %1
        %5 = f32 sub(%2, %4)
        %6 = in0[((tl) / 3) * 24 + i * 12 + l + ((tl) % 3) * 4 - 12]
        %7 = %6 if 0 <= ((tl) / 3) * 2 + i - 1 <= 5 else %1
        %8 = f32 add(%7, %2)
        %9 = f32 sub(%2, %7)
        %10 = in0[((tl) / 3) * 24 + i * 12 + l + ((tl) % 3) * 4 - 8]
        %11 = %10 if 0 <= ((tl) / 3) * 2 + i - 1 <= 5 and 0 <= ((tl) % 3) * 2 + 2 <= 5 else %1
        %12 = f32 sub(%11, %7)
        s1[i * 32 + l] <- %5
        s1[i * 32 + l + 8] <- %8
        s1[i * 32 + l + 16] <- %9
        s1[i * 32 + l + 24] <- %12
      }
      map j in 4, l in 2 lanes 4 along l {
        %0 = s1[j * 8 + l + 64]
        %1 = s1[j * 8 + l]
        %2 = f32 sub(%0, %1)
        %3 = s1[j * 8 + l + 32]
        %4 = f32 add(%3, %0)
        %5 = f32 sub(%0, %3)
        %6 = s1[j * 8 + l + 96]
        %7 = f32 sub(%6, %3)
        temp0[j * 88 + l + tl * 8] <- %2
        temp0[j * 88 + l + tl * 8 + 352] <- %4
        temp0[j * 88 + l + tl * 8 + 704] <- %5
        temp0[j * 88 + l + tl * 8 + 1056] <- %7
      }
    }
  }
  phase {
    for e in 16 {
      reduce add r in 9, c in 8 over k in 2 registers prefetch columns {
        %0 = temp0[e * 88 + k + r * 8]
        %1 = const0[c + e * 16 + k * 8]
        %2 = f32 mul(%0, %1)
        s0[c + e * 88 + r * 8] <- %2
      }
    }
    for tile in 9 {
      map j in 4, l in 8 lanes 8 along l {
        %0 = s0[j * 88 + l + tile * 8]
        %1 = s0[j * 88 + l + tile * 8 + 352]
        %2 = s0[j * 88 + l + tile * 8 + 704]
        %3 = f32 add(%1, %2)
        %4 = f32 add(%0, %3)
        %5 = f32 sub(%1, %2)
        %6 = s0[j * 88 + l + tile * 8 + 1056]
        %7 = f32 add(%5, %6)
        s1[j * 8 + l] <- %4
        s1[j * 8 + l + 32] <- %7
      }
      map i in 2, l in 8 lanes 8 along l {
        %0 = s1[i * 32 + l]
        %1 = s1[i * 32 + l + 8]
        %2 = s1[i * 32 + l + 16]
        %3 = f32 add(%1, %2)
        %4 = f32 add(%0, %3)
        %5 = f32 sub(%1, %2)
        %6 = s1[i * 32 + l + 24]
        %7 = f32 add(%5, %6)
        s2[i * 16 + l] <- %4
        s2[i * 16 + l + 8] <- %7
      }
      map i in 2, j in 2, l in 8 lanes 8 along l {
        %0 = s2[i * 16 + j * 8 + l]
        out0[((tile) / 3) * 96 + i * 48 + j * 8 + l + ((tile) % 3) * 16] <- %0
      }
    }
  }
}

// RUN: tiles winograd_part transformed_data
graph {
  input %x : f32[1x2x6x6] "x"
  %y = WinogradInput(%x) {tile=2, pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
winograd_part(2) p0231->rm
kernel {
  in0: f32[72]
  out0: f32[288]
  s0: f32[128] at 0
  s1: f32[32] at 512
  scratch 640
  phase tile in 9 by 8 {
    for tile in 9 {
      map i in 4, l in 2 lanes 4 along l {
        %0 = in0[((tile) / 3) * 24 + i * 12 + l + ((tile) % 3) * 4 - 10]
        %1 = f32 0
        %2 = %0 if 0 <= ((tile) / 3) * 2 + i - 1 <= 5 else %1
        %3 = in0[((tile) / 3) * 24 + i * 12 + l + ((tile) % 3) * 4 - 14]
        %4 = %3 if 0 <= ((tile) / 3) * 2 + i - 1 <= 5 and 0 <= ((tile) % 3) * 2 - 1 <= 5 else %1
        %5 = f32 sub(%2, %4)
        %6 = in0[((tile) / 3) * 24 + i * 12 + l + ((tile) % 3) * 4 - 12]
        %7 = %6 if 0 <= ((tile) / 3) * 2 + i - 1 <= 5 else %1
        %8 = f32 add(%7, %2)
        %9 = f32 sub(%2, %7)
        %10 = in0[((tile) / 3) * 24 + i * 12 + l + ((tile) % 3) * 4 - 8]
        %11 = %10 if 0 <= ((tile) / 3) * 2 + i - 1 <= 5 and 0 <= ((tile) % 3) * 2 + 2 <= 5 else %1
        %12 = f32 sub(%11, %7)
        s0[i * 32 + l] <- %5
        s0[i * 32 + l + 8] <- %8
        s0[i * 32 + l + 16] <- %9
        s0[i * 32 + l + 24] <- %12
      }
      map j in 4, l in 2 lanes 4 along l {
        %0 = s0[j * 8 + l + 64]
        %1 = s0[j * 8 + l]
        %2 = f32 sub(%0, %1)
        %3 = s0[j * 8 + l + 32]
        %4 = f32 add(%3, %0)
        %5 = f32 sub(%0, %3)
        %6 = s0[j * 8 + l + 96]
        %7 = f32 sub(%6, %3)
        out0[j * 18 + l + tile * 2] <- %2
        out0[j * 18 + l + tile * 2 + 72] <- %4
        out0[j * 18 + l + tile * 2 + 144] <- %5
        out0[j * 18 + l + tile * 2 + 216] <- %7
      }
    }
  }
}

// RUN: tiles winograd_part product_of_tiles
graph {
  input %v : f32[16x9x2] "v"
  %w = Constant() {splat=0.5} : f32[8x2x3x3]
  %y = WinogradProduct(%v, %w) {tile=2}
  output %y "y"
}
// EXPECT:
winograd_part(2,1,9) rm->rm
kernel {
  in0: f32[288]
  const0: f32[256] packed winograd(2, 8, 0)
  out0: f32[1152]
  s0: f32[72] at 0
  scratch 320
  phase e in 16 {
    reduce add r in 9, c in 8 over k in 2 registers {
      %0 = in0[e * 18 + k + r * 2]
      %1 = const0[c + e * 16 + k * 8]
      %2 = f32 mul(%0, %1)
      s0[c + r * 8] <- %2
    }
    map r in 9, c in 8 {
      %0 = s0[c + r * 8]
      out0[c + e * 72 + r * 8] <- %0
    }
  }
}

// RUN: tiles linear_generic transposed_convolution
// Each output meets only the taps that are a whole number of strides away.
graph {
  input %x : f32[1x2x3x4] "x"
  %w = Constant() {splat=0.5} : f32[2x3x2x2]
  %y = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  output %y "y"
}
// EXPECT:
linear_generic() rm->rm
kernel {
  in0: f32[24]
  const0: f32[24]
  out0: f32[144]
  s0: f32[16] at 0
  scratch 64
  phase i1 in 3, i11 in 3 {
    reduce add j32 in 2, j34 in 4, j33 in 2 over r30 in 2 {
      %0 = in0[i11 * 4 + j34 + r30 * 12]
      %1 = const0[i1 * 4 + r30 * 12]
      %2 = f32 mul(%0, %1)
      %3 = f32 0
      %4 = %2 if 0 <= j32 <= 0 and 0 <= j33 <= 0 else %3
      %5 = in0[((j33 + 1) / 2) + i11 * 4 + j34 + r30 * 12 - 1]
      %6 = const0[i1 * 4 + r30 * 12 + 1]
      %7 = f32 mul(%5, %6)
      %8 = %7 if 0 <= j32 <= 0 and 0 <= ((j33 + 1) % 2) <= 0 and 0 <= ((j33 + 1) / 2) + j34 - 1 <= 3 else %3
      %9 = f32 add(%4, %8)
      %10 = in0[((j32 + 1) / 2) * 4 + i11 * 4 + j34 + r30 * 12 - 4]
      %11 = const0[i1 * 4 + r30 * 12 + 2]
      %12 = f32 mul(%10, %11)
      %13 = %12 if 0 <= ((j32 + 1) % 2) <= 0 and 0 <= ((j32 + 1) / 2) + i11 - 1 <= 2 and 0 <= j33 <= 0 else %3
      %14 = f32 add(%9, %13)
      %15 = in0[((j32 + 1) / 2) * 4 + ((j33 + 1) / 2) + i11 * 4 + j34 + r30 * 12 - 5]
      %16 = const0[i1 * 4 + r30 * 12 + 3]
      %17 = f32 mul(%15, %16)
      %18 = %17 if 0 <= ((j32 + 1) % 2) <= 0 and 0 <= ((j32 + 1) / 2) + i11 - 1 <= 2 and 0 <= ((j33 + 1) % 2) <= 0 and 0 <= ((j33 + 1) / 2) + j34 - 1 <= 3 else %3
      %19 = f32 add(%14, %18)
      s0[j32 * 8 + j33 + j34 * 2] <- %19
    }
    map i12 in 2, i19 in 4, i20 in 2 {
      %0 = s0[i12 * 8 + i19 * 2 + i20]
      out0[i1 * 48 + i11 * 16 + i12 * 8 + i19 * 2 + i20] <- %0
    }
  }
}

// RUN: tiles conv_direct --layouts p0231->p0231 groups
graph {
  input %x : f32[1x8x3x3] "x"
  %w = Constant() {splat=0.5} : f32[16x4x1x1]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], group=2}
  output %y "y"
}
// EXPECT:
conv_direct(1,9) p0231->p0231
kernel {
  in0: f32[72]
  const0: f32[64] packed columns(0, 2, 8, 0)
  out0: f32[144]
  s0: f32[128] at 0
  scratch 512
  phase group in 2 {
    reduce add r in 9, c in 8 over k in 4 registers {
      %0 = in0[group * 4 + k + r * 8]
      %1 = const0[c + group * 32 + k * 8]
      %2 = f32 mul(%0, %1)
      s0[c + r * 8] <- %2
    }
    map r in 9, c in 8 lanes 8 along c {
      %0 = s0[c + r * 8]
      out0[c + group * 8 + r * 16] <- %0
    }
  }
}

// RUN: tiles conv_direct --layouts rm->rm one_dimension_dilated
graph {
  input %x : f32[2x4x10] "x"
  %w = Constant() {splat=0.5} : f32[8x4x3]
  %y = Conv(%x, %w) {strides=[1], dilations=[2], pads_before=[2], pads_after=[2]}
  output %y "y"
}
// EXPECT:
conv_direct(1,10) rm->rm
kernel {
  in0: f32[80]
  const0: f32[96] packed columns(0, 1, 8, 0)
  out0: f32[160]
  s0: f32[128] at 0
  s1: f32[56] at 512
  scratch 768
  phase image in 2 {
    kept map channel in 4, pr in 1, px in 14 {
      %0 = in0[channel * 10 + image * 40 + px - 2]
      %1 = f32 0
      %2 = %0 if 0 <= px - 2 <= 9 else %1
      s1[channel * 14 + px] <- %2
    }
    reduce add r in 10, c in 8 over kw in 3, k in 4 registers {
      %0 = s1[k * 14 + kw * 2 + r]
      %1 = const0[c + k * 8 + kw * 32]
      %2 = f32 mul(%0, %1)
      s0[c + r * 8] <- %2
    }
    map r in 10, c in 8 {
      %0 = s0[c + r * 8]
      out0[c * 10 + image * 80 + r] <- %0
    }
  }
}

// RUN: tiles conv_direct --layouts p0231->p0231 depthwise_window_on_the_way
// A pointwise convolution computes the window that it reads in its panel.
graph {
  input %x : f32[1x8x4x4] "x"
  %taps = Constant() {splat=0.5} : f32[1x3x8]
  %w = Constant() {splat=0.25} : f32[8x8x1x1]
  %d = WindowDot(%x, %taps) {kernel=[1,3], strides=[1,1], dilations=[1,1], pads_before=[0,1], pads_after=[0,1]}
  %r = Relu(%d)
  %y = Conv(%r, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
conv_direct(1,4) p0231->p0231
kernel {
  in0: f32[128]
  const0: f32[24]
  const1: f32[64] packed columns(0, 1, 8, 0)
  out0: f32[128]
  s0: f32[128] at 0
  s1: f32[128] at 512
  scratch 1024
  phase {
    kept map pr in 4, px in 4, channel in 8 {
      %0 = in0[channel + pr * 32 + px * 8 - 8]
      %1 = const0[channel]
      %2 = f32 mul(%0, %1)
      %3 = f32 0
      %4 = %2 if 0 <= px - 1 <= 3 else %3
      %5 = in0[channel + pr * 32 + px * 8]
      %6 = const0[channel + 8]
      %7 = f32 mul(%5, %6)
      %8 = f32 add(%4, %7)
      %9 = in0[channel + pr * 32 + px * 8 + 8]
      %10 = const0[channel + 16]
      %11 = f32 mul(%9, %10)
      %12 = %11 if 0 <= px + 1 <= 3 else %3
      %13 = f32 add(%8, %12)
      %14 = f32 max(%13, %3)
      s1[channel + pr * 32 + px * 8] <- %14
    }
    for y in 4 {
      reduce add r in 4, c in 8 over k in 8 registers {
        %0 = s1[k + r * 8 + y * 32]
        %1 = const1[c + k * 8]
        %2 = f32 mul(%0, %1)
        s0[c + r * 8] <- %2
      }
      map r in 4, c in 8 lanes 8 along c {
        %0 = s0[c + r * 8]
        out0[c + r * 8 + y * 32] <- %0
      }
    }
  }
}

// RUN: tiles linear_generic three_dimensions
graph {
  input %x : f32[1x2x3x3x4] "x"
  %w = Constant() {splat=0.5} : f32[2x2x1x1x2]
  %y = Conv(%x, %w) {strides=[1,1,1], dilations=[1,1,1], pads_before=[0,0,0], pads_after=[0,0,0]}
  output %y "y"
}
// EXPECT:
linear_generic() rm->rm
kernel {
  in0: f32[72]
  const0: f32[8]
  out0: f32[54]
  s0: f32[3] at 0
  scratch 64
  phase i1 in 2, i3 in 3, i5 in 3 {
    reduce add j9 in 3 over r10 in 2 {
      %0 = in0[i3 * 12 + i5 * 4 + j9 + r10 * 36]
      %1 = const0[i1 * 4 + r10 * 2]
      %2 = f32 mul(%0, %1)
      %3 = in0[i3 * 12 + i5 * 4 + j9 + r10 * 36 + 1]
      %4 = const0[i1 * 4 + r10 * 2 + 1]
      %5 = f32 mul(%3, %4)
      %6 = f32 add(%2, %5)
      s0[j9] <- %6
    }
    map i6 in 3 {
      %0 = s0[i6]
      out0[i1 * 27 + i3 * 9 + i5 * 3 + i6] <- %0
    }
  }
}

// RUN: tiles linear_generic grouped_transposed_convolution
// A tap meets a result where the step back from it is a whole number of strides; channels stay in their group.
graph {
  input %x : f32[1x4x3] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]} : f32[4x2x2]
  %y = ConvTranspose(%x, %w) {strides=[2], dilations=[1], pads_before=[1], pads_after=[0], output_padding=[0], group=2}
  output %y "y"
}
// EXPECT:
linear_generic() rm->rm
kernel {
  in0: f32[12]
  const0: f32[16]
  out0: f32[20]
  s0: f32[6] at 0
  scratch 64
  phase i9 in 2, i10 in 2 {
    reduce add j16 in 3, j15 in 2 over r14 in 2 {
      %0 = in0[((j15 + 1) / 2) + i9 * 6 + j16 + r14 * 3]
      %1 = const0[i10 * 2 + i9 * 8 + r14 * 4]
      %2 = f32 mul(%0, %1)
      %3 = f32 0
      %4 = %2 if 0 <= ((j15 + 1) % 2) <= 0 and 0 <= ((j15 + 1) / 2) + j16 <= 2 else %3
      %5 = in0[i9 * 6 + j16 + r14 * 3]
      %6 = const0[i10 * 2 + i9 * 8 + r14 * 4 + 1]
      %7 = f32 mul(%5, %6)
      %8 = %7 if 0 <= j15 <= 0 else %3
      %9 = f32 add(%4, %8)
      s0[j15 + j16 * 2] <- %9
    }
    map i2 in 5 {
      %0 = s0[i2]
      out0[i10 * 5 + i2 + i9 * 10] <- %0
    }
  }
}
