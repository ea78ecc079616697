// Softmax between two products (codegen/linear/attention.cpp).

// RUN: tiles attention masked_heads
graph {
  input %q : f32[2x6x8] "q"
  input %k : f32[2x10x8] "k"
  input %v : f32[2x10x8] "v"
  input %mask : f32[6x10] "mask"
  %y = Attention(%q, %k, %v, %mask)
  output %y "y"
}
// EXPECT:
attention(10,6,6,2,6,1) rm,rm,rm,rm->rm
kernel {
  in0: f32[96]
  in1: f32[160]
  in2: f32[160]
  in3: f32[60]
  out0: f32[96]
  temp0: f32[192]
  temp1: f32[160]
  s0: f32[48] at 0
  s1: f32[96] at 192
  s2: f32[96] at 576
  s3: f32[6] at 960
  s4: f32[6] at 1024
  scratch 1088
  phase matrix in 2 {
    map k in 8, c in 10 {
      %0 = in1[c * 8 + k + matrix * 80]
      temp0[c + k * 12 + matrix * 96] <- %0
    }
    map k in 8, c in 2 {
      %0 = f32 0
      temp0[c + k * 12 + matrix * 96 + 10] <- %0
    }
  }
  phase matrix in 2 {
    map k in 10, c in 8 {
      %0 = in2[c + k * 8 + matrix * 80]
      temp1[c + k * 8 + matrix * 80] <- %0
    }
  }
  phase image in 2 {
    kept map pr in 1, px in 6, channel in 8 {
      %0 = in0[channel + image * 48 + px * 8]
      s0[channel + px * 8] <- %0
    }
    reduce add r in 6, c in 12 over k in 8 registers {
      %0 = s0[k + r * 8]
      %1 = temp0[c + image * 96 + k * 12]
      %2 = f32 mul(%0, %1)
      s1[c + r * 16] <- %2
    }
    for row in 6 {
      reduce max over c in 10 by comparison {
        %0 = s1[c + row * 16]
        %1 = in3[c + row * 10]
        %2 = f32 add(%0, %1)
        s3[row] <- %2
        s1[c + row * 16] <- %2
      }
      reduce add over c in 10 {
        %0 = s1[c + row * 16]
        %1 = s3[row]
        %2 = f32 -inf
        %3 = bool eq(%1, %2)
        %4 = f32 0
        %5 = f32 select(%3, %4, %1)
        %6 = f32 sub(%0, %5)
        %7 = f32 exp(%6) decaying
        s4[row] <- %7
        s1[c + row * 16] <- %7
      }
    }
    reduce add r in 6, c in 8 over k in 10 registers {
      %0 = s1[k + r * 16]
      %1 = temp1[c + image * 80 + k * 8]
      %2 = f32 mul(%0, %1)
      s2[c + r * 16] <- %2
    }
    map r in 6, c in 8 lanes 8 along c {
      %0 = s2[c + r * 16]
      %1 = f32 1.2676506002282294e+30
      %2 = s4[r]
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
      out0[c + image * 48 + r * 8] <- %15
    }
  }
}
