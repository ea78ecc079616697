// What is read of machine code, and which of it is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "generate.h"
#include "korch/backend/backend.h"
#include "korch/backend/cuda/cubin.h"
#include "korch/backend/cuda/ptx_scan.h"
#include "korch/backend/spell.h"
#include "korch/base/error.h"
#include "linear_cases.h"
#include "nvrtc.h"

namespace korch::testing {
namespace {

Implementation staged_way(const Graph& graph, const Candidate& candidate) {
  for (const Implementation& way : cuda_implementations(graph, candidate))
    if (way.family == "staged") return way;
  throw Error(ErrorKind::internal, "no product in stages");
}

// What ptxas tells of each function, if nothing but spills is in its local memory.
std::map<std::string, FunctionResources> told_by_ptxas(const std::string& log) {
  static const std::regex described(R"(Function properties for (\w+))"),
      stack(R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)"),
      used(R"(Used (\d+) registers)"), shared(R"((\d+) bytes smem)");
  std::map<std::string, FunctionResources> told;
  std::istringstream lines(log);
  std::smatch match;
  std::string function;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, described)) function = match[1];
    FunctionResources& resources = told[function];
    if (std::regex_search(line, match, used)) resources.registers = std::stoi(match[1]);
    if (std::regex_search(line, match, shared)) resources.shared_bytes = std::stoi(match[1]);
    if (!std::regex_search(line, match, stack)) continue;
    resources.stack_bytes = std::stoi(match[1]);
    resources.local_store_bytes = std::stoi(match[2]);
    resources.local_load_bytes = std::stoi(match[3]);
  }
  return told;
}

// The program for so few registers that much is spilled.
std::string cramped(std::string text) {
  return std::regex_replace(text, std::regex(R"(__launch_bounds__\(256(, 2)?\))"),
                            "__launch_bounds__(256, 8)");
}

TEST(MachineCode, NeedsWhatPtxasSays) {
  if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
  std::vector<CudaKernel> kernels;
  for (const LinearCase& c : linear_cases()) {
    const Graph graph = case_graph(c.text).graph;
    const Candidate candidate = whole_candidate(graph);
    const Implementation way = staged_way(graph, candidate);
    kernels.push_back(generate_cuda(graph, candidate, way, fmt::format("k{}", kernels.size())).value());
    if (kernels.size() == 8) break;
  }
  int spilling = 0;
  for (const char* architecture : kArchitectures) {
    std::string log;
    const Result<std::string> cubin =
        Nvrtc::get().compile(cramped(as_one_program(kernels)), architecture, &log);
    ASSERT_TRUE(cubin.ok()) << cubin.refusal().detail;
    for (auto& [function, told] : told_by_ptxas(log)) {
      if (function.empty()) continue;
      FunctionResources read = cubin_resources(cubin.value(), {function}).value()[0];
      EXPECT_EQ(read.threads, 256);
      EXPECT_GT(read.instructions, 10);
      spilling += read.spills() ? 1 : 0;
      EXPECT_EQ(read.local_instructions > 0, told.local_store_bytes + told.local_load_bytes > 0);
      told.threads = read.threads;
      told.instructions = read.instructions;
      told.local_instructions = read.local_instructions;
      EXPECT_EQ(read, told) << architecture << " " << function << ": " << describe(read, cuda_device())
                            << "\n"
                            << log;
    }
  }
  EXPECT_GT(spilling, 0);
}

TEST(MachineCode, OfDamagedFilesNothingIsRead) {
  if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
  const std::string text = "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = 1; }";
  const std::string cubin = Nvrtc::get().compile(text, "sm_90").value();
  EXPECT_TRUE(cubin_resources(cubin, {"k"}).ok());
  EXPECT_FALSE(cubin_resources(cubin, {"other"}).ok());
  EXPECT_FALSE(cubin_resources("", {"k"}).ok());
  for (size_t bytes = 0; bytes < cubin.size(); bytes += 7)
    (void)cubin_resources(std::string_view(cubin).substr(0, bytes), {"k"});
  for (size_t at = 0; at < cubin.size(); at += 3) {
    std::string damaged = cubin;
    damaged[at] = static_cast<char>(~damaged[at]);
    (void)cubin_resources(damaged, {"k"});
  }
}

TEST(MachineCode, ProductsThatSpillAreRefused) {
  const Backend& backend = backend_of(cuda_device());
  if (!backend.missing().empty()) GTEST_SKIP() << backend.missing();
  const Graph graph = case_graph(R"(graph {
  input %x : f32[2048x64] "x"
  input %w : f32[64x2048] "w"
  %m = MatMul(%x, %w)
  output %m "m"
})")
                          .graph;
  const Candidate candidate = whole_candidate(graph);
  const Implementation way = staged_way(graph, candidate);
  const KernelSpec spec = propose(graph, candidate, way, cuda_device()).value();
  const Kernel kernel = spelled(spec, cuda_device());
  const auto resources_of = [&](const std::string& text) {
    return backend.resources(spec, kernel, backend.compile({text}, cuda_device())[0].value());
  };
  const Result<std::vector<FunctionResources>> fits = resources_of(kernel.source);
  ASSERT_TRUE(fits.ok()) << fits.refusal().detail;
  EXPECT_FALSE(fits.value()[0].spills());
  const Result<std::vector<FunctionResources>> spills = resources_of(std::regex_replace(
      kernel.source, std::regex(R"(__launch_bounds__\(256(, 2)?\))"), "__launch_bounds__(256, 8)"));
  ASSERT_FALSE(spills.ok());
  EXPECT_EQ(spills.refusal().reason, RefusalReason::spills) << spills.refusal().detail;
}

// in[(slice / 12) * 1260 + (p / 7) * 100 - 200 + ...] by two versions of NVRTC, cut to what matters.
constexpr const char* kRightPtx = R"(.visible .entry a(
{
	and.b32  	%r11, %r10, 255;
	cvt.u32.u16 	%r12, %rs18;
	dp2a.lo.u32.u32 	%r13, %r9, %r12, %r11;
	cvt.u64.u32 	%rd13, %r13;
	add.s64 	%rd14, %rd4, %rd13;
	ld.global.nc.f32 	%f1, [%rd16+-800];
}
)";
constexpr const char* kWrongPtx = R"(.visible .entry a(
{
	cvt.u32.u16 	%r10, %rs18;
	mov.u32 	%r11, -200;
	dp2a.lo.u32.u32 	%r12, %r9, %r10, %r11;
	cvt.u64.u32 	%rd16, %r12;
	add.s64 	%rd17, %rd15, %rd16;
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(MachineCode, IndicesExtendedWithZerosAreFound) {
  EXPECT_EQ(ptx_fault(kRightPtx), "");
  EXPECT_NE(ptx_fault(kWrongPtx).find("dp2a.lo.u32.u32 %r12"), std::string::npos) << ptx_fault(kWrongPtx);
  EXPECT_NE(ptx_fault(std::string(kRightPtx) + kWrongPtx), "");
  // Of another function, whose registers have the same names.
  EXPECT_EQ(ptx_fault(replaced(kRightPtx, "and.b32  	%r11, %r10, 255", "and.b32  	%r11, %r10, 3") +
                      "{\n	mov.u32 	%r11, -200;\n}\n"),
            "");
  // Nobody knows the sign of what is added.
  EXPECT_NE(ptx_fault(replaced(kRightPtx, "and.b32  	%r11, %r10, 255", "add.s32  	%r11, %r10, %r8")),
            "");
  // A sum of bytes that stays signed.
  EXPECT_EQ(ptx_fault(replaced(kWrongPtx, "cvt.u64.u32", "cvt.s64.s32")), "");
}

}  // namespace
}  // namespace korch::testing
