// Kernels with one mistake each, on the emulator that checks every access, and how it counts sectors and
// wavefronts.
#include "memory_checker.h"

#include <gtest/gtest.h>

#include "emulator.h"

namespace korch::testing {
namespace {

constexpr int64_t kThreads = 64, kBlocks = 2;
constexpr size_t kBytes = kThreads * sizeof(float), kWorkspaceBytes = 64;

// A kernel on `in`, whose 64 elements the host wrote, and `out`, 64 elements that nobody wrote.
class Checked {
 public:
  explicit Checked(const std::string& body, int64_t blocks = 1, bool reads_out = false) {
    emulator_.checker().count_accesses(true);
    constexpr int64_t kMostSteps = 100000;
    emulator_.checker().set_most_steps(kMostSteps);
    const Result<Gpu::Function> function = emulator_.load(
        "extern \"C\" __global__ void k(const float* in, float* out, int* status, char* workspace) {\n" +
            body + "}\n",
        "k");
    EXPECT_TRUE(function.ok()) << function.refusal().detail;
    std::vector<Gpu::Pointer> arguments;
    for (size_t bytes : {kBytes, kBytes, sizeof(int), kWorkspaceBytes * kBlocks})
      arguments.push_back(emulator_.allocate(bytes));
    emulator_.fill(arguments[0], 0, kBytes);
    emulator_.fill(arguments[2], 0, sizeof(int));
    emulator_.set_roles(arguments[2], arguments[3], kWorkspaceBytes);
    emulator_.run(function.value(), blocks, kThreads, arguments);
    int status = 0;
    emulator_.to_host(&status, arguments[2], sizeof status);
    if (reads_out) {
      std::vector<char> result(kBytes);
      emulator_.to_host(result.data(), arguments[1], kBytes);
    }
    for (Gpu::Pointer argument : arguments) emulator_.free(argument);
  }

  // Kinds of the mistakes, each once per memory.
  std::string mistakes() {
    std::string list;
    for (const Finding& finding : emulator_.checker().findings())
      list += std::string(list.empty() ? "" : ", ") + name(finding.mistake);
    return list;
  }
  const AccessCounts& counts() { return emulator_.checker().counts(); }

 private:
  Emulator emulator_{Checks::memory};
};

std::string mistakes(const std::string& body, int64_t blocks = 1) {
  return Checked(body, blocks).mistakes();
}

#define SKIP_WITHOUT_EMULATOR \
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot

TEST(MemoryChecker, PassesWhatIsRight) {
  SKIP_WITHOUT_EMULATOR;
  EXPECT_EQ(mistakes("out[threadIdx.x] = in[threadIdx.x];"), "");
  EXPECT_EQ(mistakes("__shared__ float s[64]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads();"
                     "out[threadIdx.x] = s[63 - threadIdx.x];"),
            "");
  EXPECT_EQ(mistakes("*status = 1;", kBlocks), "");
  EXPECT_EQ(mistakes("float* own = (float*)(workspace + blockIdx.x * 64);"
                     "if (threadIdx.x < 16) own[threadIdx.x] = 1; __syncthreads();"
                     "if (blockIdx.x == 0) out[threadIdx.x] = own[threadIdx.x / 4];",
                     kBlocks),
            "");
  EXPECT_EQ(mistakes("for (int i = threadIdx.x; i < 16; i += 64) *(float4*)(out + 4 * i) = *(const "
                     "float4*)(in + 4 * i);"),
            "");
}

// What is copied is no number before its thread has waited, and others see it behind a barrier.
TEST(MemoryChecker, Copies) {
  SKIP_WITHOUT_EMULATOR;
  const auto copy = [](const std::string& how, const std::string& then) {
    return mistakes("__shared__ __attribute__((aligned(16))) float s[68]; copy_async" + how + "; " + then +
                    "out[threadIdx.x] = s[63 - threadIdx.x];");
  };
  const std::string each = "<4>(s + threadIdx.x, in + threadIdx.x, true)";
  EXPECT_EQ(copy(each, "wait_copies(); __syncthreads();"), "");
  EXPECT_EQ(copy(each, "__syncthreads();"), "unwritten");
  EXPECT_EQ(copy(each, "wait_copies();"), "unwritten, race");
  EXPECT_EQ(copy("<4>(s + threadIdx.x, in + threadIdx.x + 64, threadIdx.x > 64)",
                 "wait_copies(); __syncthreads();"),
            "");
  EXPECT_EQ(copy("<4>(s + threadIdx.x, in + threadIdx.x + 1, true)", "wait_copies(); __syncthreads();"),
            "outside");
  EXPECT_EQ(
      mistakes("__shared__ __attribute__((aligned(16))) float s[68];"
               "if (threadIdx.x < 8) copy_async<16>(s + threadIdx.x * 4 + 1, in + threadIdx.x * 4, true);"
               "wait_copies();"),
      "misaligned");
}

TEST(MemoryChecker, Outside) {
  SKIP_WITHOUT_EMULATOR;
  EXPECT_EQ(mistakes("out[threadIdx.x + 1] = 0;"), "outside");
  EXPECT_EQ(mistakes("out[threadIdx.x] = in[(int)threadIdx.x - 1];"), "outside");
  EXPECT_EQ(mistakes("if (threadIdx.x == 63) *(float4*)(out + 61) = float4{0, 0, 0, 0};"), "outside");
  EXPECT_EQ(mistakes("__shared__ float s[64]; float* p = s; p += threadIdx.x; p[1] = 0;"), "outside");
  EXPECT_EQ(mistakes("if (threadIdx.x == 0) ((float*)workspace)[0] = 1;", kBlocks), "outside");
  EXPECT_EQ(mistakes("float a[4] = {1, 2, 3, 4}; out[threadIdx.x] = a[threadIdx.x / 8];"), "outside");
}

TEST(MemoryChecker, Unwritten) {
  SKIP_WITHOUT_EMULATOR;
  EXPECT_EQ(mistakes("out[threadIdx.x] += 1;"), "unwritten");
  // What the first block left there is not the second's.
  EXPECT_EQ(mistakes("__shared__ float s[64]; if (blockIdx.x == 0) s[threadIdx.x] = 1; __syncthreads();"
                     "if (s[threadIdx.x] == 2) *status = 1;",
                     kBlocks),
            "unwritten");
  EXPECT_EQ(mistakes("if (((float*)(workspace + blockIdx.x * 64))[threadIdx.x / 4] == 2) *status = 1;"),
            "unwritten");
}

TEST(MemoryChecker, ResultThatNobodyWrote) {
  SKIP_WITHOUT_EMULATOR;
  EXPECT_EQ(Checked("out[threadIdx.x] = 1;", 1, true).mistakes(), "");
  EXPECT_EQ(Checked("if (threadIdx.x > 0) out[threadIdx.x] = 1;", 1, true).mistakes(), "unwritten");
}

TEST(MemoryChecker, Misaligned) {
  SKIP_WITHOUT_EMULATOR;
  EXPECT_EQ(mistakes("if (threadIdx.x == 0) *(float4*)out = *(const float4*)(in + 1);"), "misaligned");
  EXPECT_EQ(mistakes("if (threadIdx.x == 0) *(double*)(out + 1) = 1;"), "misaligned");
}

TEST(MemoryChecker, RaceOfThreads) {
  SKIP_WITHOUT_EMULATOR;
  const std::string shared = "__shared__ float s[64]; const int i = threadIdx.x;";
  EXPECT_EQ(mistakes(shared + "s[i] = in[i]; out[i] = s[i ^ 1];"), "unwritten, race");
  EXPECT_EQ(mistakes(shared + "s[i] = in[i]; __syncthreads(); out[i] = s[i ^ 1]; s[i] = 0;"), "race");
  EXPECT_EQ(mistakes("out[threadIdx.x / 2] = 1;"), "race");
  // Of many readers only the last is known; one of another warp is enough.
  EXPECT_EQ(mistakes(shared + "s[i] = in[i]; __syncthreads(); out[i] = s[3]; if (i == 63) s[3] = 0;"),
            "race");
}

TEST(MemoryChecker, OnlyBarriersOrderAWarp) {
  SKIP_WITHOUT_EMULATOR;
  const std::string within = "__shared__ float s[64]; const int i = threadIdx.x; s[i] = in[i];",
                    read = "out[i] = s[i ^ 1];";
  EXPECT_EQ(mistakes(within + "__syncwarp();" + read), "");
  EXPECT_EQ(mistakes(within + "__syncwarp();" + read + "__syncwarp(); s[i] = 0;"), "");
  EXPECT_EQ(mistakes(within + "__syncwarp();" + read + "s[i] = 0;"), "race");
  EXPECT_EQ(mistakes(within + "__syncwarp(); out[i] = s[i ^ 32];"), "unwritten, race");
  EXPECT_EQ(mistakes(within + "if (__shfl_xor_sync(0xffffffffu, i, 1) > 0 || i >= 0) " + read), "race");
}

TEST(MemoryChecker, RaceOfBlocks) {
  SKIP_WITHOUT_EMULATOR;
  EXPECT_EQ(mistakes("out[threadIdx.x] = 1;", kBlocks), "race of blocks");
  EXPECT_EQ(mistakes("out[threadIdx.x] = 1; __syncthreads();", kBlocks), "race of blocks");
  EXPECT_EQ(
      mistakes("if (blockIdx.x == 0) out[threadIdx.x] = 1; else if (out[threadIdx.x] == 2) *status = 1;",
               kBlocks),
      "race of blocks");
}

TEST(MemoryChecker, ThreadsPart) {
  SKIP_WITHOUT_EMULATOR;
  EXPECT_EQ(mistakes("if (threadIdx.x < 32) __syncthreads();"), "parted");
  EXPECT_EQ(mistakes("if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);"),
            "parted");
  // All wait, but not in one place; nor are the two calls one for a compiler.
  const auto two_places = [](const std::string& condition, const std::string& meet) {
    return mistakes("float* const p = out + threadIdx.x; float x = 0; if (" + condition + ") { *p = 1; " +
                    meet + " *p += x; } else { " + meet + " *p = x; }");
  };
  EXPECT_EQ(two_places("threadIdx.x < 32", "__syncthreads();"), "parted");
  EXPECT_EQ(two_places("threadIdx.x % 32 < 16", "__syncwarp();"), "parted");
  EXPECT_EQ(two_places("threadIdx.x % 32 < 16", "x = __shfl_xor_sync(0xffffffffu, 1.0f, 1);"), "parted");
  EXPECT_EQ(two_places("threadIdx.x < 32", "x = __shfl_xor_sync(0xffffffffu, 1.0f, 1);"), "");
}

TEST(MemoryChecker, Endless) {
  SKIP_WITHOUT_EMULATOR;
  EXPECT_EQ(mistakes("for (int i = 0; i >= 0; i = 1 - i) out[threadIdx.x] = i;"), "endless");
  EXPECT_EQ(mistakes("for (;;) __syncthreads();"), "endless");
}

TEST(AccessCounts, Sectors) {
  SKIP_WITHOUT_EMULATOR;
  const AccessCounts dense = Checked("out[threadIdx.x] = in[threadIdx.x];").counts();
  EXPECT_EQ(dense.global_accesses, 4);  // of two warps, a load and a store each
  EXPECT_EQ(dense.global_bytes, 2 * static_cast<int64_t>(kBytes));
  EXPECT_EQ(dense.sectors, 16);
  EXPECT_EQ(dense.least_sectors, 16);
  const AccessCounts turned =
      Checked("out[threadIdx.x] = in[threadIdx.x % 8 * 8 + threadIdx.x / 8];").counts();
  EXPECT_EQ(turned.sectors, 8 + 16);  // every warp touches a part of each sector
  EXPECT_EQ(turned.least_sectors, 16);
  const AccessCounts one = Checked("out[threadIdx.x] = in[5];").counts();
  EXPECT_EQ(one.sectors, 2 + 8);
  EXPECT_EQ(one.least_sectors, 2 + 8);
}

TEST(AccessCounts, Wavefronts) {
  SKIP_WITHOUT_EMULATOR;
  const auto shared = [](const std::string& index) {
    return Checked("__shared__ float s[2048]; s[" + index + "] = 1;").counts();
  };
  EXPECT_EQ(shared("threadIdx.x").wavefronts, 2);
  EXPECT_EQ(shared("threadIdx.x * 2").wavefronts, 4);
  EXPECT_EQ(shared("threadIdx.x * 32").wavefronts, 64);
  EXPECT_EQ(shared("threadIdx.x * 32").least_wavefronts, 2);
  EXPECT_EQ(shared("threadIdx.x * 33 % 2048").wavefronts, 2);
  const AccessCounts quads =
      Checked("__shared__ __align__(16) char s[8192]; ((float4*)s)[threadIdx.x * 2] = float4{0, 0, 0, 0};")
          .counts();
  EXPECT_EQ(quads.shared_accesses, 2);
  EXPECT_EQ(quads.least_wavefronts, 8);
  EXPECT_EQ(quads.wavefronts, 16);
}

}  // namespace
}  // namespace korch::testing
