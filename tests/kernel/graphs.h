// Small tile graphs as text.
#pragma once

namespace korch::testing {

// A softmax over rows of 6, its maximum and its exponentials kept in scratch.
constexpr const char* kSoftmax = R"(kernel {
  in0: f32[24]
  out0: f32[24]
  s0: f32[1] at 0
  s1: f32[6] at 64
  s2: f32[1] at 128
  scratch 192
  phase i0 in 4 {
    reduce max over r0 in 6 {
      %0 = in0[i0 * 6 + r0]
      s0[0] <- %0
    }
    reduce add over r1 in 6 {
      %0 = in0[i0 * 6 + r1]
      %1 = s0[0]
      %2 = f32 sub(%0, %1)
      %3 = f32 exp(%2)
      s2[0] <- %3
      s1[r1] <- %3
    }
    map i1 in 6 {
      %0 = s1[i1]
      %1 = s2[0]
      %2 = f32 div(%0, %1)
      out0[i0 * 6 + i1] <- %2
    }
  }
}
)";

// Windows of 3 over rows of 8, padded by one zero on either side; the outermost loop in chunks.
constexpr const char* kWindows = R"(kernel {
  in0: f32[40]
  out0: f32[40]
  phase i0 in 5 by 2 {
    map i0 in 5, i1 in 8 {
      %0 = in0[i0 * 8 + i1 - 1]
      %1 = f32 0
      %2 = %0 if 1 <= i1 <= 8 else %1
      %3 = in0[i0 * 8 + i1]
      %4 = f32 add(%2, %3)
      %5 = in0[i0 * 8 + i1 + 1]
      %6 = %5 if -1 <= i1 <= 6 else %1
      %7 = f32 add(%4, %6)
      out0[i0 * 8 + i1] <- %7
    }
  }
}
)";

// Rows of in1 put over the rows of in0 that in2 names; running sums of what results; in each row of those the
// two largest, with their positions; and where windows of 3 have their maximum.
constexpr const char* kInOrder = R"(kernel {
  in0: f32[24]
  in1: f32[12]
  in2: i64[2]
  out0: f32[24]
  out1: f32[24]
  out2: i64[8]
  out3: f32[8]
  out4: i64[24]
  phase i0 in 4 {
    map i1 in 6 {
      %0 = in0[i0 * 6 + i1]
      out0[i0 * 6 + i1] <- %0
    }
  }
  phase {
    scatter i0 in 2, i1 in 6 {
      %0 = in1[i0 * 6 + i1]
      %1 = in2[i0]
      %2 = checked %1 of 4
      out0[%2 * 6 + i1] <- %0
    }
  }
  phase i0 in 4 {
    scan add over r0 in 6 {
      %0 = out0[i0 * 6 + r0]
      out1[i0 * 6 + r0] <- %0
    }
    top_k max over r1 in 6 rank k0 in 2 {
      %0 = out1[i0 * 6 + r1]
      out2[i0 * 2 + k0] <- %0
      out3[i0 * 2 + k0] <- %0
    }
    arg_reduce max i1 in 6 over r2 in 3 at i1 + r2 - 1 by comparison {
      %0 = out0[i0 * 6 + i1 + r2 - 1]
      out4[i0 * 6 + i1] <- %0 if 1 <= i1 + r2 <= 6
    }
  }
}
)";

// The largest numbers of a row that lie apart from one another.
constexpr const char* kSuppress = R"(kernel {
  in0: f32[12]
  out0: i64[6]
  temp0: i64[12]
  phase i0 in 2 {
    suppress max over r0 in 6, r1 in 6 rank k0 in 3 {
      %0 = in0[i0 * 6 + r0]
      %1 = in0[i0 * 6 + r1]
      %2 = f32 sub(%1, %0)
      %3 = f32 1
      %4 = bool lt(%2, %3)
      out0[i0 * 3 + k0] <- %0
      temp0[i0 * 6 + r0] <- %4
    }
  }
}
)";

// Reductions in three parts: of each column, by comparison, of exponentials, of integers; a fourth part goes
// on from the three.
constexpr const char* kInParts = R"(kernel {
  in0: f32[600]
  in1: i32[12]
  out0: f32[40]
  out1: f32[2]
  out2: i32[1]
  s0: f32[40] at 0
  s1: f32[2] at 192
  s2: i32[1] at 256
  scratch 320
  phase {
    for b in 3 {
      reduce add i0 in 40 over r0 in 4 anew if 0 <= b <= 0 {
        %0 = in0[b * 160 + i0 + r0 * 40]
        s0[i0] <- %0
      }
      reduce max over r1 in 100 by comparison anew if 0 <= b <= 0 {
        %0 = in0[b * 100 + r1]
        s1[0] <- %0
      }
      reduce add over r2 in 100 anew if 0 <= b <= 0 {
        %0 = in0[b * 100 + r2]
        %1 = s1[0]
        %2 = f32 sub(%0, %1)
        %3 = f32 exp(%2) decaying
        s1[1] <- %3
      }
      reduce mul over r3 in 4 anew if 0 <= b <= 0 {
        %0 = in1[b * 4 + r3]
        s2[0] <- %0
      }
    }
    reduce add i1 in 40 over r4 in 3 anew never {
      %0 = in0[i1 + r4 * 40 + 480]
      s0[i1] <- %0
    }
    map i2 in 40 {
      %0 = s0[i2]
      out0[i2] <- %0
    }
    map i3 in 2 {
      %0 = s1[i3]
      out1[i3] <- %0
    }
    map {
      %0 = s2[0]
      out2[0] <- %0
    }
  }
}
)";

constexpr const char* kGraphs[] = {kSoftmax, kWindows, kInOrder, kSuppress, kInParts};

}  // namespace korch::testing
