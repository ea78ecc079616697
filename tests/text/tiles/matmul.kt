// The row kernel for matrix products (codegen/linear/matmul.cpp).

// RUN: tiles matmul plain
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
matmul(1,10) rm->rm
kernel {
  in0: f32[80]
  const0: f32[192] packed columns(1, 1, 8, 0)
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
        out0[block * 8 + c + r * 24] <- %0
      }
    }
  }
}

// RUN: tiles matmul --layouts rm->rm --target x86-64-v4 wider_vectors
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
matmul(2,10) rm->rm
kernel {
  in0: f32[80]
  const0: f32[192] packed columns(1, 1, 32, 24)
  out0: f32[240]
  s0: f32[384] at 0
  scratch 1536
  phase {
    reduce add r in 10, c in 24 over k in 8 registers {
      %0 = in0[k + r * 8]
      %1 = const0[c + k * 24]
      %2 = f32 mul(%0, %1)
      s0[c + r * 24] <- %2
    }
    map r in 10, c in 16 lanes 16 along c {
      %0 = s0[c + r * 24]
      out0[c + r * 24] <- %0
    }
    map r in 10, c in 8 lanes 8 along c {
      %0 = s0[c + r * 24 + 16]
      out0[c + r * 24 + 16] <- %0
    }
  }
}

// RUN: tiles matmul --layouts rm->rm transposed_weights
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[24x8]
  %y = MatMul(%x, %w) {transpose_b=true}
  output %y "y"
}
// EXPECT:
matmul(1,10) rm->rm
kernel {
  in0: f32[80]
  const0: f32[192] packed columns(2, 1, 8, 0)
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
        out0[block * 8 + c + r * 24] <- %0
      }
    }
  }
}

// RUN: tiles matmul --layouts rm->rm bias_and_relu
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Relu(%s)
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
        %3 = f32 0
        %4 = f32 max(%2, %3)
        out0[block * 8 + c + r * 24] <- %4
      }
    }
  }
}

// RUN: tiles matmul --layouts rm->rm prologue
// Data go through a panel in scratch.
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %r = Relu(%x)
  %y = MatMul(%r, %w)
  output %y "y"
}
// EXPECT:
matmul(1,10) rm->rm
kernel {
  in0: f32[80]
  const0: f32[192] packed columns(1, 1, 8, 0)
  out0: f32[240]
  s0: f32[128] at 0
  s1: f32[80] at 512
  scratch 832
  phase {
    kept map pr in 1, px in 10, channel in 8 {
      %0 = in0[channel + px * 8]
      %1 = f32 0
      %2 = f32 max(%0, %1)
      s1[channel + px * 8] <- %2
    }
    for block in 3 {
      reduce add r in 10, c in 8 over k in 8 registers {
        %0 = s1[k + r * 8]
        %1 = const0[block * 64 + c + k * 8]
        %2 = f32 mul(%0, %1)
        s0[c + r * 8] <- %2
      }
      map r in 10, c in 8 lanes 8 along c {
        %0 = s0[c + r * 8]
        out0[block * 8 + c + r * 24] <- %0
      }
    }
  }
}

// RUN: tiles matmul --layouts rm,rm->rm batched
// Columns that are computed are packed by a first phase.
graph {
  input %a : f32[3x5x4] "a"
  input %b : f32[3x4x6] "b"
  %y = MatMul(%a, %b)
  output %y "y"
}
// EXPECT:
matmul(1,5) rm,rm->rm
kernel {
  in0: f32[60]
  in1: f32[72]
  out0: f32[90]
  temp0: f32[96]
  s0: f32[128] at 0
  scratch 512
  phase matrix in 3 {
    map k in 4, c in 6 {
      %0 = in1[c + k * 6 + matrix * 24]
      temp0[c + k * 8 + matrix * 32] <- %0
    }
    map k in 4, c in 2 {
      %0 = f32 0
      temp0[c + k * 8 + matrix * 32 + 6] <- %0
    }
  }
  phase image in 3 {
    reduce add r in 5, c in 8 over k in 4 registers {
      %0 = in0[image * 20 + k + r * 4]
      %1 = temp0[c + image * 32 + k * 8]
      %2 = f32 mul(%0, %1)
      s0[c + r * 8] <- %2
    }
    map r in 5, c in 6 lanes 8 along c {
      %0 = s0[c + r * 8]
      out0[c + image * 30 + r * 6] <- %0
    }
  }
}

// RUN: tiles matmul --layouts rm,rm->rm keys_by_rows
graph {
  input %q : f32[2x5x8] "q"
  input %k : f32[2x7x8] "k"
  %y = MatMul(%q, %k) {transpose_b=true}
  output %y "y"
}
// EXPECT:
matmul(1,5) rm,rm->rm
kernel {
  in0: f32[80]
  in1: f32[112]
  out0: f32[70]
  temp0: f32[128]
  s0: f32[128] at 0
  scratch 512
  phase matrix in 2 {
    map k in 8, c in 7 {
      %0 = in1[c * 8 + k + matrix * 56]
      temp0[c + k * 8 + matrix * 64] <- %0
    }
    map k in 8, c in 1 {
      %0 = f32 0
      temp0[k * 8 + matrix * 64 + 7] <- %0
    }
  }
  phase image in 2 {
    reduce add r in 5, c in 8 over k in 8 registers {
      %0 = in0[image * 40 + k + r * 8]
      %1 = temp0[c + image * 64 + k * 8]
      %2 = f32 mul(%0, %1)
      s0[c + r * 8] <- %2
    }
    map r in 5, c in 7 lanes 8 along c {
      %0 = s0[c + r * 8]
      out0[c + image * 35 + r * 7] <- %0
    }
  }
}

// RUN: tiles matmul --layouts rm->rm long_reduction
// Parts of at most 768 terms.
graph {
  input %x : f32[8x1536] "x"
  %w = Constant() {splat=0.5} : f32[1536x8]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
matmul(1,8) rm->rm
kernel {
  in0: f32[12288]
  const0: f32[12288] packed columns(1, 1, 8, 0)
  out0: f32[64]
  s0: f32[128] at 0
  scratch 512
  phase {
    for kd in 2 {
      reduce add r in 8, c in 8 over k in 768 anew if 0 <= kd <= 0 registers prefetch columns {
        %0 = in0[k + kd * 768 + r * 1536]
        %1 = const0[c + k * 8 + kd * 6144]
        %2 = f32 mul(%0, %1)
        s0[c + r * 8] <- %2
      }
    }
    map r in 8, c in 8 lanes 8 along c {
      %0 = s0[c + r * 8]
      out0[c + r * 8] <- %0
    }
  }
}

// RUN: tiles matmul --layouts rm->rm --target x86-64-v4-vnni bytes
// Four terms at a time.
graph {
  input %x : u8[5x8] "x"
  %w = Constant() {splat=3} : i8[8x16]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
matmul(1,5) rm->rm
kernel {
  in0: u8[40]
  const0: i8[128] packed column_groups(1, 1, 16, 0)
  out0: i32[80]
  s0: i32[256] at 0
  scratch 1024
  phase {
    reduce add r in 5, c in 16 over k in 2, term in 4 registers {
      %0 = in0[k * 4 + r * 8 + term]
      %1 = i32 cast(%0)
      %2 = const0[c * 4 + k * 64 + term]
      %3 = i32 cast(%2)
      %4 = i32 mul(%1, %3)
      s0[c + r * 16] <- %4
    }
    map r in 5, c in 16 lanes 16 along c {
      %0 = s0[c + r * 16]
      out0[c + r * 16] <- %0
    }
  }
}

// RUN: tiles linear_generic doubles
graph {
  input %a : f64[3x4] "a"
  input %b : f64[4x5] "b"
  %y = MatMul(%a, %b)
  output %y "y"
}
// EXPECT:
linear_generic() rm,rm->rm
kernel {
  in0: f64[12]
  in1: f64[20]
  out0: f64[15]
  s0: f64[5] at 0
  scratch 64
  phase i1 in 3 {
    reduce add j5 in 5 over r6 in 4 {
      %0 = in0[i1 * 4 + r6]
      %1 = in1[j5 + r6 * 5]
      %2 = f64 mul(%0, %1)
      s0[j5] <- %2
    }
    map i2 in 5 {
      %0 = s0[i2]
      out0[i1 * 5 + i2] <- %0
    }
  }
}

// RUN: tiles staged --target gpu --layouts rm->rm tile_of_a_thread_block
graph {
  input %x : f32[64x32] "x"
  %w = Constant() {splat=0.5} : f32[32x64]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
staged(32,32,16,matrix f32) rm->rm
kernel {
  in0: f32[2048]
  const0: f32[2048] packed columns(1, 1, 32, 32)
  out0: f32[4096]
  s0: f32[640] at 0
  s1: f32[640] at 2560
  s2: f32[1024] at 5120
  scratch 9216
  phase tx in 2, block in 2 {
    for k_tile in 2 {
      map k in 16, ry in 1, rx in 32 lanes 4 along k {
        %0 = in0[k + k_tile * 16 + rx * 32 + tx * 1024]
        s0[k + rx * 20] <- %0
      }
      map k in 16, c in 32 lanes 4 along c {
        %0 = const0[block * 1024 + c + k * 32 + k_tile * 512]
        s1[c + k * 40] <- %0
      }
      reduce add r in 32, c in 32 over k in 16 anew if 0 <= k_tile <= 0 registers matrix f32 stages 2 {
        %0 = s0[k + r * 20]
        %1 = s1[c + k * 40]
        %2 = f32 mul(%0, %1)
        s2[c + r * 32] <- %2
      }
    }
    map ry in 1, rx in 32, c in 32 {
      %0 = s2[c + rx * 32]
      out0[block * 32 + c + rx * 64 + tx * 2048] <- %0
    }
  }
}
staged(64,64,16,matrix f32) rm->rm
kernel {
  in0: f32[2048]
  const0: f32[2048] packed columns(1, 1, 64, 64)
  out0: f32[4096]
  s0: f32[1280] at 0
  s1: f32[1152] at 5120
  s2: f32[4096] at 9728
  scratch 26112
  phase {
    for k_tile in 2 {
      map k in 16, ry in 1, rx in 64 lanes 4 along k {
        %0 = in0[k + k_tile * 16 + rx * 32]
        s0[k + rx * 20] <- %0
      }
      map k in 16, c in 64 lanes 4 along c {
        %0 = const0[c + k * 64 + k_tile * 1024]
        s1[c + k * 72] <- %0
      }
      reduce add r in 64, c in 64 over k in 16 anew if 0 <= k_tile <= 0 registers matrix f32 stages 2 {
        %0 = s0[k + r * 20]
        %1 = s1[c + k * 72]
        %2 = f32 mul(%0, %1)
        s2[c + r * 64] <- %2
      }
    }
    map ry in 1, rx in 64, c in 64 {
      %0 = s2[c + rx * 64]
      out0[c + rx * 64] <- %0
    }
  }
}
staged(64,64,16) rm->rm
kernel {
  in0: f32[2048]
  const0: f32[2048] packed columns(1, 1, 64, 64)
  out0: f32[4096]
  s0: f32[1088] at 0
  s1: f32[1088] at 4352
  s2: f32[4096] at 8704
  scratch 25088
  phase {
    for k_tile in 2 {
      map k in 16, ry in 1, rx in 64 lanes 4 along k {
        %0 = in0[k + k_tile * 16 + rx * 32]
        s0[k * 68 + rx] <- %0
      }
      map k in 16, c in 64 lanes 4 along c {
        %0 = const0[c + k * 64 + k_tile * 1024]
        s1[c + k * 68] <- %0
      }
      reduce add r in 64, c in 64 over k in 16 anew if 0 <= k_tile <= 0 registers stages 2 {
        %0 = s0[k * 68 + r]
        %1 = s1[c + k * 68]
        %2 = f32 mul(%0, %1)
        s2[c + r * 64] <- %2
      }
    }
    map ry in 1, rx in 64, c in 64 {
      %0 = s2[c + rx * 64]
      out0[c + rx * 64] <- %0
    }
  }
}

// RUN: tiles matmul --layouts rm->rm heads
// The result is divided into heads on its way out.
graph {
  input %x : f32[5x8] "x"
  %w = Constant() {splat=0.5} : f32[8x16]
  %p = MatMul(%x, %w)
  %r = Reshape(%p) {shape=[5,2,8]}
  %y = Transpose(%r) {perm=[1,0,2]}
  output %y "y"
}
// EXPECT:
matmul(2,5) rm->rm
kernel {
  in0: f32[40]
  const0: f32[128] packed columns(1, 1, 16, 0)
  out0: f32[80]
  s0: f32[256] at 0
  scratch 1024
  phase {
    reduce add r in 5, c in 16 over k in 8 registers {
      %0 = in0[k + r * 8]
      %1 = const0[c + k * 16]
      %2 = f32 mul(%0, %1)
      s0[c + r * 16] <- %2
    }
    map r in 5, j in 2, c in 8 lanes 8 along c {
      %0 = s0[c + j * 8 + r * 16]
      out0[c + j * 40 + r * 8] <- %0
    }
  }
}

// RUN: tiles matmul --layouts rm->rm --threads 4 shared_rows
// Rows of different tiles, dealt out to slices.
graph {
  input %x : f32[190x32] "x"
  %w = Constant() {splat=0.5} : f32[32x32]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
matmul(2,6) rm->rm
kernel {
  in0: f32[6080]
  const0: f32[1024] packed columns(1, 1, 16, 0)
  out0: f32[6080]
  s0: f32[256] at 0
  scratch 1024
  phase t in 32 by 8 {
    for t in 0..30 of 32 {
      for block in 2 {
        reduce add r in 6, c in 16 over k in 32 registers {
          %0 = in0[k + r * 32 + t * 192]
          %1 = const0[block * 512 + c + k * 16]
          %2 = f32 mul(%0, %1)
          s0[c + r * 16] <- %2
        }
        map r in 6, c in 16 lanes 8 along c {
          %0 = s0[c + r * 16]
          out0[block * 16 + c + r * 32 + t * 192] <- %0
        }
      }
    }
    for t in 30..32 of 32 {
      for block in 2 {
        reduce add r in 5, c in 16 over k in 32 registers {
          %0 = in0[k + r * 32 + t * 160 + 960]
          %1 = const0[block * 512 + c + k * 16]
          %2 = f32 mul(%0, %1)
          s0[c + r * 16] <- %2
        }
        map r in 5, c in 16 lanes 8 along c {
          %0 = s0[c + r * 16]
          out0[block * 16 + c + r * 32 + t * 160 + 960] <- %0
        }
      }
    }
  }
}
