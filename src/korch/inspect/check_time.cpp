#include "korch/inspect/check_time.h"

#include <algorithm>
#include <atomic>

#include "korch/base/ceil_div.h"
#include "korch/base/parallel.h"
#include "korch/base/stopwatch.h"
#include "korch/base/usable_cpus.h"
#include "korch/inspect/tolerance.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/random_rounding.h"
#include "korch/interp/work.h"

namespace korch {
namespace {

// Seconds per unit of work (interp/work.h) of a small node that all processors compute again and again. For
// several turns of a scheduler: within one, what else the machine does is not felt.
double pace(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs, const TensorType& result) {
  constexpr double kTurns_s = 0.1;
  Node node;
  node.op = op;
  node.attrs = attrs;
  std::vector<HostTensor> tensors;
  for (const TensorType& type : inputs) tensors.emplace_back(type);
  std::atomic<int64_t> computed = 0;
  const Stopwatch stopwatch;
  run_in_parallel(usable_cpus(), usable_cpus(), [&](size_t) {
    do {
      evaluate_node(node, tensors, {result}, Precision::native);
      ++computed;
    } while (stopwatch.seconds() < kTurns_s);
  });
  const double seconds = usable_cpus() * stopwatch.seconds();
  return seconds / (static_cast<double>(computed) * evaluation_work(op, attrs, inputs, {result}));
}

}  // namespace

double check_seconds(const Graph& primitives) {
  constexpr int64_t kSide = 256, kLine = 1 << 17;  // milliseconds
  const TensorType matrix{DType::f32, {kSide, kSide}}, line{DType::f32, {kLine}};
  const double of_products = pace(Op::MatMul, MatMulAttrs{}, {matrix, matrix}, matrix),
               of_others = pace(Op::Exp, NoAttrs{}, {line}, line);
  double run_s = 0;
  bool chooses = false, few = false;
  for (NodeId id : needed_nodes(primitives)) {
    const Node& node = primitives.node(id);
    if (info(node.op).category == Category::constant) continue;
    chooses = chooses || is_choice(node.op);
    std::vector<TensorType> outputs;
    for (ValueId output : node.outputs) outputs.push_back(primitives.value(output).type);
    run_s += evaluation_work(node.op, node.attrs, input_types(primitives, node), outputs) *
             (info(node.op).category == Category::linear ? of_products : of_others);
  }
  for (ValueId output : primitives.outputs())
    few = few || primitives.value(output).type.elements() < Tolerance::kFewElements;
  const int64_t runs =
      (few ? Tolerance::kRunsWhenFew : Tolerance::kRuns) + (chooses ? Tolerance::kChoosingRuns : 0);
  // Beside the run in float64. Roundings are drawn, and the runs share the machine's caches.
  constexpr double kRounding = 2;
  const auto in_turn = static_cast<double>(ceil_div(runs, std::max(1, usable_cpus())));
  return run_s * (1 + kRounding * in_turn);
}

}  // namespace korch
