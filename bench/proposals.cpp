// How fast kernels are proposed: all kernels of a network's columns, each once, without compiling one.
//
//     build/release/bench/bench_proposals model.onnx
//
// Configure with -DKORCH_BENCH=ON. Per kernel the time to propose it (its tile graph is verified on the way),
// to print it, to verify it again and to lower it for the CPU.
#include <fmt/format.h>

#include <iostream>
#include <unordered_set>

#include "korch/base/stopwatch.h"
#include "korch/codegen/implementation.h"
#include "korch/codegen/kernel_spec.h"
#include "korch/codegen/passes/passes.h"
#include "korch/device/device.h"
#include "korch/fission/fission.h"
#include "korch/onnx/import.h"
#include "korch/rewrite/alternatives.h"
#include "korch/search/columns.h"

namespace korch {
namespace {

struct Total {
  const char* what;
  double seconds = 0;
};

template <typename F>
auto timed(Total& total, F&& work) {
  const Stopwatch watch;
  auto result = work();
  total.seconds += watch.seconds();
  return result;
}

void report(const std::string& path) {
  const Device device = detect_device("native", 1);
  const Graph primitives = add_alternatives(fission(import_onnx(path)), {}).graph;
  const Columns columns =
      build_columns(primitives, enumerate_candidates(primitives, linear_context()).candidates, device, {});
  Total proposing{"propose"}, printing{"print"}, verifying{"verify"}, lowering{"lower"};
  std::unordered_set<Hash, HashHasher> seen;
  int64_t refused = 0, bytes = 0;
  for (const ColumnInfo& info : columns.infos) {
    if (info.kind != ColumnInfo::Kind::kernel || !seen.insert(info.key).second) continue;
    const Result<KernelSpec> spec = timed(proposing, [&] {
      return propose(primitives, columns.candidates[info.candidate], info.implementation, device);
    });
    if (!spec) {
      ++refused;
      continue;
    }
    bytes += static_cast<int64_t>(timed(printing, [&] { return print(spec.value()); }).size());
    if (!spec.value().tiles) continue;
    tile::ScheduledGraph tiles = *spec.value().tiles;
    timed(verifying, [&] { return tile::structural_fault(tiles); });
    timed(lowering, [&] {
      tile::lower_for_cpu(tiles, device);
      return 0;
    });
  }
  std::cout << fmt::format("{} kernels, {} refused, {} bytes of text\n", seen.size(), refused, bytes);
  for (const Total& total : {proposing, printing, verifying, lowering})
    std::cout << fmt::format("{:8} {:8.1f} us per kernel\n", total.what,
                             total.seconds * 1e6 / static_cast<double>(std::max<size_t>(1, seen.size())));
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: bench_proposals MODEL\n";
    return 2;
  }
  korch::report(argv[1]);
}
