// What the family `blocks` builds of a block graph, which stands behind the graph.

// RUN: tiles blocks online_softmax --target x86-64-v4
// Attention with a soft cap: keys in blocks, the sums rescaled where a block has a larger score.
graph {
  input %q : f32[28x64] "q"
  input %k : f32[3000x64] "k"
  input %v : f32[3000x64] "v"
  %cap = Constant() {value=[8]} : f32[]
  %s = MatMul(%q, %k) {transpose_b=true}
  %h = Tanh(%s)
  %t = Mul(%h, %cap)
  %m = ReduceMax(%t) {axes=[1]}
  %d = Sub(%t, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[1]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  output %y "y"
}
block {
  axes a grid, b, c, d
  leaf q f32 [a, c]
  leaf k f32 [c, d]
  leaf v f32 [b, d]
  %0 = load q
  %1 = number 8
  loop d {
    %2 = load k
    %3 = Mul(%0, %2)
    %4 = sum c %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = max d %6
    %8 = before %7
    %9 = Sub(%8, %7)
    %10 = Exp(%9)
    %11 = Sub(%6, %7)
    %12 = Exp(%11)
    %13 = sum d %12 rescaled %10
    %14 = load v
    %15 = Mul(%12, %14)
    %16 = sum d %15 rescaled %10
  }
  %17 = Div(%16, %13)
  result %17
}
// EXPECT:
blocks(0,14,1504) rm,rm,rm->rm
kernel {
  in0: f32[1792]
  in1: f32[192000]
  in2: f32[192000]
  const0: f32[1]
  out0: f32[1792]
  temp0: f32[192000]
  temp1: f32[192000]
  s0: f32[896] at 0
  s1: f32[21056] at 3584
  s2: f32[14] at 87808
  s3: f32[14] at 87872
  s4: f32[14] at 87936
  s5: f32[14] at 88000
  s6: f32[14] at 88064
  s7: f32[896] at 88128
  scratch 91712
  phase block in 94 {
    for block in 0..93 of 94 {
      map k in 64, c in 32 {
        %0 = in1[block * 2048 + c * 64 + k]
        temp0[block * 2048 + c + k * 32] <- %0
      }
    }
    for block in 93..94 of 94 {
      map k in 64, c in 24 {
        %0 = in1[c * 64 + k + 190464]
        temp0[c + k * 24 + 190464] <- %0
      }
    }
  }
  phase block in 2 {
    map k in 3000, c in 32 {
      %0 = in2[block * 32 + c + k * 64]
      temp1[block * 96000 + c + k * 32] <- %0
    }
  }
  phase block in 2 {
    for row in 14 {
      map i_c in 64 {
        %0 = in0[block * 896 + i_c + row * 64]
        s0[i_c + row * 64] <- %0
      }
    }
    for block0_d in 0..1 of 2 {
      for column in 47 {
        reduce add r in 14, c in 32 over k in 64 registers {
          %0 = s0[k + r * 64]
          %1 = temp0[c + column * 2048 + k * 32]
          %2 = f32 mul(%0, %1)
          s1[c + column * 32 + r * 1504] <- %2
        }
      }
      for row in 14 {
        reduce max over i_d in 1504 by comparison {
          %0 = s1[i_d + row * 1504]
          %1 = f32 tanh(%0)
          %2 = f32 8
          %3 = f32 mul(%1, %2)
          s3[row] <- %3
          s1[i_d + row * 1504] <- %3
        }
        map {
          %0 = f32 -inf
          %1 = s3[row]
          %2 = f32 max(%0, %1)
          s4[row] <- %0
          s2[row] <- %2
        }
        map {
          %0 = s4[row]
          %1 = s2[row]
          %2 = f32 -inf
          %3 = bool eq(%1, %2)
          %4 = f32 0
          %5 = f32 select(%3, %4, %1)
          %6 = f32 sub(%0, %5)
          %7 = f32 exp(%6) decaying
          s5[row] <- %7
        }
        map {
          %0 = f32 0
          s6[row] <- %0
        }
        reduce add over i_d in 1504 {
          %0 = s1[i_d + row * 1504]
          %1 = s2[row]
          %2 = f32 -inf
          %3 = bool eq(%1, %2)
          %4 = f32 0
          %5 = f32 select(%3, %4, %1)
          %6 = f32 sub(%0, %5)
          %7 = f32 exp(%6) decaying
          s6[row] <- %7
          s1[i_d + row * 1504] <- %7
        }
        map i_b in 64 {
          %0 = f32 0
          s7[i_b + row * 64] <- %0
        }
      }
      for column in 2 {
        reduce add r in 14, c in 32 over k in 1504 registers {
          %0 = s1[k + r * 1504]
          %1 = temp1[c + column * 96000 + k * 32]
          %2 = f32 mul(%0, %1)
          s7[c + column * 32 + r * 64] <- %2
        }
      }
    }
    for block0_d in 1..2 of 2 {
      for column in 0..46 of 47 {
        reduce add r in 14, c in 32 over k in 64 registers {
          %0 = s0[k + r * 64]
          %1 = temp0[c + column * 2048 + k * 32 + 96256]
          %2 = f32 mul(%0, %1)
          s1[c + column * 32 + r * 1504] <- %2
        }
      }
      for column in 46..47 of 47 {
        reduce add r in 14, c in 24 over k in 64 registers {
          %0 = s0[k + r * 64]
          %1 = temp0[c + k * 24 + 190464]
          %2 = f32 mul(%0, %1)
          s1[c + r * 1504 + 1472] <- %2
        }
      }
      for row in 14 {
        reduce max over i_d in 1496 by comparison {
          %0 = s1[i_d + row * 1504]
          %1 = f32 tanh(%0)
          %2 = f32 8
          %3 = f32 mul(%1, %2)
          s3[row] <- %3
          s1[i_d + row * 1504] <- %3
        }
        map {
          %0 = s2[row]
          %1 = s3[row]
          %2 = f32 max(%0, %1)
          s4[row] <- %0
          s2[row] <- %2
        }
        map {
          %0 = s4[row]
          %1 = s2[row]
          %2 = f32 -inf
          %3 = bool eq(%1, %2)
          %4 = f32 0
          %5 = f32 select(%3, %4, %1)
          %6 = f32 sub(%0, %5)
          %7 = f32 exp(%6) decaying
          s5[row] <- %7
        }
        map {
          %0 = s6[row]
          %1 = s5[row]
          %2 = f32 mul(%0, %1)
          s6[row] <- %2
        }
        reduce add over i_d in 1496 anew never {
          %0 = s1[i_d + row * 1504]
          %1 = s2[row]
          %2 = f32 -inf
          %3 = bool eq(%1, %2)
          %4 = f32 0
          %5 = f32 select(%3, %4, %1)
          %6 = f32 sub(%0, %5)
          %7 = f32 exp(%6) decaying
          s6[row] <- %7
          s1[i_d + row * 1504] <- %7
        }
        map i_b in 64 {
          %0 = s7[i_b + row * 64]
          %1 = s5[row]
          %2 = f32 mul(%0, %1)
          s7[i_b + row * 64] <- %2
        }
      }
      for column in 2 {
        reduce add r in 14, c in 32 over k in 1496 anew never registers {
          %0 = s1[k + r * 1504]
          %1 = temp1[c + column * 96000 + k * 32 + 48128]
          %2 = f32 mul(%0, %1)
          s7[c + column * 32 + r * 64] <- %2
        }
      }
    }
    map row in 14, i_b in 64 {
      %0 = s7[i_b + row * 64]
      %1 = f32 1.2676506002282294e+30
      %2 = s6[row]
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
      out0[block * 896 + i_b + row * 64] <- %15
    }
  }
}
